//===- TraceFile.cpp - Measured timelines ---------------------------------===//

#include "amsp/Compile/PlanPage.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace amsp;

Timeline amsp::getSimulatedTimeline(const CompiledPlan &plan) {
  const Schedule &schedule = plan.simulation.schedule;
  Timeline timeline;
  timeline.title = "Predicted timeline";
  timeline.lanes = {"compute"};
  append_range(timeline.lanes, schedule.channels);
  for (const SimulatedEvent &event : plan.simulation.step.timeline) {
    Timeline::Event drawn;
    drawn.begin = event.begin;
    drawn.end = event.end;
    switch (event.kind) {
    case SimulatedEvent::Kind::Compute:
      drawn.name = schedule.labels[event.index];
      break;
    case SimulatedEvent::Kind::Transfer: {
      const auto &transfer = schedule.transfers[event.index];
      drawn.lane = transfer.channel + 1;
      drawn.name = transfer.name;
      break;
    }
    case SimulatedEvent::Kind::Wait:
      continue;
    }
    timeline.events.push_back(std::move(drawn));
  }
  return timeline;
}

static Error makeError(StringRef name, const Twine &what) {
  return createStringError("trace '" + name + "': " + what);
}

Expected<Timeline> amsp::readTrace(StringRef content, StringRef name) {
  Expected<json::Value> parsed = json::parse(content);
  if (!parsed)
    return makeError(name, toString(parsed.takeError()));
  const json::Object *object = parsed->getAsObject();
  const json::Array *events =
      object ? object->getArray("traceEvents") : parsed->getAsArray();
  if (!events)
    return makeError(name, "no list traceEvents");
  struct Interval {
    double begin, end;
  };
  std::optional<Interval> step;
  Timeline timeline;
  timeline.title = "Measured timeline, rank 0";
  timeline.lanes = {"compute", "gather", "reduce"};
  for (const json::Value &value : *events) {
    const json::Object *event = value.getAsObject();
    if (!event || event->getString("ph") != StringRef("X") ||
        event->getInteger("pid").value_or(0) != 0)
      continue;
    double begin = event->getNumber("ts").value_or(0) * 1e-6;
    double end = begin + event->getNumber("dur").value_or(0) * 1e-6;
    if (event->getString("cat") == StringRef("step")) {
      step = Interval{begin, end};
      continue;
    }
    auto lane = static_cast<size_t>(event->getInteger("tid").value_or(0));
    if (lane < timeline.lanes.size())
      timeline.events.push_back(
          {lane, event->getString("name").value_or("?").str(), begin, end});
  }
  if (timeline.events.empty())
    return makeError(name, "no events of rank 0");
  if (step)
    erase_if(timeline.events, [&](const Timeline::Event &event) {
      return event.end < step->begin || event.begin > step->end;
    });
  return timeline;
}
