//===- PlanCompiler.cpp - Several plans, compiled at a time ---------------===//

#include "PlanCompiler.h"
#include "amsp/Compile/Finalists.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace amsp;
using llvm::Error;
using llvm::Expected;

bool PlanCompiler::isParallel() const {
  MLIRContext *context = step.getContext();
  return context->isMultithreadingEnabled() &&
         context->getThreadPool().getMaxConcurrency() > 1;
}

const CompiledPlan *PlanCompiler::find(ArrayRef<Strategy> strategies,
                                       bool isLeanest) const {
  for (const Entry &known : plans) {
    // With one form of its loops to choose from, both are the same.
    bool isMeant = known.isLeanest == isLeanest || known.plan.isOnlyForm;
    if (isMeant && ArrayRef(known.strategies) == strategies)
      return &known.plan;
  }
  return nullptr;
}

const CompiledPlan &PlanCompiler::get(ArrayRef<Strategy> strategies) const {
  const CompiledPlan *plan = find(strategies, /*isLeanest=*/false);
  assert(plan && "not compiled");
  return *plan;
}

const CompiledPlan &
PlanCompiler::getLeanest(ArrayRef<Strategy> strategies) const {
  const CompiledPlan *plan = find(strategies, /*isLeanest=*/true);
  assert(plan && "not compiled");
  return *plan;
}

Expected<CompiledPlan> PlanCompiler::run(PlanTask &task) const {
  if (!task.program) {
    auto program = partitionPlan(step, units, task.strategies, partition);
    if (!program)
      return program.takeError();
    task.program = std::move(*program);
  }
  // A plan that the bound on the bytes in flight excludes says what it needs.
  CommunicateOptions options = communication;
  options.raisesBound = true;
  Expected<CompiledPlan> plan =
      compileProgram(*task.program, options, cluster, collectives,
                     task.isLeanest ? 0 : memoryLimit, task.lowers);
  task.program = nullptr;
  return plan;
}

/// Threads must find all dialects loaded.
static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  getPlanningDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
}

Error PlanCompiler::compile(std::vector<PlanTask> tasks) {
  std::vector<PlanTask> missing;
  for (PlanTask &task : tasks) {
    const CompiledPlan *known = find(task.strategies, task.isLeanest);
    bool isAsked = llvm::any_of(missing, [&](const PlanTask &other) {
      return other.strategies == task.strategies &&
             other.isLeanest == task.isLeanest;
    });
    if (!isAsked && (!known || (task.lowers && !known->memory)))
      missing.push_back(std::move(task));
  }
  std::vector<std::optional<Expected<CompiledPlan>>> compiled(missing.size());
  MLIRContext *context = step.getContext();
  loadDialects(context);
  {
    // Diagnostics come in the order of the plans.
    ParallelDiagnosticHandler ordered(context);
    parallelFor(context, 0, missing.size(), [&](size_t i) {
      ordered.setOrderIDForThread(i);
      compiled[i].emplace(run(missing[i]));
      ordered.eraseOrderIDForThread();
    });
  }
  Error error = Error::success();
  for (auto [task, plan] : llvm::zip_equal(missing, compiled)) {
    if (!*plan) {
      // The first is the cause.
      Error next = plan->takeError();
      if (error)
        consumeError(std::move(next));
      else
        error = std::move(next);
      continue;
    }
    llvm::erase_if(plans, [&done = task](const Entry &known) {
      return known.strategies == done.strategies &&
             known.isLeanest == done.isLeanest;
    });
    plans.push_back(
        {std::move(task.strategies), task.isLeanest, std::move(**plan)});
  }
  return error;
}
