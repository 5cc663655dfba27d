//===- Group.cpp - Groups of ranks, given by digits -----------------------===//

#include "amsp/Runtime/Group.h"

#include <algorithm>

using namespace amsp;
using namespace amsp::runtime;

std::string runtime::checkDigits(const Digits &digits, int64_t world) {
  Digits sorted;
  for (const amsp_digit &digit : digits) {
    if (digit.stride < 1 || digit.size < 1)
      return "a digit's stride and size must be positive, got [" +
             std::to_string(digit.stride) + ", " + std::to_string(digit.size) +
             "]";
    if (digit.size > 1)
      sorted.push_back(digit);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const amsp_digit &a, const amsp_digit &b) {
              return a.stride < b.stride;
            });
  int64_t below = 1; // what the next digit's stride must be a multiple of
  for (const amsp_digit &digit : sorted) {
    std::string text = "digit [" + std::to_string(digit.stride) + ", " +
                       std::to_string(digit.size) + "]";
    if (digit.stride % below != 0)
      return text + " overlaps another digit of its group";
    if (digit.stride > world || digit.size > world / digit.stride ||
        world % (digit.stride * digit.size) != 0)
      return text + " does not fit a world of " + std::to_string(world) +
             " ranks";
    below = digit.stride * digit.size;
  }
  return {};
}

int64_t runtime::groupSize(const Digits &digits) {
  int64_t size = 1;
  for (const amsp_digit &digit : digits)
    size *= digit.size;
  return size;
}

int64_t runtime::indexInGroup(int64_t rank, const Digits &digits) {
  int64_t index = 0;
  for (const amsp_digit &digit : digits)
    index = index * digit.size + rank / digit.stride % digit.size;
  return index;
}

Group runtime::groupOf(int64_t rank, const Digits &digits) {
  int64_t base = rank; // the member whose digits are all 0
  for (const amsp_digit &digit : digits)
    base -= rank / digit.stride % digit.size * digit.stride;
  Group group;
  group.members = {base};
  for (const amsp_digit &digit : digits) {
    std::vector<int64_t> extended;
    extended.reserve(group.members.size() * digit.size);
    for (int64_t member : group.members)
      for (int64_t value = 0; value < digit.size; ++value)
        extended.push_back(member + value * digit.stride);
    group.members = std::move(extended);
  }
  group.index = indexInGroup(rank, digits);
  return group;
}

PieceExtent runtime::extentOfPiece(int64_t full, int64_t piece, int64_t index) {
  // The division keeps index * piece from overflowing.
  int64_t begin =
      piece == 0 || index > full / piece ? full : std::min(index * piece, full);
  return {begin, std::min(piece, full - begin)};
}
