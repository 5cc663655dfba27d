//===- PlanPage.h - A plan as one HTML file ---------------------*- C++ -*-===//

#ifndef AMSP_COMPILE_PLANPAGE_H
#define AMSP_COMPILE_PLANPAGE_H

#include "amsp/Compile/Finalists.h"

namespace amsp {

/// Events of one rank, for drawing.
struct Timeline {
  struct Event {
    size_t lane = 0;
    std::string name;
    double begin = 0, end = 0; // seconds
  };
  std::string title;
  std::vector<std::string> lanes;
  std::vector<Event> events;
};

/// The simulated step of a plan.
Timeline getSimulatedTimeline(const CompiledPlan &plan);

/// Rank 0 of a trace that `amsp-run --trace` wrote: its last step.
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
  std::vector<Timeline> timelines;
};

/// Writes one self-contained file: no scripts, no network.
void writePlanPage(llvm::raw_ostream &os, const PlanPage &page);

} // namespace amsp

#endif // AMSP_COMPILE_PLANPAGE_H
