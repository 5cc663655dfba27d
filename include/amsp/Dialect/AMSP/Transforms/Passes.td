//===- Passes.td - Passes that partition a training step ---*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_TRANSFORMS_PASSES_TD
#define AMSP_DIALECT_AMSP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"amsp-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Replaces calls by the bodies of their callees";
  let description = [{
    All calls go but those of functions without a body, of more than one block, or
    that call themselves. Takes time in proportion to the ops that it makes, where
    upstream's inliner moves all that is behind a call for each of them; it does not
    simplify, and leaves the callees to `symbol-dce`.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numInlined", "num-inlined", "Calls that were replaced">
  ];
}

def VerifyStep : Pass<"amsp-verify-step", "::mlir::ModuleOp"> {
  let summary = "Checks that a training step is one that can be partitioned";
  let description = [{
    Later passes rely on what is checked here, once and before anything else
    happens: one public function, of one block, whose arguments and results are
    tensors of static shape and of types that a buffer may have. All its ops are
    ops of StableHLO on one device: neither collectives, nor calls that inlining
    left, nor custom calls, nor complex numbers, nor floats of 8 bits or fewer,
    nor ops of other dialects. Meshes and shardings over one
    device are dropped; nothing else changes.
  }];
}

def HoistLoopInvariants : Pass<"amsp-hoist-loop-invariants", "::mlir::func::FuncOp"> {
  let summary = "Takes values that a loop hands on unchanged out of its carries";
  let description = [{
    JAX passes everything that a scan's body reads, all parameters among it, as
    carries. Later passes want to see that such a value is the same in every
    iteration: the loop's regions capture it instead.

    ```mlir
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
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
      cond {
        %1 = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.multiply %y, %weights : tensor<4xf32>
        %2 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %2, %1 : tensor<i32>, tensor<4xf32>
      }
      return %0#1 : tensor<4xf32>
    }
    ```
  }];
  let statistics = [Statistic<"numHoisted", "hoisted", "carries removed">];
}

def AnnotateRoles : Pass<"amsp-annotate-roles", "::mlir::ModuleOp"> {
  let summary = "Finds what each argument and result of a training step is for";
  let description = [{
    Puts `amsp.role` on the arguments and results of the public function:

    - An argument is *state* if a result aliases it (`tf.aliasing_output`, which
      exporting with donated arguments writes); the two are paired by
      `amsp.result` and `amsp.argument`. In a step without aliases, state is
      found from structure, with a remark: arguments and results of equal type,
      in order, where the result is computed from the argument.
    - The *batch* are the arguments named by `batch-args`, or all arguments that
      are not state and have dimensions, if they share their leading one.
    - State is a *param* if the computation over the batch's rows reads it, an
      *opt_state* if it is updated elementwise together with a parameter of as
      many elements, or of its shape, with transposes between, else just
      *state*.
    - A float argument that is neither state nor batch, has dimensions, and is
      read by the batch's rows is a frozen *param*.
    - What remains is *constant*.

    Parameters and optimizer states get their `amsp.unit`: the part of the
    model, named after the argument's path, whose strategy they follow.

    ```mlir
    func.func @main(
        %w: tensor<13x31xf32> {tf.aliasing_output = 0 : i32} loc("params[0]['w']"),
        %x: tensor<24x13xf32> loc("x")) -> (tensor<13x31xf32>, tensor<24x31xf32>) {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
             : (tensor<24x13xf32>, tensor<13x31xf32>) -> tensor<24x31xf32>
      return %w, %0 : tensor<13x31xf32>, tensor<24x31xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(
        %w: tensor<13x31xf32> {amsp.name = "params[0]['w']", amsp.result = 0 : i64,
                               amsp.role = #amsp.role<param>, amsp.unit = "0"},
        %x: tensor<24x13xf32> {amsp.name = "x", amsp.role = #amsp.role<batch>})
        -> (tensor<13x31xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>},
            tensor<24x31xf32> {amsp.role = #amsp.role<output>}) {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
             : (tensor<24x13xf32>, tensor<13x31xf32>) -> tensor<24x31xf32>
      return %w, %0 : tensor<13x31xf32>, tensor<24x31xf32>
    }
    ```
  }];
  let options = [
    ListOption<"batchArgs", "batch-args", "std::string",
      "arguments cut along dimension 0, by name or index">,
    ListOption<"stateArgs", "state-args", "std::string",
      "ARGUMENT=RESULT: arguments whose new values are results, instead of the "
      "aliased ones">,
    ListOption<"roles", "roles", "std::string",
      "ARGUMENT=ROLE, where the role that is found is not meant: param, "
      "opt_state, state, constant">,
    Option<"stateOf", "state-of", "std::string", "\"\"",
      "the compiled training step, or its manifest, whose state this step takes "
      "(evaluation) or makes (initialisation)">
  ];
  let dependentDialects = ["::amsp::AMSPDialect"];
}

def RecomputeUnits : Pass<"amsp-recompute-units", "::mlir::func::FuncOp"> {
  let summary = "Computes forward values of a unit again where backward needs them";
  let description = [{
    The forward pass of a unit are the ops from the first use of one of its
    parameters to the first use of the next unit's. Of the values that they
    make, those that the forward pass of later units reads are kept, as is what
    comes from before. The others, as far as ops behind the forward pass read
    them, are computed again before the first of these. So they are not alive in
    between, for a second forward pass of the unit.

    An `optimization_barrier` around what the copy starts from keeps the two from
    being joined. Parameters do not pass through it: each use is a gather.

    The step must be imported: arguments have roles and units. The last unit has
    nothing behind it that tells its end; neither has a unit whose layers are a
    stack, as they are in one loop. Naming one of these is an error.

    ```mlir
    func.func @step(
        %a: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
        %b: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "b"},
        %x: tensor<4x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4x4xf32> {
      %0 = stablehlo.multiply %x, %a : tensor<4x4xf32>
      %1 = stablehlo.tanh %0 : tensor<4x4xf32>
      %2 = stablehlo.sine %1 : tensor<4x4xf32>
      %3 = stablehlo.multiply %2, %b : tensor<4x4xf32>
      %4 = stablehlo.multiply %3, %1 : tensor<4x4xf32>
      return %4 : tensor<4x4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(
        %a: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
        %b: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "b"},
        %x: tensor<4x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4x4xf32> {
      %0 = stablehlo.multiply %x, %a : tensor<4x4xf32>
      %1 = stablehlo.tanh %0 : tensor<4x4xf32>
      %2 = stablehlo.sine %1 : tensor<4x4xf32>
      %3 = stablehlo.multiply %2, %b : tensor<4x4xf32>
      %4 = stablehlo.optimization_barrier %x : tensor<4x4xf32>
      %5 = stablehlo.multiply %4, %a : tensor<4x4xf32>
      %6 = stablehlo.tanh %5 : tensor<4x4xf32>
      %7 = stablehlo.multiply %3, %6 : tensor<4x4xf32>
      return %7 : tensor<4x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
  let options = [
    ListOption<"units", "units", "std::string",
               "the units' names; all that can be, if there are none">
  ];
  let statistics = [
    Statistic<"numUnits", "units", "units computed again">,
    Statistic<"numValues", "values", "values that backward computes again">
  ];
}

def SplitMicrobatches : Pass<"amsp-split-microbatches", "::mlir::func::FuncOp"> {
  let summary = "Makes a loop over parts of the batch that adds up gradients";
  let description = [{
    The loss of the step, its gradients, and whatever else depends on rows of the
    batch must be proved to be sums over the rows (means with a constant divisor
    are), or rows themselves. Then forward and backward become the body of a loop
    over `count` microbatches, which adds the sums up from zeros, those of 16-bit
    values in f32; what follows from the sums, the optimizer, comes once, behind
    the loop.

    The proof is that of data parallelism: the step is partitioned for `count`
    ranks with nothing but the batch cut, and the loop's counter takes the place
    of the rank. An op that needs a sum over all rows beside rows (batch norm, a
    count of unmasked tokens as divisor), a maximum over rows, or rows of other
    microbatches (in-batch negatives) is an error that names it.

    A microbatch has every `count`-th row, so that the rows of each rank stay its
    own. Where an op joins neighbouring rows, it has a block of rows.

    The step must be imported: arguments have roles.

    ```mlir
    // --amsp-split-microbatches=count=2
    func.func @step(
        %w: tensor<4xf32> {amsp.role = #amsp.role<param>, amsp.result = 0 : i64},
        %x: tensor<8x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
             : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      %1 = stablehlo.subtract %w, %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%arg0: tensor<4xf32> {amsp.result = 0 : i64, amsp.role = #amsp.role<param>}, %arg1: tensor<8x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
      %0 = stablehlo.reshape %arg1 : (tensor<8x4xf32>) -> tensor<4x2x4xf32>
      %1:2 = stablehlo.while(%iterArg = %c, %iterArg_1 = %cst) : tensor<i32>, tensor<4xf32>
      cond {
        %c_2 = stablehlo.constant dense<2> : tensor<i32>
        %3 = stablehlo.compare LT, %iterArg, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %3 : tensor<i1>
      } do {
        %c_2 = stablehlo.constant dense<0> : tensor<i32>
        %3 = stablehlo.dynamic_slice %0, %c_2, %iterArg, %c_2, sizes = [4, 1, 4] : (tensor<4x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1x4xf32>
        %4 = stablehlo.reshape %3 : (tensor<4x1x4xf32>) -> tensor<4x4xf32>
        %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %5 = stablehlo.reduce(%4 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
        %6 = stablehlo.add %iterArg_1, %5 : tensor<4xf32>
        %c_4 = stablehlo.constant dense<1> : tensor<i32>
        %7 = stablehlo.add %iterArg, %c_4 : tensor<i32>
        stablehlo.return %7, %6 : tensor<i32>, tensor<4xf32>
      }
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.subtract %arg0, %1#1 : tensor<4xf32>
      return %2 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::amsp::AMSPDialect", "::amsp::stablehlo::StableHLODialect"
  ];
  let options = [
    Option<"count", "count", "int64_t", "1", "microbatches of a step">
  ];
  let statistics = [
    Statistic<"numMicrobatches", "microbatches", "microbatches of the step">
  ];
}

def PropagatePlacements : Pass<"amsp-propagate-placements", "::mlir::ModuleOp"> {
  let summary = "Writes the placement of every value onto its op, for reading";
  let description = [{
    Runs the analysis that `amsp-insert-collectives` uses and puts its result on
    the ops, as text: `amsp.made` is the placement in which the op makes each of
    its results, `amsp.completed` that in which uses find a partial value which
    is completed right after the op. Changes nothing else.

    ```mlir
    %2 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0]
           {amsp.made = ["partial(sum, batch)"], amsp.completed = ["flat(os)"]} ...
    ```
  }];
  let options = [
    Option<"world", "world", "int64_t", "1", "ranks over which the batch is cut">
  ];
}

def InsertCollectives : Pass<"amsp-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "Turns a step for the global batch into the program of one rank";
  let description = [{
    Chooses a placement for every value, from the strategy's placements of the
    states; then rewrites the step with local types. Each difference between the
    placement in which a value is made and the one in which it is used becomes
    collectives and local slices (see docs/placements.md). A parameter's gather,
    with the chain of shape changes and converts after it, is cloned to the uses,
    so that no full-size copy outlives them. An op without a rule runs on
    gathered operands, with a remark that gives the bytes.

    ```mlir
    // --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=zero3'
    func.func @main(%w: tensor<13x31xf32> {tf.aliasing_output = 0 : i32},
                    %x: tensor<24x13xf32>) -> (tensor<13x31xf32>, tensor<24x31xf32>) {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
             : (tensor<24x13xf32>, tensor<13x31xf32>) -> tensor<24x31xf32>
      return %w, %0 : tensor<13x31xf32>, tensor<24x31xf32>
    }
    ```
    becomes
    ```mlir
    #flat = #amsp.placement<flat, 0, [1:4]>
    #rows = #amsp.placement<split, 0, [1:4]>
    module attributes {amsp.levels = array<i64: 4>, amsp.strategy = {
        g = array<i64: 4>, os = array<i64: 4>, p = array<i64: 4>}} {
      func.func @main(
          %w: tensor<101xf32> {
            amsp.global_type = tensor<13x31xf32>, amsp.placement = #flat,
            amsp.result = 0 : i64, amsp.role = #amsp.role<param>, amsp.unit = "arg0"},
          %x: tensor<6x13xf32> {
            amsp.global_type = tensor<24x13xf32>, amsp.placement = #rows,
            amsp.role = #amsp.role<batch>})
          -> (tensor<101xf32> {
                amsp.argument = 0 : i64, amsp.global_type = tensor<13x31xf32>,
                amsp.placement = #flat, amsp.role = #amsp.role<param>},
              tensor<6x31xf32> {
                amsp.global_type = tensor<24x31xf32>, amsp.placement = #rows,
                amsp.role = #amsp.role<output>}) {
        %0 = amsp.all_gather %w group = <[1:4]> parameter = 0 unit = "arg0" window = 1
               : tensor<101xf32> -> tensor<13x31xf32>
        %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]
               : (tensor<6x13xf32>, tensor<13x31xf32>) -> tensor<6x31xf32>
        return %w, %1 : tensor<101xf32>, tensor<6x31xf32>
      }
    }
    ```
  }];
  let options = [
    ListOption<"levels", "levels", "int64_t", "sizes of the cluster's levels, innermost first">,
    Option<"strategy", "strategy", "std::string", "\"\"",
      "a preset or p=F,g=F,os=F (docs/formats.md)">,
    Option<"reduceType", "reduce-type", "std::string", "\"f32\"",
      "type of reductions: f32 (16-bit sums in f32), bf16 (gradients in bf16), "
      "graph (each in its own)">
  ];
  let statistics = [
    Statistic<"numGathered", "gathered-fallbacks", "operands gathered for want of a rule">,
    Statistic<"numVisits", "visits", "of ops by the analysis of placements, in proportion to the step">
  ];
  let dependentDialects = ["::amsp::AMSPDialect", "::amsp::stablehlo::StableHLODialect"];
}

def SimplifyCollectives : Pass<"amsp-simplify-collectives", "::mlir::func::FuncOp"> {
  let summary = "Replaces collectives by fewer and smaller ones with the same result";
  let description = [{
    What the conversion of one value by itself cannot see:

    - an all_reduce of which each rank only takes its piece is a reduce_scatter,
      and an all_reduce of the pieces over the digits that are left;
    - a value that is scattered, perhaps reduced over other digits, and gathered
      again is reduced on all ranks at once: as many bytes, fewer collectives.
      Where the two are faster, `amsp-decompose-collectives` takes them again;
    - floating-point values that widen before a gather, a maximum or a minimum do
      so behind it, and those that are only read narrower than they are gathered
      narrow before it: less on the wire, the same bits. The type of a sum is not
      touched: `--reduce-type` has chosen it;
    - an all_reduce lists its ranks in one way, so that equal groups are equal;
    - over one rank there is nothing to do, and what nobody reads is not moved.

    Sums may add in another order (see `amsp-decompose-collectives`).

    ```mlir
    func.func @step(%g: tensor<4xf32>, %m: tensor<2xf32>, %w: tensor<3xbf16>)
        -> (tensor<2xf32>, tensor<6xf32>) {
      %0 = amsp.all_reduce sum %g group = <[1:2, 2:2]> : tensor<4xf32>
      %1 = amsp.local_slice %0 group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
      %2 = stablehlo.add %m, %1 : tensor<2xf32>
      %3 = stablehlo.convert %w : (tensor<3xbf16>) -> tensor<3xf32>
      %4 = amsp.all_gather %3 group = <[1:2]> : tensor<3xf32> -> tensor<6xf32>
      return %2, %4 : tensor<2xf32>, tensor<6xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%g: tensor<4xf32>, %m: tensor<2xf32>, %w: tensor<3xbf16>)
        -> (tensor<2xf32>, tensor<6xf32>) {
      %0 = amsp.reduce_scatter sum %g group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
      %1 = amsp.all_reduce sum %0 group = <[2:2]> : tensor<2xf32>
      %2 = stablehlo.add %m, %1 : tensor<2xf32>
      %3 = amsp.all_gather %w group = <[1:2]> : tensor<3xbf16> -> tensor<6xbf16>
      %4 = stablehlo.convert %3 : (tensor<6xbf16>) -> tensor<6xf32>
      return %2, %4 : tensor<2xf32>, tensor<6xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numScattered", "scattered", "all_reduces that became reduce_scatters">,
    Statistic<"numReduced", "reduced",
      "values no longer scattered and gathered again">,
    Statistic<"numNarrowed", "narrowed", "collectives of a narrower type">
  ];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

def LowerLocalOps : Pass<"amsp-lower-local-ops", "::mlir::func::FuncOp"> {
  let summary = "Writes local slices and masks in terms of the rank's group index";
  let description = [{
    `amsp.local_slice`, `amsp.mask_padding` and `amsp.keep_on_first` become
    StableHLO ops on `amsp.group_index`, for every target.

    ```mlir
    func.func @add_once(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = amsp.keep_on_first %x group = <[1:4]> : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @add_once(%x: tensor<8xf32>) -> tensor<8xf32> {
      %i = amsp.group_index group = <[1:4]> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %p = stablehlo.compare EQ, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %zeros = stablehlo.constant dense<0.0> : tensor<8xf32>
      %0 = stablehlo.select %p, %x, %zeros : tensor<i1>, tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

def CollectivesToStableHLO : Pass<"amsp-collectives-to-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Writes the collectives of a rank's program as StableHLO's";
  let description = [{
    For emission: the result is plain StableHLO for as many replicas as the
    cluster has ranks, which any StableHLO compiler runs. Groups become lists of
    ranks, in the order of the members' indices; padding becomes explicit. The
    project's attributes go.

    ```mlir
    module attributes {amsp.levels = array<i64: 2>} {
      func.func @main(%w: tensor<3xf32>) -> tensor<5xf32> {
        %0 = amsp.all_gather %w group = <[1:2]> : tensor<3xf32> -> tensor<5xf32>
        return %0 : tensor<5xf32>
      }
    }
    ```
    becomes
    ```mlir
    module attributes {mhlo.num_replicas = 2 : i32} {
      func.func @main(%w: tensor<3xf32>) -> tensor<5xf32> {
        %0 = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64,
               replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
               : (tensor<3xf32>) -> tensor<6xf32>
        %1 = stablehlo.slice %0 [0:5] : (tensor<6xf32>) -> tensor<5xf32>
        return %1 : tensor<5xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

def RecognizeAttention : Pass<"amsp-recognize-attention", "::mlir::ModuleOp"> {
  let summary = "Attention, forward and backward, becomes one op each";
  let description = [{
    Finds `softmax(scale q k^T + bias) v`, with dropout on the softmax or without,
    and its gradients, and writes them as
    `amsp.attention` and `amsp.attention_backward`. The backward op computes the
    probabilities again from the maximum and the sum of each row, so that of the
    queries times keys times heads numbers nothing is kept.

    Each contraction is taken for the scores of an attention, and what is computed
    from them is followed: the dimensions, whatever the order in which they come,
    and each value as a sum of products of probabilities `p`, their gradient `dp`,
    and the rows' sums. What comes before the contractions that give the
    gradients of q and k is compared with `scale p (dp - rowsum(p dp))`, what is
    summed to the gradient of a bias with that of scale 1. So it does
    not matter how the softmax or its derivative are written; they are proved
    equal but for rounding. Where any other op reads one of the values on the way, nothing
    changes, and a remark says which and how many bytes the probabilities take.
    A scan that saves the softmax for that of its backward pass no longer does: it
    is computed there again.

    ```mlir
    func.func @attend(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2]
             : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
      %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2]
             : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
      %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
      %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
      %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2]
             : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
      %7 = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
      %8 = stablehlo.dot_general %7, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1]
             : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
      return %8 : tensor<3x8x16xf32>
    }
    ```
    becomes
    ```mlir
    func.func @attend(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
      %result, %max, %sum = amsp.attention %q, %k, %v scale = 1.000000e+00
          : (tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x16xf32>)
          -> (tensor<3x8x16xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
      return %result : tensor<3x8x16xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numForward", "attention", "attentions recognised">,
    Statistic<"numBackward", "attention-backward", "their gradients recognised">,
    Statistic<"numMissed", "missed", "softmaxes of contractions left alone">
  ];
  let dependentDialects = ["::amsp::AMSPDialect",
                           "::amsp::stablehlo::StableHLODialect"];
}

def ExpandAttention : Pass<"amsp-expand-attention", "::mlir::ModuleOp"> {
  let summary = "Attention becomes contractions, over blocks of queries";
  let description = [{
    Writes `amsp.attention` and `amsp.attention_backward` as StableHLO. With
    `block-bytes`, a loop goes over blocks of queries, so many that the scores
    of a block, over all leading dimensions and heads, take no more bytes than
    that, but at least 16. Rows that are left make a smaller block behind
    the loop. Gradients of keys and values add up over the blocks. Without
    `block-bytes` all queries are one block.
  }];
  let options = [
    Option<"blockBytes", "block-bytes", "int64_t", "0",
      "bytes that the scores of a block may take; 0: no limit">
  ];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

#endif // AMSP_DIALECT_AMSP_TRANSFORMS_PASSES_TD
