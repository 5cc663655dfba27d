//===- ParameterCheck.cpp - Parameters that a step has --------------------===//

#include "amsp/Communication/ParameterCheck.h"
#include "amsp/Dialect/AMSP/IR/PackedParameters.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace amsp;

/// Empty if it is an argument; else what is wrong.
static std::string checkParameter(int64_t parameter, unsigned numArguments) {
  if (parameter >= 0 && parameter < numArguments)
    return {};
  return llvm::formatv(
      "is for parameter {0}, which is no argument: the step has {1}", parameter,
      numArguments);
}

std::string amsp::checkParameters(CollectiveOpInterface op,
                                  unsigned numArguments) {
  std::string problem;
  for (PartAttr part : op.getParts().getAsRange<PartAttr>())
    if (part.getParameter() && problem.empty())
      problem = checkParameter(*part.getParameter(), numArguments);
  auto packed = getPackedParameters(op);
  if (failed(packed))
    return (kPackedAttr + " is not two lists of numbers, of equal length: "
                          "elements and parameters")
        .str();
  for (const PackedParameter &moved : *packed)
    if (problem.empty())
      problem = checkParameter(moved.parameter, numArguments);
  return problem;
}
