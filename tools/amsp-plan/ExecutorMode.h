//===- ExecutorMode.h - amsp-plan --executor --------------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PLAN_EXECUTORMODE_H
#define AMSP_TOOLS_AMSP_PLAN_EXECUTORMODE_H

#include "amsp/Placement/Cluster.h"
#include "amsp/Placement/OverlapSet.h"
#include "amsp/Support/OutputFiles.h"
#include "llvm/Support/CommandLine.h"

namespace amsp {

/// The options of this mode.
llvm::cl::OptionCategory &getExecutorCategory();

/// True if the command line asks for a step of another system.
bool isExecutorMode();

/// Simulates it under the strategy, prints its times, and writes the timeline,
/// if it has a name, among the files.
llvm::Error runExecutorMode(const Cluster &cluster, llvm::StringRef strategy,
                            std::optional<double> memory, bool isJson,
                            llvm::StringRef timeline, OutputFiles &files,
                            const OverlapSet &overlap);

} // namespace amsp

#endif // AMSP_TOOLS_AMSP_PLAN_EXECUTORMODE_H
