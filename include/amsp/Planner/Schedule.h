//===- Schedule.h - Streams of a rank, to be simulated ----------*- C++ -*-===//

#ifndef AMSP_PLANNER_SCHEDULE_H
#define AMSP_PLANNER_SCHEDULE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace amsp {

/// A collective as the simulation sees it. All ranks run the same schedule, so
/// one rank stands for all.
struct ScheduledTransfer {
  /// Which collective of a program; else its number in the schedule.
  int64_t id = -1;
  std::string name;
  /// What it is for; exposed time is also summed by unit.
  std::string unit;
  /// Transfers of one channel run one after the other, in the order in which
  /// they are started.
  unsigned channel = 0;
  /// Alone on its links.
  double seconds = 0;
  double bytes = 0; // of the full buffers
  /// The outermost level on which its group has members.
  unsigned level = 0;
  /// For each level, the share of its links' time that the transfer takes when
  /// it is alone.
  llvm::SmallVector<double, 4> loads;
};

/// One step of the compute stream. A slot holds the last transfer started into
/// it; awaiting an empty slot is nothing.
struct Action {
  enum class Kind {
    Compute, // keeps the device busy for `seconds`
    Start,   // `transfer` into `slot`, after all that was computed before
    Await,   // the transfer in `slot`
    Move,    // the transfer in slot `from` to `slot`
    Repeat   // `block`, `trips` times
  };
  Kind kind = Kind::Compute;
  double seconds = 0;
  unsigned label = 0; // of compute: one of the schedule's labels
  unsigned transfer = 0, slot = 0, from = 0, block = 0;
  int64_t trips = 0;
};

using ActionBlock = std::vector<Action>;

/// What a rank does in a step. The program is the first block.
class Schedule {
public:
  Schedule() : blocks(1) {}

  unsigned addBlock();
  unsigned addTransfer(ScheduledTransfer transfer);
  unsigned addSlot() { return numSlots++; }
  unsigned addChannel(std::string name);
  unsigned addLabel(llvm::StringRef label);

  /// Joins the compute before, if it has the same label.
  void compute(unsigned block, double seconds, unsigned label);
  void start(unsigned block, unsigned transfer, unsigned slot);
  void await(unsigned block, unsigned slot);
  void move(unsigned block, unsigned from, unsigned slot);
  void repeat(unsigned block, unsigned body, int64_t trips);

  std::vector<ActionBlock> blocks;
  std::vector<ScheduledTransfer> transfers;
  std::vector<std::string> labels, channels;
  unsigned numSlots = 0;
};

} // namespace amsp

#endif // AMSP_PLANNER_SCHEDULE_H
