//===- WireFormat.h - In what parameters and gradients travel ---*- C++ -*-===//

#ifndef AMSP_PLANNER_WIREFORMAT_H
#define AMSP_PLANNER_WIREFORMAT_H

#include <cstdint>
#include <optional>

namespace amsp {

/// The elements that share a scale where gathers of parameters, and sums of
/// gradients, are int8; none where they travel as they are.
struct WireFormat {
  std::optional<int64_t> gatherBlock, reductionBlock;
};

} // namespace amsp

#endif // AMSP_PLANNER_WIREFORMAT_H
