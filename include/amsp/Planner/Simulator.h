//===- Simulator.h - Compute and communication of a step --------*- C++ -*-===//
//
// A discrete-event simulation of one rank: a compute stream and the channels of
// its transfers.
//
// - Transfers of a channel run in the order of their start. Those of different
//   channels run at the same time and share links: where the loads of a level
//   add up to more than 1, each transfer that loads it slows down by that sum.
// - All ranks wait for the one that computes the slowest: compute takes
//   `slowest` times as long as on a typical device.
// - Compute takes 1 + interference times as long while any transfer runs.
// - Compute waits where it awaits a transfer that is not done: that time is
//   exposed, and belongs to what the channel moves meanwhile.
//
// A loop whose iteration begins and ends in the same state (what is queued on
// each channel, how much of it is left, and what the slots hold) is periodic
// from there on; its other iterations are not simulated but counted.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLANNER_SIMULATOR_H
#define AMSP_PLANNER_SIMULATOR_H

#include "amsp/Placement/Cluster.h"
#include "amsp/Planner/Schedule.h"

namespace amsp {

struct SimulationOptions {
  double interference = 0;
  double slowest = 1;
  /// Steps before the one that is measured. With none, all transfers are done
  /// at the step's end; else they may reach into the next step, and the
  /// measured step receives those of the one before.
  int64_t warmUp = 0;
  /// Record events. Then every iteration is simulated.
  bool timeline = false;
};

/// An interval of a stream.
struct SimulatedEvent {
  enum class Kind { Compute, Transfer, Wait };
  Kind kind = Kind::Compute;
  unsigned index = 0; // of a label (compute) or a transfer
  double begin = 0, end = 0;
};

/// How long compute of the slowest of all nodes takes, for 1 of a typical one:
/// 1 + spread m, m the expected maximum of as many standard normal values as
/// there are nodes (members of the innermost level's groups; ranks, if there is
/// one level).
double getSlowestCompute(const Cluster &cluster);

/// The constants of a cluster.
SimulationOptions getSimulationOptions(const Cluster &cluster);

/// What a step takes, in seconds. `seconds` is the sum of the next four.
struct SimulatedStep {
  double seconds = 0;
  double computeSeconds = 0;      // undisturbed, of a typical device
  double spreadSeconds = 0;       // added to it by the slowest device
  double interferenceSeconds = 0; // added to compute
  double exposedSeconds = 0;      // compute waits
  /// By label of the schedule: undisturbed compute.
  std::vector<double> labels;
  /// By transfer of the schedule, over all its runs: on the links, the part of
  /// it that compute waits for, and runs.
  std::vector<double> busy, exposed, runs;
  std::vector<SimulatedEvent> timeline;
  int64_t events = 0; // simulated
};

SimulatedStep simulate(const Schedule &schedule,
                       const SimulationOptions &options);

} // namespace amsp

#endif // AMSP_PLANNER_SIMULATOR_H
