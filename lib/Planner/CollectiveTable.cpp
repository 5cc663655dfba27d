//===- CollectiveTable.cpp - Measured times of collectives ----------------===//

#include "amsp/Planner/CollectiveTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include <limits>

using namespace llvm;
using namespace amsp;

TransferKind amsp::getTransferKind(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return TransferKind::AllGather;
  case CollectiveKind::ReduceScatter:
    return TransferKind::ReduceScatter;
  case CollectiveKind::AllReduce:
    return TransferKind::AllReduce;
  case CollectiveKind::AllToAll:
    return TransferKind::AllToAll;
  }
  llvm_unreachable("all kinds are handled");
}

static constexpr StringRef kTransferKinds[kNumTransferKinds] = {
    "all_gather", "reduce_scatter", "all_reduce", "broadcast", "all_to_all"};

StringRef amsp::stringifyTransferKind(TransferKind kind) {
  return kTransferKinds[static_cast<size_t>(kind)];
}

std::optional<TransferKind> amsp::symbolizeTransferKind(StringRef text) {
  for (auto [index, name] : enumerate(kTransferKinds))
    if (name == text)
      return static_cast<TransferKind>(index);
  return std::nullopt;
}

double amsp::getBusFactor(TransferKind kind, int64_t ranks) {
  if (kind == TransferKind::Broadcast)
    return ranks > 1 ? 1 : 0;
  double passes = kind == TransferKind::AllReduce ? 2 : 1;
  return passes * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
enum class Column { Seconds, BusBandwidth };

struct Row {
  TransferKind kind = TransferKind::AllGather;
  int64_t ranks = 0;
  double bytes = 0;
  std::optional<double> seconds; // none: below the resolution
};
} // namespace

/// Checks and reads a line; the message of what is wrong, or nothing.
static std::string readRow(StringRef line, Column column, Row &row) {
  SmallVector<StringRef> fields;
  line.split(fields, ',');
  if (fields.size() != 4)
    return "expected 4 columns";
  std::optional<TransferKind> kind = symbolizeTransferKind(fields[0]);
  if (!kind)
    return ("unknown collective '" + fields[0] + "'").str();
  row.kind = *kind;
  if (fields[1].getAsInteger(10, row.ranks) || row.ranks < 2)
    return ("'" + fields[1] + "' is no number of ranks").str();
  if (!to_float(fields[2], row.bytes) || !(row.bytes >= 1) ||
      !(row.bytes <= 1e18))
    return ("'" + fields[2] + "' is no number of bytes").str();
  double value;
  bool isTime = column == Column::Seconds;
  if (!to_float(fields[3], value) || !(value >= 0) || !(value <= 1e6) ||
      (isTime && value == 0))
    return ("'" + fields[3] + "' is no " + (isTime ? "time" : "bandwidth"))
        .str();
  if (isTime)
    row.seconds = value;
  else if (value > 0)
    row.seconds =
        row.bytes * 8 * getBusFactor(row.kind, row.ranks) / (value * 1e9);
  return "";
}

Error CollectiveTable::addCsv(StringRef content, StringRef name) {
  std::unique_ptr<MemoryBuffer> buffer =
      MemoryBuffer::getMemBufferCopy(content, name);
  line_iterator lines(*buffer);
  StringRef header = lines.is_at_eof() ? StringRef() : lines->rtrim();
  bool isTime = header == "collective,ranks,bytes,seconds";
  if (!isTime && header != "collective,ranks,bytes,busbw_gbit_per_s")
    return createStringError(
        name + ":1: expected the columns collective,ranks,bytes,seconds or "
               "collective,ranks,bytes,busbw_gbit_per_s");
  std::array<Curves, kNumTransferKinds> before = curves;
  for (++lines; !lines.is_at_eof(); ++lines) {
    Row row;
    std::string message = readRow(
        lines->rtrim(), isTime ? Column::Seconds : Column::BusBandwidth, row);
    if (!message.empty())
      return createStringError(name + ":" + Twine(lines.line_number()) + ": " +
                               message);
    if (!row.seconds)
      continue;
    auto kind = static_cast<size_t>(row.kind);
    curves[kind][row.ranks].extend(before[kind][row.ranks], row.bytes,
                                   *row.seconds);
  }
  for (Curves &of : curves)
    for (auto &[ranks, curve] : of)
      curve.makeMonotone();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Curves
//===----------------------------------------------------------------------===//

static double interpolateLinear(double x0, double y0, double x1, double y1,
                                double x) {
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

double CollectiveCurve::getSeconds(double bytes) const {
  auto next = points.lower_bound(bytes);
  if (next == points.begin())
    return next->second;
  auto last = std::prev(next);
  if (next == points.end())
    return last->second * bytes / last->first;
  return interpolateLinear(last->first, last->second, next->first, next->second,
                           bytes);
}

void CollectiveCurve::extend(const CollectiveCurve &before, double bytes,
                             double seconds) {
  bool isWithin = !before.empty() && bytes >= before.points.begin()->first &&
                  bytes <= before.points.rbegin()->first;
  if (!isWithin)
    points[bytes] = seconds;
}

void CollectiveCurve::makeMonotone() {
  double least = std::numeric_limits<double>::infinity();
  for (auto &[bytes, seconds] : reverse(points))
    seconds = least = std::min(least, seconds);
}

std::vector<double>
CollectiveCurve::getBends(const CollectiveCurve &other) const {
  std::map<double, double> all = points;
  all.insert(other.points.begin(), other.points.end());
  auto bytes = make_first_range(all);
  return std::vector<double>(bytes.begin(), bytes.end());
}

/// The curve that goes through `combine` of the two curves' times.
template <typename Combine>
static CollectiveCurve combineCurves(const CollectiveCurve &first,
                                     const CollectiveCurve &second,
                                     Combine combine) {
  CollectiveCurve curve;
  for (double bytes : first.getBends(second))
    curve.extend({}, bytes,
                 combine(first.getSeconds(bytes), second.getSeconds(bytes)));
  curve.makeMonotone();
  return curve;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static std::optional<TransferKind> getMirror(TransferKind kind) {
  switch (kind) {
  case TransferKind::AllGather:
    return TransferKind::ReduceScatter;
  case TransferKind::ReduceScatter:
    return TransferKind::AllGather;
  case TransferKind::AllReduce:
  case TransferKind::Broadcast:
  case TransferKind::AllToAll:
    return std::nullopt;
  }
  llvm_unreachable("all kinds are handled");
}

CollectiveCurve CollectiveTable::extrapolate(TransferKind kind,
                                             int64_t ranks) const {
  const Curves &of = getCurves(kind);
  const auto &[lastRanks, last] = *of.rbegin();
  if (std::optional<TransferKind> mirror = getMirror(kind);
      mirror && hasMeasurements(*mirror) &&
      getCurves(*mirror).rbegin()->first > lastRanks)
    return combineCurves(last, getCurve(*mirror, ranks),
                         [](double a, double b) { return std::max(a, b); });
  if (of.size() < 2)
    return last;
  const auto &[previousRanks, previous] = *std::prev(of.end(), 2);
  double steps = static_cast<double>(ranks - lastRanks) /
                 static_cast<double>(lastRanks - previousRanks);
  return combineCurves(last, previous, [&](double after, double before) {
    return after + steps * std::max(0.0, after - before);
  });
}

CollectiveCurve CollectiveTable::getCurve(TransferKind kind,
                                          int64_t ranks) const {
  const Curves &of = getCurves(kind);
  assert(!of.empty() && "no measurements of this kind");
  auto next = of.lower_bound(ranks);
  if (next == of.end())
    return extrapolate(kind, ranks);
  if (next->first == ranks || next == of.begin())
    return next->second;
  auto last = std::prev(next);
  return combineCurves(
      last->second, next->second, [&](double before, double after) {
        return interpolateLinear(static_cast<double>(last->first), before,
                                 static_cast<double>(next->first), after,
                                 static_cast<double>(ranks));
      });
}
