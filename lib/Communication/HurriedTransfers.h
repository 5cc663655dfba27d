//===- HurriedTransfers.h - What others may delay on shared links -*- C++ -*-=//

#ifndef AMSP_LIB_COMMUNICATION_HURRIEDTRANSFERS_H
#define AMSP_LIB_COMMUNICATION_HURRIEDTRANSFERS_H

#include <optional>
#include <vector>

namespace amsp {

/// The transfers of one channel, one after the other, each with a time at which
/// it should be done. Those of another channel share the links with them. All
/// times are in seconds.
class HurriedTransfers {
public:
  /// Behind those that were added; not before `begin`.
  void add(double begin, double seconds, double due);

  /// True if another transfer, that wants the links at `start` for so long,
  /// makes one late.
  bool areLateBeside(double start, double seconds) const;
  /// It has them: those behind it begin later.
  void delay(double start, double seconds);

  /// When the first one ends that is not done at that time.
  std::optional<double> getNextEnd(double time) const;

private:
  struct Transfer {
    double begin, seconds, due;
    double getEnd() const { return begin + seconds; }
  };
  std::vector<Transfer>::const_iterator getFirstBehind(double time) const;

  std::vector<Transfer> transfers;
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_HURRIEDTRANSFERS_H
