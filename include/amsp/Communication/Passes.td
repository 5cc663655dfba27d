//===- Passes.td - From a rank's program to a scheduled one -*- tablegen -*-===//

#ifndef AMSP_COMMUNICATION_PASSES_TD
#define AMSP_COMMUNICATION_PASSES_TD

include "mlir/Pass/PassBase.td"

// One pass per file of lib/Communication. A pass works on the per-rank program
// that amsp-partition leaves: StableHLO on tensors, with collectives of the amsp
// dialect. It handles all of them through CollectiveOpInterface.

def DecomposeCollectives : Pass<"amsp-decompose-collectives", "::mlir::ModuleOp"> {
  let summary = "Splits collectives over several levels where parts are faster";
  let description = [{
    A collective whose group spans several levels of the cluster becomes one for
    each level, or for some levels together, where that takes less time under the
    planner's model of the cluster (docs/planner.md): by at least 1 %. A
    reduce_scatter runs inside the nodes first, where links are fast, and then
    moves what is left across them; a gather goes the other way round; an
    all_reduce may scatter, reduce the pieces, and gather. The order of a group's
    digits makes this free of copies (docs/communication.md).

    Gathers have the same bits as before. A sum adds the same values in another
    order: of n values, with unit roundoff u, each order is within
    (n - 1) u (|x1| + ... + |xn|) of the exact sum to first order, so two orders
    differ by at most twice that. Maxima and minima have the same bits.

    ```mlir
    // --amsp-decompose-collectives=cluster=clusters/a100-80gb-400g.yaml
    func.func @gradient(%g: tensor<1000x3xf32>) -> tensor<94xf32> {
      %0 = amsp.reduce_scatter sum %g group = <[1:8, 8:4]>
             : tensor<1000x3xf32> -> tensor<94xf32>
      return %0 : tensor<94xf32>
    }
    ```
    becomes
    ```mlir
    func.func @gradient(%g: tensor<1000x3xf32>) -> tensor<94xf32> {
      %0 = amsp.reduce_scatter sum %g group = <[1:8]>
             : tensor<1000x3xf32> -> tensor<376xf32>
      %1 = amsp.reduce_scatter sum %0 group = <[8:4]>
             : tensor<376xf32> -> tensor<94xf32>
      return %1 : tensor<94xf32>
    }
    ```
  }];
  let options = [
    Option<"cluster", "cluster", "std::string", "\"\"",
      "the cluster's YAML file, which must give its links or measured tables">
  ];
  let statistics = [
    Statistic<"numDecomposed", "decomposed", "collectives that became several">
  ];
}

def FuseCollectives : Pass<"amsp-fuse-collectives", "::mlir::func::FuncOp"> {
  let summary = "Joins collectives of a unit that are in use together";
  let description = [{
    Collectives of one kind, group, element type and reduction become one op over
    all their tensors, which is one call of the group and copies nothing:

    - the gathers of a unit in a window, where the first of them was;
    - the reductions of a unit's gradients, where the last of them was. What
      stands between and needs a result moves behind;
    - reductions that no parameter asks for (norms, losses, counts), where the
      last of them was, if nothing but scalars has to wait for it.

    Nothing waits for another unit's use: a unit's collectives are joined up to
    where another unit's begin. Collectives of which one needs another's result
    stay apart. A fused collective has at most `bytes` on its full side, and one
    tensor if that has more; with a cluster also no more than saturate its links,
    since beyond that only the wait for the first tensor grows.

    Bits do not change: each element is combined in the order of the group's
    index, whatever else the collective moves.

    With `pack-bytes`, flat tensors of up to so many bytes are copied to one
    buffer for the collective, and their results out of it. The copies are
    counted, and a packed tensor is accounted to its unit, not to its parameter.
    The transports for CPU send one message to each peer however many tensors
    there are, so there it never pays.

    ```mlir
    func.func @layer(%a: tensor<4xf32>, %b: tensor<3xf32>, %x: tensor<8xf32>)
        -> (tensor<8xf32>, tensor<6xf32>) {
      %0 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "h.0" window = 1
             : tensor<4xf32> -> tensor<8xf32>
      %1 = stablehlo.multiply %x, %0 : tensor<8xf32>
      %2 = amsp.all_gather %b group = <[1:2]> parameter = 1 unit = "h.0" window = 1
             : tensor<3xf32> -> tensor<6xf32>
      return %1, %2 : tensor<8xf32>, tensor<6xf32>
    }
    ```
    becomes
    ```mlir
    func.func @layer(%a: tensor<4xf32>, %b: tensor<3xf32>, %x: tensor<8xf32>)
        -> (tensor<8xf32>, tensor<6xf32>) {
      %0:2 = amsp.all_gather %a, %b group = <[1:2]> parameter = [0, 1] unit = "h.0"
               window = 1
               : tensor<4xf32>, tensor<3xf32> -> tensor<8xf32>, tensor<6xf32>
      %1 = stablehlo.multiply %x, %0#0 : tensor<8xf32>
      return %1, %0#1 : tensor<8xf32>, tensor<6xf32>
    }
    ```
  }];
  let options = [
    Option<"maxBytes", "bytes", "int64_t", "1000000000000000000",
      "bytes that a fused collective has on its full side at most">,
    Option<"packBytes", "pack-bytes", "int64_t", "0",
      "tensors of up to so many bytes are packed into one buffer">,
    Option<"cluster", "cluster", "std::string", "\"\"",
      "the cluster's YAML file, whose links limit the bytes too">
  ];
  let statistics = [
    Statistic<"numFused", "fused", "collectives that became part of another">,
    Statistic<"packedBytes", "packed-bytes", "bytes copied for packed buffers">
  ];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

def QuantizeGathers : Pass<"amsp-quantize-gathers", "::mlir::func::FuncOp"> {
  let summary = "Sends parameters as int8 with a scale for each block";
  let description = [{
    On request only: it changes results. A gather of a parameter's flat pieces
    becomes a gather of int8 codes and one of f32 scales. A piece has as few blocks
    of at most `block` elements as it can, equal in size but for the last; each has
    a scale, its largest magnitude / 127. Codes are rounded to nearest, so an element is off by at most

        largest magnitude in its block / 254

    and a few roundings of f32, for each gather on its way: one, or two where a
    rank keeps pieces of P that are larger than those at rest. This is ZeRO++'s
    qwZ (arXiv 2306.10209). Padding is masked first. A block with a NaN or an
    infinity becomes NaN.

    ```mlir
    // --pass-pipeline='builtin.module(func.func(amsp-quantize-gathers{block=4}))'
    func.func @main(%w: tensor<4xf32> {
          amsp.placement = #amsp.placement<flat, 0, [1:2]>,
          amsp.global_type = tensor<2x4xf32>}) -> tensor<2x4xf32> {
      %0 = amsp.all_gather %w group = <[1:2]> parameter = 0
             : tensor<4xf32> -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%arg0: tensor<4xf32> {amsp.global_type = tensor<2x4xf32>,
          amsp.placement = #amsp.placement<flat, 0, [1:2]>}) -> tensor<2x4xf32> {
      %0 = stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<1x4xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
      %2 = stablehlo.abs %1 : tensor<1x1x4xf32>
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.maximum across dimensions = [2]
             : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1xf32>
      %c127s = stablehlo.constant dense<1.270000e+02> : tensor<1x1xf32>
      %4 = stablehlo.divide %3, %c127s : tensor<1x1xf32>
      %zeros = stablehlo.constant dense<0.000000e+00> : tensor<1x1xf32>
      %5 = stablehlo.compare EQ, %4, %zeros
             : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xi1>
      %ones = stablehlo.constant dense<1.000000e+00> : tensor<1x1xf32>
      %6 = stablehlo.select %5, %ones, %4 : tensor<1x1xi1>, tensor<1x1xf32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1]
             : (tensor<1x1xf32>) -> tensor<1x1x4xf32>
      %8 = stablehlo.divide %1, %7 : tensor<1x1x4xf32>
      %9 = stablehlo.round_nearest_even %8 : tensor<1x1x4xf32>
      %min = stablehlo.constant dense<-1.270000e+02> : tensor<f32>
      %max = stablehlo.constant dense<1.270000e+02> : tensor<f32>
      %10 = stablehlo.clamp %min, %9, %max
             : (tensor<f32>, tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
      %11 = stablehlo.compare EQ, %10, %10
             : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4xi1>
      %zero_codes = stablehlo.constant dense<0.000000e+00> : tensor<1x1x4xf32>
      %12 = stablehlo.select %11, %10, %zero_codes : tensor<1x1x4xi1>, tensor<1x1x4xf32>
      %13 = stablehlo.convert %12 : (tensor<1x1x4xf32>) -> tensor<1x1x4xi8>
      %14 = stablehlo.reshape %13 : (tensor<1x1x4xi8>) -> tensor<1x4xi8>
      %15 = stablehlo.reshape %14 : (tensor<1x4xi8>) -> tensor<4xi8>
      %16 = amsp.all_gather %15 group = <[1:2]> parameter = 0
             : tensor<4xi8> -> tensor<2x4xi8>
      %17 = stablehlo.reshape %4 : (tensor<1x1xf32>) -> tensor<1xf32>
      %18 = amsp.all_gather %17 group = <[1:2]> parameter = 0
             : tensor<1xf32> -> tensor<2x1xf32>
      %19 = stablehlo.reshape %16 : (tensor<2x4xi8>) -> tensor<2x1x4xi8>
      %20 = stablehlo.convert %19 : (tensor<2x1x4xi8>) -> tensor<2x1x4xf32>
      %21 = stablehlo.broadcast_in_dim %18, dims = [0, 1]
             : (tensor<2x1xf32>) -> tensor<2x1x4xf32>
      %22 = stablehlo.multiply %20, %21 : tensor<2x1x4xf32>
      %23 = stablehlo.reshape %22 : (tensor<2x1x4xf32>) -> tensor<2x4xf32>
      %24 = stablehlo.reshape %23 : (tensor<2x4xf32>) -> tensor<8xf32>
      %25 = stablehlo.reshape %24 : (tensor<8xf32>) -> tensor<2x4xf32>
      return %25 : tensor<2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"block", "block", "int64_t", "256", "elements that share a scale at most">,
    Option<"minBytes", "min-bytes", "int64_t", "0",
      "smaller tensors travel as they are">
  ];
  let statistics = [
    Statistic<"numQuantized", "quantized", "gathers of codes and scales">
  ];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

#endif // AMSP_COMMUNICATION_PASSES_TD
