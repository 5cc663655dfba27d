//===- Decisions.cpp - What a pass decided, for who asks ------------------===//

#include "Decisions.h"
#include "amsp/Target/Manifest.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace amsp;

std::string amsp::describeForRemark(CollectiveOpInterface op) {
  CollectiveRecord record = describeCollective(op);
  std::string text = llvm::formatv(
      "{0} of {1} tensor{2}, {3} bytes", stringifyCollectiveKind(record.kind),
      record.tensors.size(), record.tensors.size() == 1 ? "" : "s",
      record.getPaddedBytes());
  if (StringAttr unit = record.getUnit())
    text += (", for '" + unit.getValue() + "'").str();
  return text;
}
