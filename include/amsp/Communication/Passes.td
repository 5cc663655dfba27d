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

    With `together`, collectives that amsp-fuse-collectives will join are
    decided together, as the one that they become: a small one that would stay
    whole by itself goes with the others, where it costs no latency of its own.

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
      "the cluster's YAML file, which must give its links or measured tables">,
    Option<"together", "together", "bool", "false",
      "decide alike, by all their bytes, for what amsp-fuse-collectives joins">
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
    since beyond that only the wait for the first tensor grows. A unit that the
    first contraction of a block needs, or whose gradients the last one makes, has
    nothing to hide behind but itself: there a collective has about a quarter of
    the unit, but 1 MiB at least, and enough for 90 % of the links' rate. Without
    `split-ends` it has what it has elsewhere.

    Bits do not change: each element is combined in the order of the group's
    index, whatever else the collective moves.

    With `pack-bytes`, flat tensors of up to so many bytes are copied to one
    buffer for the collective, and their results out of it. Without it they are
    where the cluster says what each tensor of a collective costs
    (`tensor_overhead`) and the copies take less time. The copies are counted, and
    a packed tensor is accounted to its unit, not to its parameter.

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
    Option<"splitEnds", "split-ends", "bool", "true",
      "smaller collectives where a block has nothing to hide a unit behind">,
    Option<"packBytes", "pack-bytes", "int64_t", "-1",
      "tensors of up to so many bytes are packed into one buffer; -1: where the "
      "cluster's tensor_overhead makes copies faster">,
    Option<"cluster", "cluster", "std::string", "\"\"",
      "the cluster's YAML file, whose links limit the bytes too">
  ];
  let statistics = [
    Statistic<"numFused", "fused", "collectives that became part of another">,
    Statistic<"packedBytes", "packed-bytes", "bytes copied for packed buffers">
  ];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

def PeelMicrobatches : Pass<"amsp-peel-microbatches", "::mlir::func::FuncOp"> {
  let summary = "Takes the first and the last microbatch out of their loop";
  let description = [{
    What happens once a step stands before and behind a loop over microbatches: the
    gathers of what is kept of the parameters, and the reductions of accumulated
    gradients. With the first iteration beside them, the gathers can run within its
    forward pass, and with the last one, the reductions behind its backward pass.

    A loop over microbatches is one of the step's own block, of known trip count,
    that takes slices of a batch argument. Its first iteration is peeled if a
    collective of state comes to its body, its last one if one follows from its
    results. One iteration between them is written out, too. Gathers in the copies
    get windows of their own. The copies' kernels are those of the loop: barriers keep
    them as apart from what stands around them until elementwise ops are fused.

    ```mlir
    // --amsp-peel-microbatches --canonicalize --cse
    func.func @step(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
                    %x: tensor<4x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %none = stablehlo.constant dense<0.0> : tensor<8xf32>
      %w = amsp.all_gather %p group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
      %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
      cond {
        %2 = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
      } do {
        %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
        %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
        %4 = stablehlo.multiply %3, %w : tensor<8xf32>
        %5 = stablehlo.add %sum, %4 : tensor<8xf32>
        %6 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
      }
      %1 = amsp.reduce_scatter sum %0#1 group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%arg0: tensor<4xf32> {amsp.role = #amsp.role<param>}, %arg1: tensor<4x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
      %c = stablehlo.constant dense<3> : tensor<i32>
      %c_0 = stablehlo.constant dense<0> : tensor<i32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
      %0 = amsp.all_gather %arg0 group = <[1:2]>  parameter = 0 : tensor<4xf32> -> tensor<8xf32>
      %1 = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %arg1 : tensor<4x8xf32>
      %2 = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %0 : tensor<8xf32>
      %3 = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %cst : tensor<8xf32>
      %4 = stablehlo.dynamic_slice %1, %c_0, %c_0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %5 = stablehlo.reshape %4 : (tensor<1x8xf32>) -> tensor<8xf32>
      %6 = stablehlo.multiply %5, %2 : tensor<8xf32>
      %7 = stablehlo.add %3, %6 : tensor<8xf32>
      %8:2 = stablehlo.while(%iterArg = %c_1, %iterArg_2 = %7) : tensor<i32>, tensor<8xf32>
      cond {
        %18 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %18 : tensor<i1>
      } do {
        %18 = stablehlo.dynamic_slice %arg1, %iterArg, %c_0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
        %19 = stablehlo.reshape %18 : (tensor<1x8xf32>) -> tensor<8xf32>
        %20 = stablehlo.multiply %19, %0 : tensor<8xf32>
        %21 = stablehlo.add %iterArg_2, %20 : tensor<8xf32>
        %22 = stablehlo.add %iterArg, %c_1 : tensor<i32>
        stablehlo.return %22, %21 : tensor<i32>, tensor<8xf32>
      }
      %9 = stablehlo.optimization_barrier {amsp.iteration = 1 : i64} %arg1 : tensor<4x8xf32>
      %10 = stablehlo.optimization_barrier {amsp.iteration = 1 : i64} %0 : tensor<8xf32>
      %11 = stablehlo.optimization_barrier {amsp.iteration = 1 : i64} %8#1 : tensor<8xf32>
      %12 = stablehlo.dynamic_slice %9, %c, %c_0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %13 = stablehlo.reshape %12 : (tensor<1x8xf32>) -> tensor<8xf32>
      %14 = stablehlo.multiply %13, %10 : tensor<8xf32>
      %15 = stablehlo.add %11, %14 : tensor<8xf32>
      %16 = stablehlo.optimization_barrier {amsp.iteration = 2 : i64} %15 : tensor<8xf32>
      %17 = amsp.reduce_scatter  sum %16 group = <[1:2]>  parameter = 0 : tensor<8xf32> -> tensor<4xf32>
      return %17 : tensor<4xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numFirst", "first", "first iterations peeled">,
    Statistic<"numLast", "last", "last iterations peeled">
  ];
}

def PipelineLoops : Pass<"amsp-pipeline-loops", "::mlir::func::FuncOp"> {
  let summary = "Runs a layer's gathers one iteration ahead and its reductions one behind";
  let description = [{
    In a loop of known trip count, counting up or down through a stack of layers,
    two kinds of collectives need not wait for the iteration's computation: gathers
    of slices, at a position that the counter gives, of what the loop does not
    change, and reductions whose results are only written into a stack. The former
    are gathered in the iteration before and carried, the values that the latter
    reduce are carried to the next iteration. Both then stand at the top of an
    iteration, independent of its computation, and `amsp-schedule-collectives` can
    start them there and await them at its end. The first gather, the last
    reduction and the iterations whose neighbour is missing are written out before
    and behind the loop, behind barriers that keep them as apart from what stands
    around them as the loop's body is. No collective is added, and each value is
    computed as before, by the same kernels.

    So do, in any counted loop, two kinds more, where an iteration has nothing to
    hide them behind: gathers of what the loop does not change, of units that its
    first contraction needs, and reductions that are only added to a carry, of
    units whose gradients its last contraction makes. These are the ends of each
    of several microbatches.

    A pipelined loop holds two layers' gathered parameters and two layers'
    gradients. `max-bytes` bounds what is carried; collectives beyond it stay, in the
    order of the program, gathers first. Each pipelined loop is a remark.

    ```mlir
    // --amsp-pipeline-loops --canonicalize --cse
    func.func @forward(%p: tensor<3x4xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<8xf32>
      cond {
        %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.dynamic_slice %p, %i, %zero, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
        %2 = amsp.all_gather %1 group = <[1:2]> keep = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
        %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
        %4 = stablehlo.multiply %h, %3 : tensor<8xf32>
        %5 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %5, %4 : tensor<i32>, tensor<8xf32>
      }
      return %0#1 : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @forward(%arg0: tensor<3x4xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
      %c = stablehlo.constant dense<2> : tensor<i32>
      %c_0 = stablehlo.constant dense<0> : tensor<i32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.dynamic_slice %arg0, %c_0, %c_0, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %1 = amsp.all_gather %0 group = <[1:2]>  keep = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
      %2:3 = stablehlo.while(%iterArg = %c_0, %iterArg_2 = %arg1, %iterArg_3 = %1) : tensor<i32>, tensor<8xf32>, tensor<1x8xf32>
      cond {
        %8 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %8 : tensor<i1>
      } do {
        %8 = stablehlo.add %iterArg, %c_1 : tensor<i32>
        %9 = stablehlo.dynamic_slice %arg0, %8, %c_0, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
        %10 = amsp.all_gather %9 group = <[1:2]>  keep = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
        %11 = stablehlo.reshape %iterArg_3 : (tensor<1x8xf32>) -> tensor<8xf32>
        %12 = stablehlo.multiply %iterArg_2, %11 : tensor<8xf32>
        stablehlo.return %8, %12, %10 : tensor<i32>, tensor<8xf32>, tensor<1x8xf32>
      }
      %3 = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %2#2 : tensor<1x8xf32>
      %4 = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %2#1 : tensor<8xf32>
      %5 = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
      %6 = stablehlo.multiply %4, %5 : tensor<8xf32>
      %7 = stablehlo.optimization_barrier {amsp.iteration = 1 : i64} %6 : tensor<8xf32>
      return %7 : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "0",
           "Bytes that a loop may carry for this at most; 0: as many as there are">
  ];
  let statistics = [
    Statistic<"numLoops", "loops", "pipelined loops">,
    Statistic<"numGathers", "gathers", "gathers that run one iteration ahead">,
    Statistic<"numReductions", "reductions", "reductions that run one iteration behind">,
    Statistic<"bytes", "bytes", "bytes that are carried for them">
  ];
}

def QuantizeCollectives : Pass<"amsp-quantize-collectives", "::mlir::ModuleOp"> {
  let summary = "Sends parameters and gradients as int8 with a scale for each block";
  let description = [{
    On request only: it changes results. A piece that travels has as few blocks of
    at most `block` elements as it can, equal in size but for the last; each has a
    scale, its largest magnitude / 127, and codes are rounded to nearest. So an
    element is off by at most

        largest magnitude in its block / 254

    and a few roundings of f32, each time it is quantized. A block with a NaN or an
    infinity becomes NaN. Padding is masked first.

    `gathers`: a gather of a parameter's flat pieces becomes one of int8 codes and one of
    f32 scales; one quantization, or two where a rank keeps pieces of P that are
    larger than those at rest. This is ZeRO++'s qwZ (arXiv 2306.10209).

    `reductions`: a sum of a parameter's gradients to flat pieces is taken level by
    level, innermost first where the group's order begins there, as ZeRO++'s
    qgZ. In a level each member quantizes its value, sends the others their parts by
    all_to_all, and adds up in f32 what it gets, in the order of the group's index. A
    level adds to an element's error the bounds above of all members' values.
    An all_reduce of gradients is such a sum and a quantized gather of it, so all
    members have the same bits.

    A stack of layers, whole or a slice of it, has a row for each index of the
    dimensions that its pieces keep; a block lies within a row. What would not get
    smaller travels as it is: pieces of a few elements, or any in blocks of one.

    ```mlir
    // --amsp-quantize-collectives=block=4
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
             : tensor<4xi8> -> tensor<8xi8>
      %17 = stablehlo.reshape %16 : (tensor<8xi8>) -> tensor<2x4xi8>
      %18 = stablehlo.reshape %4 : (tensor<1x1xf32>) -> tensor<1xf32>
      %19 = amsp.all_gather %18 group = <[1:2]> parameter = 0
             : tensor<1xf32> -> tensor<2xf32>
      %20 = stablehlo.reshape %19 : (tensor<2xf32>) -> tensor<2x1xf32>
      %21 = stablehlo.reshape %17 : (tensor<2x4xi8>) -> tensor<2x1x4xi8>
      %22 = stablehlo.convert %21 : (tensor<2x1x4xi8>) -> tensor<2x1x4xf32>
      %23 = stablehlo.broadcast_in_dim %20, dims = [0, 1]
             : (tensor<2x1xf32>) -> tensor<2x1x4xf32>
      %24 = stablehlo.multiply %22, %23 : tensor<2x1x4xf32>
      %25 = stablehlo.reshape %24 : (tensor<2x1x4xf32>) -> tensor<2x4xf32>
      %26 = stablehlo.reshape %25 : (tensor<2x4xf32>) -> tensor<1x8xf32>
      %27 = stablehlo.reshape %26 : (tensor<1x8xf32>) -> tensor<2x4xf32>
      return %27 : tensor<2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"block", "block", "int64_t", "256", "elements that share a scale at most">,
    Option<"minBytes", "min-bytes", "int64_t", "0",
      "smaller tensors travel as they are">,
    Option<"gathers", "gathers", "bool", "true", "quantize gathers of parameters">,
    Option<"reductions", "reductions", "bool", "false",
      "quantize sums of gradients">
  ];
  let statistics = [
    Statistic<"numGathers", "gathers", "gathers of codes and scales">,
    Statistic<"numReductions", "reductions", "sums of codes and scales">
  ];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

def ScheduleCollectives : Pass<"amsp-schedule-collectives", "::mlir::func::FuncOp"> {
  let summary = "Starts collectives early and awaits them late, within a bound";
  let description = [{
    Splits collectives into start and await, and moves the two apart, over ops that
    keep their order. There are two channels, for gathers and for reductions, each
    with one order of starts, the program's.

    - A gather is awaited before the first op that needs it. It starts so early that
      it is done by then, those before it in the channel included, under the times
      of the planner's model (with as much time again in reserve); without a
      cluster's times, as early as the bound allows.
    - A reduction starts where what it reads is made, and is awaited before the
      first op that needs it, or earlier if the next reduction needs its bytes. What
      reads other reductions starts when those should be done; without a cluster's
      times, not before the next reduction that reads none.

    What only passes over memory (converts, slices, their updates, transposes,
    elementwise ops, sums over dimensions) moves along: ahead of a start that needs
    it, behind an await that it needs, but before the next one.

    The bytes of the full sides in flight, from start to await, never exceed
    `prefetch-bytes` (default: twice the largest use of a unit that is gathered and
    the largest that is reduced): half for each channel, or what its largest
    collective needs; all of it for one if the other has no collective. Collectives around a loop
    leave room for those in it. The bound is left on the function, as
    `amsp.prefetch_bytes`, for the verifiers. A collective with nothing to hide behind
    stays whole. Bits do not change.

    ```mlir
    func.func @layers(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<8x8xf32>) -> tensor<8xf32> {
      %0 = amsp.all_gather %a group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
      %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]
             : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0]
             : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %3 = amsp.all_gather %b group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
      %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [0]
             : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %5 = stablehlo.add %2, %4 : tensor<8xf32>
      return %5 : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @layers(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<8x8xf32>) -> tensor<8xf32>
        attributes {amsp.prefetch_bytes = 64 : i64} {
      %0 = amsp.all_gather_start %a group = <[1:2]>
             : tensor<4xf32> -> !amsp.pending<tensor<8xf32>>
      %1 = amsp.all_gather_start %b group = <[1:2]>
             : tensor<4xf32> -> !amsp.pending<tensor<8xf32>>
      %2 = amsp.await %0 : !amsp.pending<tensor<8xf32>>
      %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0]
             : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [0]
             : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %5 = amsp.await %1 : !amsp.pending<tensor<8xf32>>
      %6 = stablehlo.dot_general %x, %5, contracting_dims = [1] x [0]
             : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %7 = stablehlo.add %4, %6 : tensor<8xf32>
      return %7 : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"overlap", "overlap", "std::string", "\"on\"",
      "what may be in flight: on, off, or a list of uses (each use's gather, each "
      "microbatch's reduction), parameters (gathered once a step) and gradients "
      "(reduced once a step)">,
    Option<"prefetchBytes", "prefetch-bytes", "int64_t", "-1",
      "bound on the bytes in flight; default: twice the largest uses of units">,
    Option<"raisesBound", "raise-bound", "bool", "false",
      "where the bound is too small, take the least that is not">,
    Option<"cluster", "cluster", "std::string", "\"\"",
      "the cluster, as amsp-compile takes it, for times of ops and collectives">
  ];
  let statistics = [
    Statistic<"numSplit", "split", "collectives in two halves">,
    Statistic<"numWhole", "whole", "collectives that nothing can hide">,
    Statistic<"boundBytes", "bound-bytes", "bound on the bytes in flight">,
    Statistic<"peakBytes", "peak-bytes", "most bytes in flight">,
    Statistic<"lateGathers", "late-gathers",
      "gathers that the bound lets start later than in time">,
    Statistic<"earlyAwaits", "early-awaits",
      "reductions that are awaited early, for the next one's bytes">
  ];
  let dependentDialects = ["::amsp::AMSPDialect"];
}

def VerifyProgram : Pass<"amsp-verify-program", "::mlir::ModuleOp"> {
  let summary = "Proves that all ranks of a program issue the same collectives";
  let description = [{
    The contract of a rank's program on tensors, checked after every stage, in time
    linear in the program:

    - Groups partition the world along its levels.
    - A collective stands in loops and branches only whose predicates and trip counts
      are equal on all ranks. From arguments by their placements, from group indices
      and through collectives it follows along which digits of its number a rank's
      values may differ from those of others.
    - So may results, along the digits of their placements and no others: the sum that
      a pass lost shows here.
    - Every start is awaited, once and in its block (the ops' own verifiers see to
      types, pieces and padding, and to awaits).
    - At most so many bytes are in flight, of the full buffers, padding included,
      from start to await (or while one that is not split runs), as
      `amsp-schedule-collectives` says in `amsp.prefetch_bytes` of the step's
      function, or `prefetch-bytes` says.

    Changes nothing. `amsp-verify-buffers` checks what buffers add.
  }];
  let options = [
    Option<"prefetchBytes", "prefetch-bytes", "int64_t", "-1",
      "bound of the bytes in flight; -1: none">
  ];
  let statistics = [
    Statistic<"numChecked", "collectives", "collectives in the program">,
    Statistic<"bytesInFlight", "bytes-in-flight", "most bytes in flight at once">
  ];
}

#endif // AMSP_COMMUNICATION_PASSES_TD
