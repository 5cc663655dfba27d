//===- CollectiveTable.h - Measured times of collectives --------*- C++ -*-===//
//
// CSV files with the header `collective,ranks,bytes,seconds` or
// `collective,ranks,bytes,busbw_gbit_per_s`; bytes are those of the full
// (gathered or reduced) buffer. A group of more ranks than the innermost level
// holds fills that level.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLANNER_COLLECTIVETABLE_H
#define AMSP_PLANNER_COLLECTIVETABLE_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "llvm/Support/Error.h"
#include <map>
#include <vector>

namespace amsp {

/// The collectives of which times are known. Steps of ours have no broadcast,
/// those of other systems do.
enum class TransferKind {
  AllGather,
  ReduceScatter,
  AllReduce,
  Broadcast,
  AllToAll
};
inline constexpr size_t kNumTransferKinds = 5;

TransferKind getTransferKind(CollectiveKind kind);
llvm::StringRef stringifyTransferKind(TransferKind kind);
std::optional<TransferKind> symbolizeTransferKind(llvm::StringRef text);

/// Seconds of one collective in one group by bytes; never falls with bytes.
class CollectiveCurve {
public:
  bool empty() const { return points.empty(); }
  /// Linear between points; the smallest one's time below them; the largest
  /// one's bandwidth beyond them.
  double getSeconds(double bytes) const;

  /// Adds a point unless it lies within the range of the points of before.
  void extend(const CollectiveCurve &before, double bytes, double seconds);
  /// Outliers of a measurement are slow ones: no buffer takes longer than any
  /// larger one.
  void makeMonotone();
  /// The bytes at which the curve bends, those of `other` included.
  std::vector<double> getBends(const CollectiveCurve &other) const;

private:
  std::map<double, double> points;
};

class CollectiveTable {
public:
  /// Adds the rows of a file's content; `name` is for errors. For each
  /// collective and number of ranks, bytes within the range of the files added
  /// before are theirs: later files only extend the range. A bandwidth of 0 is
  /// below the file's resolution and says nothing.
  llvm::Error addCsv(llvm::StringRef content, llvm::StringRef name);

  bool hasMeasurements(TransferKind kind) const {
    return !getCurves(kind).empty();
  }

  /// The curve of a group of so many ranks, alone on its links; the kind must
  /// have measurements. Between measured groups it is linear in ranks, as a
  /// ring's latency is; below them it is the smallest one's. Beyond them,
  /// all_gather and reduce_scatter, which move the same bytes over the same
  /// links, take at least as long as the other one where that is measured
  /// further; else the time goes on growing as it does between the last two.
  CollectiveCurve getCurve(TransferKind kind, int64_t ranks) const;

private:
  using Curves = std::map<int64_t, CollectiveCurve>; // by ranks
  const Curves &getCurves(TransferKind kind) const {
    return curves[static_cast<size_t>(kind)];
  }
  CollectiveCurve extrapolate(TransferKind kind, int64_t ranks) const;

  std::array<Curves, kNumTransferKinds> curves;
};

/// Bytes that a ring sends over each link, as a share of the full buffer:
/// (n-1)/n, twice that for all_reduce; all of it for broadcast.
double getBusFactor(TransferKind kind, int64_t ranks);

} // namespace amsp

#endif // AMSP_PLANNER_COLLECTIVETABLE_H
