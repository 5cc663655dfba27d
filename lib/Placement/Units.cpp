//===- Units.cpp - Parts of a model that share a strategy -----------------===//

#include "amsp/Placement/Units.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace amsp;

/// The keys of a tree path without the tree's own name: `p['h'][0].w` has h, 0
/// and w.
static SmallVector<StringRef> splitPath(StringRef path) {
  SmallVector<StringRef> keys;
  size_t begin = path.find_first_of("[.");
  while (begin != StringRef::npos) {
    StringRef rest = path.drop_front(begin + 1);
    bool isIndex = path[begin] == '[';
    StringRef key = rest.take_until(
        [&](char c) { return isIndex ? c == ']' : c == '[' || c == '.'; });
    keys.push_back(key.trim("'\""));
    size_t next = rest.find_first_of("[.", key.size());
    begin = next == StringRef::npos ? next : begin + 1 + next;
  }
  return keys;
}

static bool isLookedUp(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<stablehlo::GatherOp>(op))
      return use.getOperandNumber() == 0;
    return isa<stablehlo::ConvertOp>(op) && isLookedUp(op->getResult(0));
  });
}

std::string amsp::getUnitName(BlockArgument parameter) {
  if (auto loc = dyn_cast<NameLoc>(parameter.getLoc())) {
    SmallVector<StringRef> keys = splitPath(loc.getName());
    StringRef *number = llvm::find_if(keys, [](StringRef key) {
      return !key.empty() && llvm::all_of(key, llvm::isDigit);
    });
    if (number != keys.end())
      return llvm::join(keys.begin(), number + 1, ".");
  }
  if (isLookedUp(parameter))
    return "embeddings";
  return isa<NameLoc>(parameter.getLoc())
             ? "rest"
             : "arg" + std::to_string(parameter.getArgNumber());
}
