//===- ParameterCheck.cpp - Parameters that a step has --------------------===//

#include "amsp/Communication/ParameterCheck.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace amsp;

std::string amsp::checkParameters(CollectiveOpInterface op,
                                  unsigned numArguments) {
  for (PartAttr part : op.getParts().getAsRange<PartAttr>()) {
    std::optional<int64_t> parameter = part.getParameter();
    if (parameter && (*parameter < 0 || *parameter >= numArguments))
      return llvm::formatv(
          "is for parameter {0}, which is no argument: the step has {1}",
          *parameter, numArguments);
  }
  return {};
}
