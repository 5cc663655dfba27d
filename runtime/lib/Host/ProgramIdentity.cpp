//===- ProgramIdentity.cpp - What tells programs of ranks apart -----------===//

#include "amsp/Runtime/ProgramIdentity.h"

#include <algorithm>

using namespace amsp;
using namespace amsp::runtime;

std::string runtime::explainDifference(const ProgramIdentity &program,
                                       const ProgramIdentity &ofFirstRank) {
  const std::vector<std::string> &own = program.collectives;
  const std::vector<std::string> &expected = ofFirstRank.collectives;
  auto [left, right] =
      std::mismatch(own.begin(), own.end(), expected.begin(), expected.end());
  std::string text = "runs another program than rank 0";
  if (left != own.end() || right != expected.end())
    text += ": collective number " + std::to_string(left - own.begin() + 1) +
            " is " + (left == own.end() ? "none" : *left) + ", on rank 0 " +
            (right == expected.end() ? "none" : *right);
  else if (!own.empty())
    text += ", with the same collectives";
  return text + " (program hash " + program.hash + ", rank 0 has " +
         ofFirstRank.hash + ")";
}
