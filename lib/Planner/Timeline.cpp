//===- Timeline.cpp - A simulated step for a trace viewer -----------------===//

#include "amsp/Planner/Timeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <tuple>

using namespace llvm;
using namespace amsp;

namespace {
/// Sums of a summary's entry.
struct Sums {
  double transfer = 0, exposed = 0, bytes = 0;
};

class TimelineWriter {
public:
  TimelineWriter(const Schedule &schedule, const SimulatedStep &step,
                 raw_ostream &os)
      : schedule(schedule), step(step), json(os, 1) {}

  void write();

private:
  void writeEvent(StringRef name, StringRef category, int64_t thread,
                  double begin, double end, const ScheduledTransfer *transfer);
  void writeEvent(const SimulatedEvent &event);
  void writeSums(const Sums &sums);
  void writeSummary();
  void writeUnits();

  const Schedule &schedule;
  const SimulatedStep &step;
  json::OStream json;
};
} // namespace

void TimelineWriter::writeEvent(StringRef name, StringRef category,
                                int64_t thread, double begin, double end,
                                const ScheduledTransfer *transfer) {
  json.object([&] {
    json.attribute("name", name);
    json.attribute("cat", category);
    json.attribute("ph", "X");
    json.attribute("pid", 0);
    json.attribute("tid", thread);
    json.attribute("ts", begin * 1e6);
    json.attribute("dur", (end - begin) * 1e6);
    if (!transfer)
      return;
    json.attributeObject("args", [&] {
      json.attribute("id", transfer->id);
      json.attribute("bytes", transfer->bytes);
      json.attribute("channel", schedule.channels[transfer->channel]);
      json.attribute("level", transfer->level);
      if (thread != 0)
        json.attribute("link_us", transfer->seconds * 1e6);
      if (!transfer->unit.empty())
        json.attribute("unit", transfer->unit);
    });
  });
}

void TimelineWriter::writeEvent(const SimulatedEvent &event) {
  if (event.kind == SimulatedEvent::Kind::Compute) {
    StringRef label = schedule.labels[event.index];
    writeEvent(label, label == "gemm" ? "gemm" : "compute", 0, event.begin,
               event.end, nullptr);
    return;
  }
  const ScheduledTransfer &transfer = schedule.transfers[event.index];
  bool isWait = event.kind == SimulatedEvent::Kind::Wait;
  writeEvent(transfer.name, isWait ? "await" : "transfer",
             isWait ? 0 : 1 + transfer.channel, event.begin, event.end,
             &transfer);
}

void TimelineWriter::writeSums(const Sums &sums) {
  json.attribute("transfer_seconds", sums.transfer);
  json.attribute("exposed_seconds", sums.exposed);
  json.attribute("bytes", sums.bytes);
}

void TimelineWriter::writeUnits() {
  std::map<std::tuple<std::string, unsigned, unsigned>, Sums> units;
  std::map<unsigned, Sums> levels;
  Sums all;
  for (auto [index, transfer] : enumerate(schedule.transfers))
    for (Sums *sums :
         {&all, &levels[transfer.level],
          &units[{transfer.unit, transfer.level, transfer.channel}]}) {
      sums->transfer += step.busy[index];
      sums->exposed += step.exposed[index];
      sums->bytes += step.runs[index] * transfer.bytes;
    }
  writeSums(all);
  json.attributeArray("levels", [&] {
    for (const auto &[level, sums] : levels)
      json.object([&, level = level, &sums = sums] {
        json.attribute("level", level);
        writeSums(sums);
      });
  });
  json.attributeArray("units", [&] {
    for (const auto &[key, sums] : units)
      json.object([&, &key = key, &sums = sums] {
        const auto &[unit, level, channel] = key;
        json.attribute("unit",
                       unit.empty() ? json::Value(nullptr) : json::Value(unit));
        json.attribute("level", level);
        json.attribute("channel", schedule.channels[channel]);
        writeSums(sums);
      });
  });
}

void TimelineWriter::writeSummary() {
  json.attribute("ranks", 1);
  json.attribute("steps", 1);
  json.attribute("step_seconds", step.seconds);
  json.attribute("compute_seconds", step.seconds - step.exposedSeconds);
  writeUnits();
}

void TimelineWriter::write() {
  json.object([&] {
    json.attributeArray("traceEvents", [&] {
      writeEvent("step", "step", 0, 0, step.seconds, nullptr);
      for (const SimulatedEvent &event : step.timeline)
        writeEvent(event);
    });
    json.attributeObject("summary", [&] { writeSummary(); });
  });
}

std::string amsp::formatTimeline(const Schedule &schedule,
                                 const SimulatedStep &step) {
  std::string text;
  raw_string_ostream stream(text);
  TimelineWriter(schedule, step, stream).write();
  return text;
}
