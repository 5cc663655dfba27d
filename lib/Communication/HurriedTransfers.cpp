//===- HurriedTransfers.cpp - What others may delay on shared links -------===//

#include "HurriedTransfers.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace amsp;

void HurriedTransfers::add(double begin, double seconds, double due) {
  if (!transfers.empty())
    begin = std::max(begin, transfers.back().getEnd());
  transfers.push_back({begin, seconds, due});
}

std::vector<HurriedTransfers::Transfer>::const_iterator
HurriedTransfers::getFirstBehind(double time) const {
  return llvm::partition_point(transfers, [&](const Transfer &transfer) {
    return transfer.getEnd() <= time;
  });
}

/// One that has begun shares the links until it ends; those behind it have to
/// wait for what is left.
bool HurriedTransfers::areLateBeside(double start, double seconds) const {
  double free = start + seconds;
  for (auto next = getFirstBehind(start); next != transfers.end(); ++next) {
    double end = next->getEnd();
    if (next->begin >= free)
      return false;
    if (next->begin < start) {
      double rest = end - start;
      free += rest;
      end += std::min(seconds, rest);
    } else {
      free = end = free + next->seconds;
    }
    if (end > next->due)
      return true;
  }
  return false;
}

void HurriedTransfers::delay(double start, double seconds) {
  double free = start + seconds;
  auto next = transfers.begin() + (getFirstBehind(start) - transfers.begin());
  for (; next != transfers.end() && next->begin < free; ++next) {
    if (next->begin < start) {
      free += next->getEnd() - start;
      continue;
    }
    next->begin = free;
    free = next->getEnd();
  }
}

std::optional<double> HurriedTransfers::getNextEnd(double time) const {
  auto next = getFirstBehind(time);
  if (next == transfers.end())
    return std::nullopt;
  return next->getEnd();
}
