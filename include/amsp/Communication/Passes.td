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
      first op that needs it, or earlier if the next reduction needs its bytes. The
      second half of a reduction in two stages starts when the first is done.

    What only passes over memory (converts, slices, transposes, elementwise ops)
    moves along: ahead of a start that needs it, behind an await that it needs.

    The bytes of the full sides in flight, from start to await, never exceed
    `prefetch-bytes`: half for each channel, or what its largest collective needs;
    all of it for one if the other has no collective. Collectives around a loop
    leave room for those in it. A collective with nothing to hide behind stays
    whole. Bits do not change.

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
    func.func @layers(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<8x8xf32>) -> tensor<8xf32> {
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
    Option<"prefetchBytes", "prefetch-bytes", "int64_t", "-1",
      "bound on the bytes in flight; default: twice the least that works">,
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

#endif // AMSP_COMMUNICATION_PASSES_TD
