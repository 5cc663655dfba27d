//===- Timeline.h - A simulated step for a trace viewer ---------*- C++ -*-===//

#ifndef AMSP_PLANNER_TIMELINE_H
#define AMSP_PLANNER_TIMELINE_H

#include "amsp/Planner/Simulator.h"
#include <string>

namespace amsp {

/// The events of a step that was simulated with a timeline, in Chrome's trace
/// event format (docs/formats.md, "Timelines").
std::string formatTimeline(const Schedule &schedule, const SimulatedStep &step);

} // namespace amsp

#endif // AMSP_PLANNER_TIMELINE_H
