//===- Group.h - Groups of ranks, given by digits ---------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_GROUP_H
#define AMSP_RUNTIME_GROUP_H

#include "amsp-c/Step.h"

#include <cstdint>
#include <string>
#include <vector>

namespace amsp::runtime {

/// Most significant first.
using Digits = std::vector<amsp_digit>;

/// The group of one rank: its members in index order, and the rank's index.
struct Group {
  std::vector<int64_t> members;
  int64_t index = 0;

  int64_t size() const { return static_cast<int64_t>(members.size()); }
};

/// An empty string if the digits are independent of each other and lie within
/// a world of `world` ranks, else what is wrong.
std::string checkDigits(const Digits &digits, int64_t world);

int64_t groupSize(const Digits &digits);
int64_t indexInGroup(int64_t rank, const Digits &digits);
Group groupOf(int64_t rank, const Digits &digits);

/// Elements [begin, begin + length) of a row of `full` elements: what member
/// `index` owns of it, in pieces of `piece`; length 0 beyond the end.
struct PieceExtent {
  int64_t begin = 0;
  int64_t length = 0;
};
PieceExtent extentOfPiece(int64_t full, int64_t piece, int64_t index);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_GROUP_H
