//===- StepFlags.h - Options that amsp-compile and amsp-plan share -*- C++ -*-//

#ifndef AMSP_COMPILE_STEPFLAGS_H
#define AMSP_COMPILE_STEPFLAGS_H

#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Placement/Cluster.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace amsp {

/// What a command line says of partitioning and of communication, declared and
/// read in one place, so that what amsp-plan simulates is what amsp-compile
/// does.
class StepFlags {
public:
  /// Declares the options. Made once, before the command line is parsed.
  StepFlags();

  /// The groups of the options in --help.
  llvm::cl::OptionCategory arguments{"Arguments of the step"};
  llvm::cl::OptionCategory loops{"Attention and loops"};
  llvm::cl::OptionCategory communication{"Communication"};

  /// The options of partitioning, without the cluster and its strategy. Fails,
  /// naming the option, at a value that it does not have.
  llvm::Expected<PartitionOptions> readPartition() const;
  /// Those of communication. `text` names the cluster; passes that choose by
  /// time get it if the cluster tells its links.
  llvm::Expected<CommunicateOptions>
  readCommunication(llvm::StringRef text, const Cluster *cluster) const;
  /// Sets the type of reductions to a plan's, which may be empty. Fails if the
  /// command line says another one.
  llvm::Error takeReduceType(PartitionOptions &options, llvm::StringRef ofPlan,
                             llvm::StringRef plan) const;

private:
  using Text = llvm::cl::opt<std::string>;
  using Texts = llvm::cl::list<std::string>;
  using Flag = llvm::cl::opt<bool>;

  llvm::Error readNumbers(CommunicateOptions &options) const;

  struct QuantizeFlags {
    explicit QuantizeFlags(llvm::cl::OptionCategory &category);
    Flag gathers, reductions;
    Text type, block;
  };
  struct LoopFlags {
    explicit LoopFlags(llvm::cl::OptionCategory &category);
    Flag noRecognize;
    Text peel, pipeline, pipelineBytes;
  };

  Texts batchArgs, stateArgs, roles;
  Text reduceType;
  Flag noSimplify;
  QuantizeFlags quantize;
  Flag noDecompose, noFuse;
  Text fuseBytes;
  Flag noSplitEnds;
  Text packBytes;
  LoopFlags ofLoops;
  Text overlap, prefetchBytes;
};

} // namespace amsp

#endif // AMSP_COMPILE_STEPFLAGS_H
