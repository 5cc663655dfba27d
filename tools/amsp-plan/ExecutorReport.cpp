//===- ExecutorReport.cpp - A step of another system ----------------------===//

#include "ExecutorReport.h"
#include "amsp/Planner/ExecutorSearch.h"
#include "amsp/Planner/Planner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace amsp;

/// Steps until transfers that reach into the next step are as in all later
/// ones.
static constexpr int64_t kWarmUp = 2;

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef path,
                                                        StringRef what) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError(what + " file '" + path +
                             "': " + file.getError().message());
  return std::move(*file);
}

/// As amsp-schedule-collectives tells a step's collectives apart: what moves
/// once a step, and what moves in each microbatch.
static bool isOverlapped(const ExecutorRule &rule, const OverlapSet &overlap) {
  using When = ExecutorRule::When;
  bool isOnce = all_of(rule.when, [](When when) {
    return when == When::FirstForward || when == When::Update ||
           when == When::LastBackward;
  });
  if (!isOnce)
    return overlap.uses;
  return rule.moves == ExecutorRule::Moves::Parameters ? overlap.parameters
                                                       : overlap.gradients;
}

static Expected<Executor> readExecutor(const ExecutorRequest &request) {
  auto file = readFile(request.executorFile, "executor");
  if (!file)
    return file.takeError();
  Expected<Executor> executor =
      parseExecutor((*file)->getBuffer(), request.executorFile);
  if (!executor)
    return executor;
  executor->gradientBytes =
      request.gradientBytes.value_or(executor->gradientBytes);
  executor->recompute = request.recompute.value_or(executor->recompute);
  for (ExecutorRule &rule : executor->rules)
    rule.overlap &= isOverlapped(rule, request.overlap);
  for (const std::string &name : request.exposed) {
    auto rule = find_if(executor->rules, [&](const ExecutorRule &rule) {
      return rule.name == name;
    });
    if (rule == executor->rules.end())
      return createStringError("--no-overlap: executor '" +
                               request.executorFile +
                               "' has no collectives named '" + name + "'");
    rule->overlap = false;
  }
  return executor;
}

static Expected<ModelConfig> readModel(const ExecutorRequest &request) {
  auto file = readFile(request.modelFile, "model");
  if (!file)
    return file.takeError();
  return parseModelConfig((*file)->getBuffer(), request.modelFile);
}

static Error checkNumbers(const ExecutorRequest &request,
                          const Cluster &cluster) {
  for (auto [name, number] :
       {std::pair("--sequence", request.sequence),
        std::pair("--microbatch", request.sequences),
        std::pair("--microbatches", request.microbatches)})
    if (number < 1 || number > (1 << 24))
      return createStringError(Twine(name) +
                               " must be a number from 1 to 16777216");
  if (!cluster.device || !cluster.device->peakBF16)
    return createStringError(getErrorPrefix(cluster, {}) + "cluster '" +
                             cluster.name +
                             "' does not give device.peak.bf16, in which "
                             "executors compute");
  return verifyForPlanning(cluster);
}

/// Learned positions are rows of a table; what lies beyond has none. (Rotary
/// ones are computed, for any length.)
static Error verifySequence(const ExecutorRequest &request,
                            const ModelConfig &config) {
  if (config.positions == 0 || request.sequence <= config.positions)
    return Error::success();
  return createStringError("--sequence " + Twine(request.sequence) + ": " +
                           request.modelFile + " has " +
                           Twine(config.positions) + " positions");
}

Expected<ExecutorReport> amsp::simulateExecutor(const ExecutorRequest &request,
                                                const Cluster &cluster,
                                                bool timeline) {
  if (Error error = checkNumbers(request, cluster))
    return error;
  Expected<Executor> executor = readExecutor(request);
  if (!executor)
    return executor.takeError();
  Expected<ModelConfig> config = readModel(request);
  if (!config)
    return config.takeError();
  if (Error error = verifySequence(request, *config))
    return error;
  auto collectives = CollectiveModel::create(cluster, /*broadcasts=*/true);
  if (!collectives)
    return collectives.takeError();
  std::vector<ModelPart> parts = describeModel(
      *config, *cluster.device, request.sequences, request.sequence);
  Strategy strategy;
  ExecutorRun run{*collectives, *cluster.device, strategy, parts,
                  request.microbatches};
  SimulationOptions options = getSimulationOptions(cluster);
  options.warmUp = kWarmUp;
  double memory = request.memory.value_or(*cluster.device->memory);
  if (request.strategy == "auto") {
    Expected<ExecutorChoice> best =
        findExecutorStrategy(*executor, run, options, memory);
    if (!best)
      return best.takeError();
    strategy = std::move(best->strategy);
  } else {
    Expected<Strategy> given =
        parseStrategy(request.strategy, cluster.getSizes());
    if (!given)
      return given.takeError();
    strategy = *given;
  }

  ExecutorReport report;
  report.executor = executor->name;
  report.cluster = cluster.name;
  report.strategy = formatStrategy(strategy);
  report.levels = cluster.getSizes();
  report.microbatches = request.microbatches;
  report.tokens = static_cast<double>(request.sequence * request.sequences *
                                      request.microbatches);
  report.bytes = getExecutorMemory(*executor, run);
  report.memoryLimit = memory;
  report.schedule = buildExecutorSchedule(*executor, run);
  options.timeline = timeline;
  report.step = simulate(report.schedule, options);
  return report;
}

std::vector<ExecutorReport::Row> ExecutorReport::getRows() const {
  std::vector<Row> rows;
  for (size_t index = 0; index < schedule.transfers.size(); ++index) {
    const ScheduledTransfer &transfer = schedule.transfers[index];
    auto row = find_if(rows, [&](const Row &row) {
      return row.first->name == transfer.name &&
             row.first->level == transfer.level;
    });
    if (row == rows.end())
      row = rows.insert(rows.end(), Row{&transfer});
    row->runs += step.runs[index];
    row->bytes += step.runs[index] * transfer.bytes;
    row->busy += step.busy[index];
    row->exposed += step.exposed[index];
  }
  return rows;
}

void ExecutorReport::printTable(raw_ostream &os) const {
  os << formatv("executor   {0} on {1}, {2} ranks, {3}\n", executor, cluster,
                formatFactors(levels), strategy);
  os << formatv(
      "step       {0:f3} ms, {1} microbatches, {2:f1} tokens per rank "
      "and second\n",
      step.seconds * 1e3, microbatches, getTokensPerSecond());
  for (auto [label, seconds] : zip(schedule.labels, step.labels))
    os << formatv("  {0,-18} {1,14:f3} ms\n", label, seconds * 1e3);
  os << formatv("  {0,-18} {1,14:f3} ms\n", "spread", step.spreadSeconds * 1e3);
  os << formatv("  {0,-18} {1,14:f3} ms\n", "interference",
                step.interferenceSeconds * 1e3);
  os << formatv("  {0,-18} {1,14:f3} ms\n", "exposed",
                step.exposedSeconds * 1e3);
  os << formatv("memory     {0:f3} MB of {1:f3} MB", bytes / 1e6,
                memoryLimit / 1e6);
  if (!fits())
    os << formatv(", does not fit: {0} more than a rank has",
                  formatBytes(bytes - memoryLimit));
  os << "\n";
  os << formatv("\n{0,-18} {1,5} {2,8} {3,12} {4,12} {5,12}\n", "collectives",
                "level", "runs", "MB", "busy ms", "exposed ms");
  for (const Row &row : getRows())
    os << formatv("{0,-18} {1,5} {2,8:f0} {3,12:f3} {4,12:f3} {5,12:f3}\n",
                  row.first->name, row.first->level, row.runs, row.bytes / 1e6,
                  row.busy * 1e3, row.exposed * 1e3);
}

void ExecutorReport::printJson(raw_ostream &os) const {
  json::OStream json(os, 2);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("executor", executor);
    json.attribute("cluster", cluster);
    json.attribute("levels", json::Array(ArrayRef(levels)));
    json.attribute("strategy", strategy);
    json.attribute("microbatches", microbatches);
    json.attribute("tokens", tokens);
    json.attribute("bytes", bytes);
    json.attribute("fits", fits());
    json.attribute("seconds", step.seconds);
    json.attribute("tokens_per_second", getTokensPerSecond());
    json.attributeObject("time", [&] {
      for (auto [label, seconds] : zip(schedule.labels, step.labels))
        json.attribute(label, seconds);
      json.attribute("spread", step.spreadSeconds);
      json.attribute("interference", step.interferenceSeconds);
      json.attribute("exposed", step.exposedSeconds);
    });
    json.attributeArray("collectives", [&] {
      for (const Row &row : getRows())
        json.object([&] {
          json.attribute("name", row.first->name);
          json.attribute("level", row.first->level);
          json.attribute("runs", row.runs);
          json.attribute("bytes", row.bytes);
          json.attribute("busy_seconds", row.busy);
          json.attribute("exposed_seconds", row.exposed);
        });
    });
  });
  os << "\n";
}
