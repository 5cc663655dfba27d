//===- TraceFile.cpp - Measured timelines ---------------------------------===//

#include "amsp/Compile/PlanPage.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace amsp;

ExposedTime &ExposedTime::operator+=(const ExposedTime &other) {
  transfer += other.transfer;
  exposed += other.exposed;
  return *this;
}

/// What the step's communication takes, by level and by unit.
static void addTimes(const ProgramSimulation &simulation, Timeline &timeline) {
  const SimulatedStep &step = simulation.step;
  timeline.stepSeconds = step.seconds;
  for (auto [index, transfer] : enumerate(simulation.schedule.transfers)) {
    ExposedTime time = {step.busy[index], step.exposed[index]};
    timeline.all += time;
    timeline.levels[transfer.level] += time;
    timeline.units[transfer.unit] += time;
  }
}

Timeline amsp::getSimulatedTimeline(const CompiledPlan &plan) {
  const Schedule &schedule = plan.simulation.schedule;
  Timeline timeline;
  timeline.title = "Predicted timeline";
  timeline.column = "predicted";
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
      drawn.name = "await of " + schedule.transfers[event.index].name;
      drawn.isWait = true;
      break;
    }
    timeline.events.push_back(std::move(drawn));
  }
  addTimes(plan.simulation, timeline);
  return timeline;
}

static Error makeError(StringRef name, const Twine &what) {
  return createStringError("trace '" + name + "': " + what);
}

/// Of an entry of a summary (docs/formats.md, "Timelines").
static std::optional<ExposedTime> readTime(const json::Object &entry) {
  std::optional<double> transfer = entry.getNumber("transfer_seconds");
  std::optional<double> exposed = entry.getNumber("exposed_seconds");
  if (!transfer || !exposed)
    return std::nullopt;
  return ExposedTime{*transfer, *exposed};
}

/// Adds the entries of a list of the summary, each under its key.
template <typename Key>
static bool readTimes(const json::Object &summary, StringRef list,
                      function_ref<Key(const json::Object &)> getKey,
                      std::map<Key, ExposedTime> &times) {
  const json::Array *entries = summary.getArray(list);
  if (!entries)
    return false;
  for (const json::Value &value : *entries) {
    const json::Object *entry = value.getAsObject();
    std::optional<ExposedTime> time =
        entry ? readTime(*entry) : std::optional<ExposedTime>();
    if (!time)
      return false;
    times[getKey(*entry)] += *time;
  }
  return true;
}

static bool readSummary(const json::Object &summary, Timeline &timeline) {
  std::optional<double> seconds = summary.getNumber("step_seconds");
  std::optional<ExposedTime> all = readTime(summary);
  if (!seconds || !all)
    return false;
  timeline.stepSeconds = *seconds;
  timeline.all = *all;
  return readTimes<int64_t>(
             summary, "levels",
             [](const json::Object &entry) {
               return entry.getInteger("level").value_or(-1);
             },
             timeline.levels) &&
         readTimes<std::string>(
             summary, "units",
             [](const json::Object &entry) {
               return entry.getString("unit").value_or("").str();
             },
             timeline.units);
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
  timeline.title = "Measured timeline, rank 0, last step";
  timeline.column = "measured";
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
    bool isWait = event->getString("cat") == StringRef("await");
    std::string label = event->getString("name").value_or("?").str();
    if (lane < timeline.lanes.size())
      timeline.events.push_back(
          {lane, (isWait ? "await of " : "") + label, begin, end, isWait});
  }
  if (timeline.events.empty())
    return makeError(name, "no events of rank 0");
  const json::Object *summary = object ? object->getObject("summary") : nullptr;
  if (!summary || !readSummary(*summary, timeline))
    return makeError(name, "no summary by level and unit, as amsp-run and "
                           "amsp-plan --timeline write it");
  if (step)
    erase_if(timeline.events, [&](const Timeline::Event &event) {
      return event.end < step->begin || event.begin > step->end;
    });
  return timeline;
}
