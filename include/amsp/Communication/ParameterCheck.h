//===- ParameterCheck.h - Parameters that a step has ------------*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_PARAMETERCHECK_H
#define AMSP_COMMUNICATION_PARAMETERCHECK_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include <string>

namespace amsp {

/// Empty if the parameters that a collective moves are among a step's
/// arguments; else what is wrong.
std::string checkParameters(CollectiveOpInterface op, unsigned numArguments);

} // namespace amsp

#endif // AMSP_COMMUNICATION_PARAMETERCHECK_H
