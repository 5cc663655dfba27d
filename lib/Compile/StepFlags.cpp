//===- StepFlags.cpp - Options that amsp-compile and amsp-plan share ------===//

#include "amsp/Compile/StepFlags.h"
#include "amsp/Compile/LoopChoice.h"
#include "amsp/Placement/OverlapSet.h"
#include "amsp/Placement/PlacementConverter.h"
#include "amsp/Planner/CollectiveModel.h"

using namespace llvm;
using namespace amsp;

StepFlags::QuantizeFlags::QuantizeFlags(cl::OptionCategory &category)
    : gathers("quantize-gathers", cl::cat(category),
              cl::desc("Gather parameters as int8, with a scale for "
                       "each block: changes results")),
      reductions("quantize-reductions", cl::cat(category),
                 cl::desc("Sum gradients over each level as int8, with "
                          "a scale for each block: changes results")),
      type("quantize-type", cl::cat(category), cl::init("int8"),
           cl::value_desc("int8"),
           cl::desc("Type of what is quantized: int8; the target cpu "
                    "has no fp8")),
      block("quantize-block", cl::cat(category), cl::value_desc("N"),
            cl::desc("Elements that share a scale (default 256)")) {}

StepFlags::LoopFlags::LoopFlags(cl::OptionCategory &category)
    : noRecognize(
          "no-recognize-attention", cl::cat(category),
          cl::desc("Keep attention as the ops that the step has for it")),
      peel("peel-microbatches", cl::cat(category), cl::init("auto"),
           cl::ValueOptional, cl::value_desc("auto|on|off"),
           cl::desc("Take the first and the last microbatch out of their loop, "
                    "so that what is gathered and reduced once a step overlaps "
                    "too: auto (default; if the links of the cluster are known "
                    "and the simulated step gets faster and fits), on or off")),
      pipeline(
          "pipeline-loops", cl::cat(category), cl::init("auto"),
          cl::ValueOptional, cl::value_desc("auto|on|off"),
          cl::desc("In loops over layers, gather one layer ahead and reduce "
                   "one behind: auto (default, likewise), on or off")),
      pipelineBytes("pipeline-bytes", cl::cat(category), cl::value_desc("N"),
                    cl::desc("Bytes that a pipelined loop carries at most "
                             "(default 0: all)")) {}

StepFlags::StepFlags()
    : batchArgs("batch-args", cl::CommaSeparated, cl::cat(arguments),
                cl::desc("Arguments cut along dimension 0, names or indices")),
      stateArgs("state-args", cl::CommaSeparated, cl::cat(arguments),
                cl::desc("ARGUMENT=RESULT: arguments whose new values are "
                         "results, where the step's donation does not say so")),
      roles("roles", cl::CommaSeparated, cl::cat(arguments),
            cl::desc("ARGUMENT=ROLE, where the role that is found is not "
                     "meant: param, opt_state, state or constant")),
      reduceType("reduce-type", cl::cat(communication), cl::init("f32"),
                 cl::desc("Type of reductions: f32 (16-bit sums in f32, the "
                          "default), bf16 (gradients in bf16) or graph")),
      noSimplify("no-simplify-collectives", cl::cat(communication),
                 cl::desc("Keep collectives as single conversions make them")),
      quantize(communication),
      noDecompose("no-decompose-collectives", cl::cat(communication),
                  cl::desc("Keep collectives over several levels whole, also "
                           "where the cluster's links make parts faster")),
      noFuse("no-fuse-collectives", cl::cat(communication),
             cl::desc("Keep a collective for each tensor")),
      fuseBytes("fuse-bytes", cl::cat(communication), cl::value_desc("N"),
                cl::desc("Bytes of the full side of a fused collective at most "
                         "(default: the links of the cluster decide)")),
      noSplitEnds("no-split-ends", cl::cat(communication),
                  cl::desc("Fuse collectives at the ends of the program, which "
                           "nothing hides, as elsewhere; so does "
                           "--fuse-bytes")),
      packBytes("pack-bytes", cl::cat(communication), cl::value_desc("N"),
                cl::desc("Copy tensors of up to so many bytes into one buffer "
                         "of a fused collective (default: where the cluster's "
                         "tensor_overhead makes it faster)")),
      ofLoops(loops),
      overlap("overlap", cl::cat(communication), cl::init("on"),
              cl::desc("What runs beside computation: on (default), off, or a "
                       "list of uses (each use's gather, each microbatch's "
                       "reduction), parameters (gathered once a step) and "
                       "gradients (reduced once a step); results have the "
                       "same bits")),
      prefetchBytes(
          "prefetch-bytes", cl::cat(communication), cl::value_desc("N"),
          cl::desc("Bound on the bytes of collectives in flight (default: "
                   "twice the largest unit gathered and the largest unit "
                   "reduced)")) {}

Expected<PartitionOptions> StepFlags::readPartition() const {
  if (!parseReduceType(reduceType))
    return createStringError("--reduce-type " + reduceType +
                             ": expected f32, bf16 or graph");
  PartitionOptions options;
  options.batchArgs.assign(batchArgs.begin(), batchArgs.end());
  options.stateArgs.assign(stateArgs.begin(), stateArgs.end());
  options.roles.assign(roles.begin(), roles.end());
  options.reduceType = reduceType;
  options.simplifyCollectives = !noSimplify;
  options.recognizeAttention = !ofLoops.noRecognize;
  return options;
}

// LLVM's command line prints a value that is no number in lines of its own; so
// numbers are read here.
Error StepFlags::readNumbers(CommunicateOptions &options) const {
  struct Number {
    const Text &option;
    int64_t &value; // the default, if the option is not given
    int64_t least;
  };
  for (const Number &number :
       {Number{quantize.block, options.quantizeBlock, 1},
        Number{fuseBytes, options.fuseBytes, 0},
        Number{packBytes, options.packBytes, 0},
        Number{ofLoops.pipelineBytes, options.pipelineBytes, 0},
        Number{prefetchBytes, options.prefetchBytes, 0}}) {
    if (number.option.getNumOccurrences() == 0)
      continue;
    if (StringRef(number.option).getAsInteger(10, number.value) ||
        number.value < number.least)
      return createStringError("--" + number.option.ArgStr + " " +
                               number.option +
                               ": expected a whole number, at least " +
                               Twine(number.least) + " and below 2^63");
  }
  return Error::success();
}

Expected<CommunicateOptions>
StepFlags::readCommunication(StringRef text, const Cluster *cluster) const {
  CommunicateOptions options;
  if (cluster) {
    Expected<CollectiveModel> model = CollectiveModel::create(*cluster);
    if (model)
      options.cluster = text;
    else
      consumeError(model.takeError());
  }
  Expected<OverlapSet> set = parseOverlapSet(overlap);
  if (!set)
    return createStringError("--overlap " + overlap + ": " +
                             toString(set.takeError()));
  options.overlap = set->isEmpty() ? std::string("off") : overlap.getValue();
  if (quantize.type == "fp8")
    return createStringError("--quantize-type fp8: the target cpu has no "
                             "arithmetic or conversions of fp8; it has int8");
  if (quantize.type != "int8")
    return createStringError("--quantize-type " + quantize.type +
                             ": expected int8");
  options.quantizeGathers = quantize.gathers;
  options.quantizeReductions = quantize.reductions;
  options.decompose = !noDecompose;
  options.fuse = !noFuse;
  options.splitEnds = !noSplitEnds && fuseBytes.getNumOccurrences() == 0;
  if (Error error = readNumbers(options))
    return error;
  if (Error error = setLoopSwitches(options, ofLoops.peel, ofLoops.pipeline))
    return error;
  return options;
}

Error StepFlags::takeReduceType(PartitionOptions &options, StringRef ofPlan,
                                StringRef plan) const {
  if (ofPlan.empty())
    return Error::success();
  if (reduceType.getNumOccurrences() > 0 && reduceType != ofPlan)
    return createStringError("--reduce-type " + reduceType + ": plan '" + plan +
                             "' says " + ofPlan);
  options.reduceType = ofPlan;
  return Error::success();
}
