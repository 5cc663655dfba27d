//===- PlanPage.cpp - A plan as one HTML file -----------------------------===//

#include "amsp/Compile/PlanPage.h"
#include "SvgPlot.h"
#include "amsp/Planner/UnitPattern.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace llvm;
using namespace amsp;

static constexpr StringLiteral kStyle = R"(
body { font: 14px system-ui, sans-serif; margin: 2em auto; max-width: 960px; color: #222 }
table { border-collapse: collapse; margin: 0.5em 0 }
td, th { padding: 2px 12px 2px 0; text-align: left; border-bottom: 1px solid #ddd }
td.n, th.n { text-align: right }
svg { width: 100%; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: #444 }
h2 { margin-top: 2em }
)";

static std::string formatMs(double seconds) {
  return formatv("{0:f3} ms", seconds * 1e3);
}

namespace {
class PageWriter {
public:
  PageWriter(raw_ostream &os, const PlanPage &page) : os(os), page(page) {}
  void write();

private:
  void heading(StringRef text) {
    os << "<h2>" << escapeHtml(text) << "</h2>\n";
  }
  /// A row of cells; those from `numbersFrom` on are numbers.
  void row(ArrayRef<std::string> cells, size_t numbersFrom,
           const char *tag = "td");
  void writeSummary();
  void writeUnits();
  void writeMemory();
  void writeTradeOff();
  void writeFinalists();
  void writeTimelines();
  void writeCollectives();

  raw_ostream &os;
  const PlanPage &page;
};
} // namespace

void PageWriter::row(ArrayRef<std::string> cells, size_t numbersFrom,
                     const char *tag) {
  os << "<tr>";
  for (auto [index, cell] : enumerate(cells))
    os << "<" << tag << (index >= numbersFrom ? " class=n" : "") << ">"
       << escapeHtml(cell) << "</" << tag << ">";
  os << "</tr>\n";
}

void PageWriter::writeSummary() {
  const Cluster &cluster = *page.cluster;
  os << "<table>\n";
  row({"cluster", cluster.name + ", " + formatFactors(cluster.getSizes())}, 2);
  row({"ranks", std::to_string(cluster.getWorldSize())}, 2);
  row({"strategy", formatStrategies(page.units, page.shown->strategies)}, 2);
  if (page.shown->compiled)
    row({"step, simulated", formatMs(page.shown->getSeconds())}, 2);
  if (page.planned)
    row({"step, by the search's model", formatMs(page.shown->estimatedSeconds)},
        2);
  std::string memory = formatBytes(page.shown->getBytes());
  if (page.planned)
    memory += " of " + formatBytes(page.planned->memoryLimit);
  if (!page.shown->isLowered())
    memory += ", estimated";
  row({"memory of a rank", memory}, 2);
  os << "</table>\n";
}

void PageWriter::writeUnits() {
  heading("Strategies by unit");
  std::vector<std::string> names, texts;
  for (auto [unit, strategy] : zip_equal(page.units, page.shown->strategies)) {
    names.push_back(unit.name);
    texts.push_back(
        (formatStrategy(strategy) + " " + Twine(unit.elements)).str());
  }
  os << "<table>\n";
  row({"units", "p", "g", "os", "parameters of each"}, 4, "th");
  for (const UnitRun &run : findRuns(names, texts)) {
    const Strategy &strategy = page.shown->strategies[run.first];
    row({run.pattern, formatFactors(strategy.p), formatFactors(strategy.g),
         formatFactors(strategy.os),
         std::to_string(page.units[run.first].elements)},
        4);
  }
  os << "</table>\n";
}

void PageWriter::writeMemory() {
  if (!page.shown->isLowered())
    return;
  const MemoryProfile &memory = *page.shown->compiled->memory;
  heading("Memory over the step");
  StackPlot plot;
  plot.below = static_cast<double>(memory.getTotal() - memory.arenaBytes);
  plot.belowName = "at rest, batch, results";
  for (size_t use = 0; use < kNumBufferUses; ++use)
    plot.names.push_back(stringifyBufferUse(static_cast<BufferUse>(use)).str());
  for (const BytesByUse &bytes : memory.overTime)
    plot.samples.emplace_back(bytes.begin(), bytes.end());
  plot.limit = page.planned ? page.planned->memoryLimit : 0;
  writeStackPlot(os, plot);
  os << "<table>\n";
  row({"at rest", formatBytes(static_cast<double>(memory.stateBytes))}, 1);
  row({"batch and results", formatBytes(static_cast<double>(
                                memory.inputBytes + memory.resultBytes))},
      1);
  for (size_t use = 0; use < kNumBufferUses; ++use)
    row({stringifyBufferUse(static_cast<BufferUse>(use)).str() +
             ", at the peak",
         formatBytes(static_cast<double>(memory.peak[use]))},
        1);
  int64_t live =
      std::accumulate(memory.peak.begin(), memory.peak.end(), int64_t(0));
  row({"between buffers",
       formatBytes(static_cast<double>(memory.arenaBytes - live))},
      1);
  row({"all", formatBytes(static_cast<double>(memory.getTotal()))}, 1);
  os << "</table>\n";
}

void PageWriter::writeTradeOff() {
  if (!page.planned)
    return;
  heading("Memory against time");
  const Plan &plan = page.planned->plan;
  ScatterPlot plot;
  plot.xName = "memory of a rank, bytes";
  plot.yName = "step, ms, by the search's model";
  plot.limit = page.planned->memoryLimit;
  for (const Candidate &candidate : plan.candidates)
    plot.points.push_back({candidate.bytes,
                           plan.getStepSeconds(candidate) * 1e3,
                           formatStrategy(plan.getStrategy(candidate)),
                           ScatterPlot::Mark::Plain});
  for (const Finalist &finalist : page.planned->finalists)
    plot.points.push_back({finalist.getBytes(), finalist.estimatedSeconds * 1e3,
                           formatStrategies(page.units, finalist.strategies),
                           ScatterPlot::Mark::Strong});
  plot.points.push_back({page.shown->getBytes(),
                         page.shown->estimatedSeconds * 1e3,
                         formatStrategies(page.units, page.shown->strategies),
                         ScatterPlot::Mark::Chosen});
  writeScatterPlot(os, plot);
  os << "<p>Small: one strategy for all units, estimated. Large: compiled. "
        "Ringed: this plan. The line is the memory of a rank.</p>\n";
}

void PageWriter::writeFinalists() {
  if (!page.planned)
    return;
  heading("The best plans");
  os << "<table>\n";
  row({"plan", "simulated", "by the search", "memory", "fits"}, 1, "th");
  for (const Finalist &finalist : page.planned->finalists)
    row({formatStrategies(page.units, finalist.strategies),
         formatMs(finalist.getSeconds()), formatMs(finalist.estimatedSeconds),
         formatBytes(finalist.getBytes()),
         page.planned->fits(finalist) ? "yes" : "no"},
        1);
  os << "</table>\n";
}

void PageWriter::writeTimelines() {
  for (const Timeline &timeline : page.timelines) {
    heading(timeline.title);
    writeTimeline(os, timeline);
  }
}

void PageWriter::writeCollectives() {
  if (!page.shown->compiled)
    return;
  heading("Collectives of a step");
  os << "<table>\n";
  row({"kind", "unit", "type", "group", "runs", "bytes", "alone"}, 4, "th");
  for (const ListedCollective &collective : page.shown->compiled->collectives) {
    std::string group;
    for (const Digit &digit : collective.digits)
      group += formatv("{0}{1}:{2}", group.empty() ? "" : ",", digit.stride,
                       digit.size);
    row({stringifyCollectiveKind(collective.kind).str(), collective.unit,
         collective.dtype, group, std::to_string(collective.count),
         std::to_string(collective.bytes), formatMs(collective.seconds)},
        4);
  }
  os << "</table>\n";
}

void PageWriter::write() {
  os << "<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>"
     << escapeHtml(page.step) << " on " << escapeHtml(page.cluster->name)
     << "</title><style>" << kStyle << "</style></head><body>\n<h1>"
     << escapeHtml(page.step) << " on " << escapeHtml(page.cluster->name)
     << "</h1>\n";
  writeSummary();
  writeUnits();
  writeMemory();
  writeTimelines();
  writeTradeOff();
  writeFinalists();
  writeCollectives();
  os << "</body></html>\n";
}

void amsp::writePlanPage(raw_ostream &os, const PlanPage &page) {
  PageWriter(os, page).write();
}
