//===- Passes.td - From a rank's program to a scheduled one -*- tablegen -*-===//

#ifndef AMSP_COMMUNICATION_PASSES_TD
#define AMSP_COMMUNICATION_PASSES_TD

include "mlir/Pass/PassBase.td"

// One pass per file of lib/Communication. A pass works on the per-rank program
// that amsp-partition leaves: StableHLO on tensors, with collectives of the amsp
// dialect. It handles all of them through CollectiveOpInterface.

#endif // AMSP_COMMUNICATION_PASSES_TD
