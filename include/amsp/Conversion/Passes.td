//===- Passes.td - Passes that convert between dialects ----*- tablegen -*-===//

#ifndef AMSP_CONVERSION_PASSES_TD
#define AMSP_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertStableHLOControlFlow
    : Pass<"amsp-convert-stablehlo-control-flow", "::mlir::ModuleOp"> {
  let summary = "Converts loops and branches of StableHLO to scf";
  let description = [{
    A `while` that counts a carry up by one to a limit, as `jax.lax.scan` and
    `fori_loop` emit it, becomes an `scf.for`; carries that the body hands on
    unchanged are captured instead. Any other `while` becomes an `scf.while`,
    `if` an `scf.if`, `case` an `scf.index_switch` whose default is the last
    branch. Types stay as they are.

    ```mlir
    // --amsp-convert-stablehlo-control-flow --canonicalize
    func.func @scan(%x: tensor<4xf32>, %weights: tensor<4xf32>) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %0:3 = stablehlo.while(%i = %zero, %y = %x, %w = %weights)
          : tensor<i32>, tensor<4xf32>, tensor<4xf32>
      cond {
        %1 = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.multiply %y, %w : tensor<4xf32>
        %2 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %2, %1, %w : tensor<i32>, tensor<4xf32>, tensor<4xf32>
      }
      return %0#1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @scan(%x: tensor<4xf32>, %weights: tensor<4xf32>) -> tensor<4xf32> {
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c10 = arith.constant 10 : index
      %0 = scf.for %i = %c0 to %c10 step %c1 iter_args(%y = %x) -> (tensor<4xf32>) {
        %1 = stablehlo.multiply %y, %weights : tensor<4xf32>
        scf.yield %1 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numCountedLoops", "counted-loops", "Loops converted to scf.for">,
    Statistic<"numOtherLoops", "other-loops", "Loops converted to scf.while">];
}

def ConvertStableHLOToLinalg
    : Pass<"amsp-convert-stablehlo-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Converts StableHLO to linalg, tensor and scf on tensors";
  let description = [{
    Every op with static shapes gets the form that fuses best:

    | StableHLO | becomes |
    |---|---|
    | elementwise, iota, broadcast_in_dim, gather, reverse | `linalg.generic` with parallel loops |
    | constant | `arith.constant`, a splat also when broadcast |
    | reduce | `linalg.generic` whose loops keep the operand's order |
    | reduce_window | `linalg.generic` that reads the padded operand in windows |
    | select_and_scatter | the same for the selected positions, then a scatter |
    | convolution | `linalg.generic` that gathers the windows, then as dot_general |
    | dot_general | `linalg.contract` into zeros; 16-bit floats sum in f32 |
    | transpose | `linalg.transpose` |
    | reshape | `tensor.collapse_shape`, `tensor.expand_shape` |
    | slice, dynamic_slice | `tensor.extract_slice` |
    | concatenate, pad, dynamic_update_slice | `tensor.insert_slice` |
    | scatter | `scf.for` over the windows, in order |
    | sort | `scf.for` that merge runs of doubling length |
    | rng_bit_generator | Threefry or Philox as elementwise ops |
    | optimization_barrier | its operands |

    Tensors of unsigned integers become signless; the payload keeps the sign's
    meaning. Corner cases are XLA's: conversions saturate, integer division by
    zero does not trap, windows of a scatter outside the operand are left out.
    Ops of the amsp dialect stay. Control flow has to be converted before, calls
    to be inlined. What has no form here is an error at the op.

    ```mlir
    func.func @bias(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
      %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
      %1 = stablehlo.add %x, %0 : tensor<2x3xf32>
      return %1 : tensor<2x3xf32>
    }
    ```
    becomes
    ```mlir
    #row = affine_map<(d0, d1) -> (d1)>
    #all = affine_map<(d0, d1) -> (d0, d1)>
    func.func @bias(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
      %0 = tensor.empty() : tensor<2x3xf32>
      %1 = linalg.generic {indexing_maps = [#row, #all],
                           iterator_types = ["parallel", "parallel"]}
          ins(%b : tensor<3xf32>) outs(%0 : tensor<2x3xf32>) {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32
      } -> tensor<2x3xf32>
      %2 = tensor.empty() : tensor<2x3xf32>
      %3 = linalg.generic {indexing_maps = [#all, #all, #all],
                           iterator_types = ["parallel", "parallel"]}
          ins(%x, %1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%2 : tensor<2x3xf32>) {
        ^bb0(%lhs: f32, %rhs: f32, %out: f32):
          %4 = arith.addf %lhs, %rhs : f32
          linalg.yield %4 : f32
      } -> tensor<2x3xf32>
      return %3 : tensor<2x3xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect"];
}

def FoldTransposesIntoContractions
    : Pass<"amsp-fold-transposes-into-contractions", "::mlir::ModuleOp"> {
  let summary = "Folds transposes of operands and results into linalg.contract";
  let description = [{
    BLAS reads and writes transposed matrices and strided batches, so a
    `linalg.transpose` beside a `linalg.contract` is a matter of its indexing
    maps. Not where the innermost dimension would become a batch dimension:
    then no row or column of a matrix is contiguous.

    ```mlir
    %0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, ...,
                                          affine_map<(m, n, k) -> (m, n)>] ...
    %1 = linalg.transpose ins(%0 : tensor<5x7xf32>) outs(%2 : tensor<7x5xf32>)
           permutation = [1, 0]
    ```
    becomes
    ```mlir
    %0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, ...,
                                          affine_map<(m, n, k) -> (n, m)>] ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"amsp-fuse-elementwise", "::mlir::ModuleOp"> {
  let summary = "Fuses elementwise work into few loop nests";
  let description = [{
    In this order:
    1. dimensions of size 1 disappear; what is left of transposes becomes
       `linalg.generic`;
    2. upstream's elementwise fusion, where the producer has one user or costs
       less to compute again than to store (no exponentials, no gathers, no
       second full-size input); constants move into the bodies;
    3. producers with more users are computed together with one that visits the
       same points, in one op with several results (`multi-result`): the update
       of a parameter and of its moments reads and writes each of them once;
    4. adjacent loops that all operands walk contiguously become one
       (`collapse`);
    5. constants that are left as operands of other ops become `linalg.fill`,
       and each user of a fill or of `tensor.empty` gets one of its own (so no
       CSE should follow).

    Nothing is fused into contractions. Results of a fused op are written in the
    order of its loops, so that a donated argument can be updated in place.

    ```mlir
    %0 = linalg.generic ... ins(%m, %g)          // b1 m + (1 - b1) g
    %1 = linalg.generic ... ins(%p, %0, %lr)     // p - lr %0
    return %0, %1
    ```
    becomes
    ```mlir
    %0:2 = linalg.generic ... ins(%m, %g, %p, %lr) -> (tensor<..>, tensor<..>)
    return %0#0, %0#1
    ```
  }];
  let options = [
    Option<"multiResult", "multi-result", "bool", "true",
           "Make ops with several results where that saves a pass over memory">,
    Option<"collapse", "collapse", "bool", "true",
           "Merge loops over contiguous dimensions">];
  let statistics = [
    Statistic<"numMultiResult", "multi-result-fusions",
              "Producers computed together with a user">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ExpandMath : Pass<"amsp-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands the math functions that no vector library offers";
  let description = [{
    Loops over math functions are vectorised by LLVM, which replaces `exp`,
    `log`, `pow`, `sin`, `cos` and `tan` by calls to glibc's libmvec: these stay
    as they are, and the code generator has to select that library
    (`TargetLibraryInfoImpl`, `LIBMVEC`). LLVM maps nothing else to it on x86,
    so in f32

    - `tanh`, `erf` and `erfc` become rational functions,
    - `expm1` and `log1p` become expressions of `exp` and `log`,
    - `rsqrt` becomes 1 / sqrt in every type, as no instruction is exact enough.

    In f64 they stay calls to libm, one element at a time. Errors against f64
    on a grid are tested to stay within a few ulp.

    ```mlir
    func.func @rsqrt(%x: f32) -> f32 {
      %0 = math.rsqrt %x : f32
      return %0 : f32
    }
    ```
    becomes
    ```mlir
    func.func @rsqrt(%x: f32) -> f32 {
      %one = arith.constant 1.0 : f32
      %0 = math.sqrt %x : f32
      %1 = arith.divf %one, %0 : f32
      return %1 : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // AMSP_CONVERSION_PASSES_TD
