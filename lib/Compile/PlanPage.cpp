//===- PlanPage.cpp - A plan as one HTML file -----------------------------===//

#include "amsp/Compile/PlanPage.h"
#include "SvgPlot.h"
#include "amsp/Planner/UnitPattern.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>
#include <set>

using namespace llvm;
using namespace amsp;

static constexpr StringLiteral kStyle = R"(
body { font: 14px system-ui, sans-serif; margin: 2em auto; max-width: 1200px; color: #222 }
table { border-collapse: collapse; margin: 0.5em 0 }
td, th { padding: 2px 12px 2px 0; text-align: left; border-bottom: 1px solid #ddd }
td.n, th.n { text-align: right }
svg { width: 100%; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: #444 }
h2 { margin-top: 2em }
.beside { display: flex; gap: 1em }
figure { flex: 1; margin: 0 }
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
  void writeVariants();
  void writeTimelines();
  void writeExposed();
  void exposedRow(const Twine &what,
                  function_ref<ExposedTime(const Timeline &timeline)> getTime);
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

/// `80.0 rows/s, 1280.0 tokens/s`; empty without a batch.
static std::string describeSpeed(const BatchSize &batch,
                                 const Finalist &finalist) {
  std::string text;
  if (finalist.getSeconds() <= 0)
    return text;
  for (auto [name, count] :
       {std::pair("rows", batch.rows), std::pair("tokens", batch.tokens)})
    if (count > 0)
      text += formatv("{0}{1:f1} {2}/s", text.empty() ? "" : ", ",
                      static_cast<double>(count) / finalist.getSeconds(), name)
                  .str();
  return text;
}

void PageWriter::writeSummary() {
  const Cluster &cluster = *page.cluster;
  os << "<table>\n";
  row({"cluster", cluster.name + ", " + formatFactors(cluster.getSizes())}, 2);
  row({"ranks", std::to_string(cluster.getWorldSize())}, 2);
  row({"strategy", formatStrategies(page.units, page.shown->strategies)}, 2);
  if (page.changes.microbatches > 1)
    row({"microbatches", std::to_string(page.changes.microbatches)}, 2);
  if (!page.changes.recompute.empty())
    row({"computed again", formatUnits(page.changes.recompute)}, 2);
  if (page.shown->compiled && page.shown->compiled->loops)
    row({"loops", describeLoops(*page.shown->compiled->loops)}, 2);
  if (page.shown->compiled)
    row({"step, simulated", formatMs(page.shown->getSeconds())}, 2);
  if (page.planned)
    row({"step, by the search's model", formatMs(page.shown->estimatedSeconds)},
        2);
  if (std::string speed = describeSpeed(page.batch, *page.shown);
      !speed.empty())
    row({"speed", speed}, 2);
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

void PageWriter::writeVariants() {
  if (!page.planned || page.planned->variants.empty())
    return;
  heading("Microbatches and recomputation");
  os << "<table>\n";
  row({"the step", "simulated", "memory"}, 1, "th");
  for (const StepVariant &variant : page.planned->variants) {
    std::string changes = describeChanges(variant.changes);
    std::vector<std::string> cells = {changes.empty() ? "as exported" : changes,
                                      "fits under no strategy", ""};
    if (variant.secondsAndBytes) {
      cells[1] = formatMs(variant.secondsAndBytes->first);
      cells[2] = formatBytes(variant.secondsAndBytes->second);
    }
    row(cells, 1);
  }
  os << "</table>\n";
  if (!page.planned->splitRefusal.empty())
    os << "<p>No more microbatches: " << escapeHtml(page.planned->splitRefusal)
       << "</p>\n";
}

void PageWriter::writeTimelines() {
  if (page.timelines.empty())
    return;
  heading("Timelines");
  double span = 0;
  for (const Timeline &timeline : page.timelines)
    span = std::max(span, getSpan(timeline));
  os << "<div class=beside>\n";
  for (const Timeline &timeline : page.timelines) {
    os << "<figure><figcaption>" << escapeHtml(timeline.title)
       << "</figcaption>\n";
    writeTimeline(os, timeline, span);
    os << "</figure>\n";
  }
  os << "</div>\n";
  writeExposed();
}

/// One row of the table: a time of each timeline, zero where one has none.
void PageWriter::exposedRow(
    const Twine &what,
    function_ref<ExposedTime(const Timeline &timeline)> getTime) {
  std::vector<std::string> cells = {what.str()};
  for (const Timeline &timeline : page.timelines) {
    ExposedTime time = getTime(timeline);
    cells.push_back(formatMs(time.transfer));
    cells.push_back(formatMs(time.exposed));
  }
  row(cells, 1);
}

template <typename Key>
static ExposedTime lookUp(const std::map<Key, ExposedTime> &times,
                          const Key &key) {
  auto found = times.find(key);
  return found == times.end() ? ExposedTime() : found->second;
}

void PageWriter::writeExposed() {
  heading("Exposed communication");
  std::vector<std::string> head = {"of a step"};
  std::set<int64_t> levels;
  std::set<std::string> units;
  for (const Timeline &timeline : page.timelines) {
    head.push_back(timeline.column + ": transfers");
    head.push_back(timeline.column + ": exposed");
    for (const auto &[level, time] : timeline.levels)
      levels.insert(level);
    for (const auto &[unit, time] : timeline.units)
      units.insert(unit);
  }
  os << "<table>\n";
  row(head, 1, "th");
  exposedRow("all", [](const Timeline &timeline) { return timeline.all; });
  ArrayRef<ClusterLevel> known = page.cluster->levels;
  for (int64_t level : levels) {
    bool isKnown = level >= 0 && level < static_cast<int64_t>(known.size());
    exposedRow("level " + (isKnown ? known[level].name : std::to_string(level)),
               [&](const Timeline &timeline) {
                 return lookUp(timeline.levels, level);
               });
  }
  for (const std::string &unit : units)
    exposedRow(
        unit.empty() ? std::string("of no unit") : "unit " + unit,
        [&](const Timeline &timeline) { return lookUp(timeline.units, unit); });
  os << "</table>\n<p>";
  for (const Timeline &timeline : page.timelines)
    os << escapeHtml(timeline.column) << ": a step of "
       << formatMs(timeline.stepSeconds) << ". ";
  os << "Exposed is what compute waits for; in the drawings it is grey. "
        "Measured times are the average over the ranks and steps of the trace."
        "</p>\n";
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
  writeVariants();
  writeCollectives();
  os << "</body></html>\n";
}

void amsp::writePlanPage(raw_ostream &os, const PlanPage &page) {
  PageWriter(os, page).write();
}
