//===- TraceSummary.h - What a timeline says of communication ---*- C++ -*-===//

#ifndef AMSP_RUN_TRACESUMMARY_H
#define AMSP_RUN_TRACESUMMARY_H

#include "llvm/Support/JSON.h"

namespace amsp::run {

/// Sums up the events of a timeline, measured or predicted (docs/formats.md,
/// "Timelines"): per step, averaged over the ranks, how long transfers take and
/// how much of it is exposed, that is, how long compute threads wait in awaits;
/// in all, by level, and by unit, level and channel. Collectives of the runtime
/// itself (negative ids) do not count. Events of unknown categories, and those
/// that lack a field, are passed over.
llvm::json::Object summarizeTrace(const llvm::json::Array &events);

} // namespace amsp::run

#endif // AMSP_RUN_TRACESUMMARY_H
