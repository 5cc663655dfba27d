//===- ParameterRows.h - How a parameter's elements lie ---------*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_PARAMETERROWS_H
#define AMSP_LIB_COMMUNICATION_PARAMETERROWS_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"

namespace amsp {

/// How the operand of a collective, a parameter's elements or its gradient's,
/// lies in memory: `count` rows, one for each index of the dimensions that the
/// pieces keep, of `elements` each.
struct ParameterRows {
  int64_t count = 1, elements = 0;
  /// Elements of a row that are no padding, in all its pieces.
  int64_t valid = 0;
  /// Tells the pieces of a row apart; null if rows are whole, without padding.
  GroupAttr group;

  /// None if nothing is known of the tensor's parameter, or if its elements are
  /// neither those of whole rows nor those of pieces.
  static std::optional<ParameterRows> find(CollectiveOpInterface op,
                                           unsigned tensor);
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_PARAMETERROWS_H
