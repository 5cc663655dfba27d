//===- ExecutorMode.cpp - amsp-plan --executor ----------------------------===//

#include "ExecutorMode.h"
#include "ExecutorReport.h"
#include "amsp/Planner/Timeline.h"
#include "llvm/Support/CommandLine.h"
#include <cmath>

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
static cl::opt<double>
    gradientBytes("gradient-bytes", cl::cat(category), cl::init(2),
                  cl::desc("With --executor: bytes of a gradient's element on "
                           "the wire, instead of the executor's"));
static cl::opt<double>
    recompute("recompute", cl::cat(category), cl::init(0),
              cl::desc("With --executor: the share of the forward pass that "
                       "backward computes again, instead of the executor's"));
static cl::list<std::string> exposed(
    "no-overlap", cl::CommaSeparated, cl::cat(category),
    cl::desc("With --executor: collectives during which compute waits"));

cl::OptionCategory &amsp::getExecutorCategory() { return category; }

bool amsp::isExecutorMode() { return executor.getNumOccurrences() > 0; }

/// An option that was given, within its bounds.
static Error readNumber(const cl::opt<double> &option, int least, int most,
                        std::optional<double> &value) {
  if (option.getNumOccurrences() == 0)
    return Error::success();
  double number = option;
  if (std::isnan(number) || number < least || number > most)
    return createStringError("--" + option.ArgStr + " must be a number from " +
                             Twine(least) + " to " + Twine(most));
  value = number;
  return Error::success();
}

Error amsp::runExecutorMode(const Cluster &cluster, StringRef strategy,
                            std::optional<double> memory, bool isJson,
                            StringRef timeline, OutputFiles &files,
                            const OverlapSet &overlap) {
  if (model.empty())
    return createStringError("--executor needs --model");
  ExecutorRequest request;
  request.executorFile = executor;
  request.modelFile = model;
  request.strategy = strategy;
  request.sequence = sequence;
  request.sequences = sequences;
  request.microbatches = microbatches;
  request.memory = memory;
  if (Error error = readNumber(gradientBytes, 1, 8, request.gradientBytes))
    return error;
  if (Error error = readNumber(recompute, 0, 1, request.recompute))
    return error;
  request.overlap = overlap;
  request.exposed.assign(exposed.begin(), exposed.end());
  Expected<ExecutorReport> report =
      simulateExecutor(request, cluster, !timeline.empty());
  if (!report)
    return report.takeError();
  if (!timeline.empty())
    if (Error error = files.write(
            timeline, formatTimeline(report->schedule, report->step)))
      return error;
  if (Error error = files.commit())
    return error;
  if (isJson)
    report->printJson(outs());
  else
    report->printTable(outs());
  return Error::success();
}
