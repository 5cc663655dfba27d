//===- ExecutorMode.cpp - amsp-plan --executor ----------------------------===//

#include "ExecutorMode.h"
#include "ExecutorReport.h"
#include "amsp/Planner/Timeline.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace amsp;

static cl::OptionCategory category("Steps of other systems");
static cl::opt<std::string>
    executor("executor", cl::cat(category),
             cl::desc("A YAML file: which collectives the system issues, and "
                      "when. Instead of STEP.mlir"));
static cl::opt<std::string>
    model("model", cl::cat(category),
          cl::desc("With --executor: a config.json of the model"));
static cl::opt<int64_t> sequence("sequence", cl::cat(category), cl::init(0),
                                 cl::desc("With --executor: tokens of one"));
static cl::opt<int64_t>
    sequences("microbatch", cl::cat(category), cl::init(1),
              cl::desc("With --executor: sequences of a rank's microbatch"));
static cl::opt<int64_t>
    microbatches("microbatches", cl::cat(category), cl::init(1),
                 cl::desc("With --executor: microbatches of a step"));
static cl::list<std::string> exposed(
    "no-overlap", cl::CommaSeparated, cl::cat(category),
    cl::desc("With --executor: collectives during which compute waits"));

cl::OptionCategory &amsp::getExecutorCategory() { return category; }

bool amsp::isExecutorMode() { return executor.getNumOccurrences() > 0; }

Error amsp::runExecutorMode(const Cluster &cluster, StringRef strategy,
                            bool isJson, StringRef timeline) {
  if (model.empty())
    return createStringError("--executor needs --model");
  if (strategy == "auto")
    return createStringError("--executor needs --strategy");
  ExecutorRequest request;
  request.executorFile = executor;
  request.modelFile = model;
  request.strategy = strategy;
  request.sequence = sequence;
  request.sequences = sequences;
  request.microbatches = microbatches;
  request.exposed.assign(exposed.begin(), exposed.end());
  Expected<ExecutorReport> report =
      simulateExecutor(request, cluster, !timeline.empty());
  if (!report)
    return report.takeError();
  if (!timeline.empty())
    if (Error error = writeTimeline(timeline, report->schedule, report->step))
      return error;
  if (isJson)
    report->printJson(outs());
  else
    report->printTable(outs());
  return Error::success();
}
