//===- OverlapSet.cpp - Which collectives run beside computation ----------===//

#include "amsp/Placement/OverlapSet.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace amsp;

Expected<OverlapSet> amsp::parseOverlapSet(StringRef text) {
  if (text == "on")
    return OverlapSet();
  OverlapSet set{false, false, false};
  if (text == "off")
    return set;
  SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    bool *one = name == "uses"         ? &set.uses
                : name == "parameters" ? &set.parameters
                : name == "gradients"  ? &set.gradients
                                       : nullptr;
    if (!one)
      return createStringError("expected on, off, or a list of uses, "
                               "parameters and gradients");
    *one = true;
  }
  return set;
}
