//===- PlanPage.h - A plan as one HTML file ---------------------*- C++ -*-===//

#ifndef AMSP_COMPILE_PLANPAGE_H
#define AMSP_COMPILE_PLANPAGE_H

#include "amsp/Compile/BatchSize.h"
#include "amsp/Compile/Finalists.h"
#include <map>

namespace amsp {

/// Seconds of a step: collectives on their channels, and the part of them that
/// compute waits for.
struct ExposedTime {
  double transfer = 0, exposed = 0;

  ExposedTime &operator+=(const ExposedTime &other);
};

/// Events of one rank, for drawing, and what a step's communication takes.
struct Timeline {
  struct Event {
    size_t lane = 0;
    std::string name;
    double begin = 0, end = 0; // seconds
    bool isWait = false;       // of compute, for a collective
  };
  std::string title;  // above the drawing
  std::string column; // of the table
  std::vector<std::string> lanes;
  std::vector<Event> events;

  double stepSeconds = 0;
  ExposedTime all;
  /// By outermost level of the group; -1: of groups of one rank.
  std::map<int64_t, ExposedTime> levels;
  /// By unit; those of none or several under the empty name.
  std::map<std::string, ExposedTime> units;
};

/// The simulated step of a plan.
Timeline getSimulatedTimeline(const CompiledPlan &plan);

/// A trace that `amsp-run --trace` wrote: the events are rank 0's, of its last
/// step; the times are the average over ranks and steps of the trace's summary.
llvm::Expected<Timeline> readTrace(llvm::StringRef content,
                                   llvm::StringRef name);

/// What a page shows. `planned`: the trade-off of memory against time among all
/// strategies; none if the plan was given.
struct PlanPage {
  std::string step;
  const Cluster *cluster = nullptr;
  llvm::ArrayRef<StepUnit> units;
  const Finalist *shown = nullptr;
  const PlannedStep *planned = nullptr;
  /// What the plan makes of the exported step, and the rows and tokens of that.
  StepChanges changes;
  BatchSize batch;
  /// Drawn beside each other, on one scale.
  std::vector<Timeline> timelines;
};

/// Writes one self-contained file: no scripts, no network.
void writePlanPage(llvm::raw_ostream &os, const PlanPage &page);

} // namespace amsp

#endif // AMSP_COMPILE_PLANPAGE_H
