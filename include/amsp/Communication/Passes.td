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
    - With `prefetch-bytes`, that many bytes are in flight at most: of the full
      buffers, padding included, from start to await.

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
