//===- CompiledPlan.cpp - The program of a rank under a plan --------------===//

#include "amsp/Compile/CompiledPlan.h"
#include "amsp/Communication/AsyncCollectives.h"
#include "amsp/Conversion/Passes.h"
#include "amsp/Planner/OpCosts.h"
#include "amsp/Target/CPU/Passes.h"
#include "amsp/Target/DataTypes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Expected;

double CompiledPlan::getCollectiveSeconds(bool ofParameters) const {
  double seconds = 0;
  for (const ListedCollective &collective : collectives)
    if (collective.ofParameter == ofParameters)
      seconds += collective.seconds;
  return seconds;
}

double CompiledPlan::getExposedSeconds(unsigned level) const {
  double seconds = 0;
  for (auto [transfer, exposed] :
       llvm::zip(simulation.schedule.transfers, simulation.step.exposed))
    if (transfer.level == level)
      seconds += exposed;
  return seconds;
}

static ListedCollective describe(const CollectiveRecord &record,
                                 const CollectiveModel &model) {
  int64_t width = getElementBytes(record.elementType);
  std::optional<amsp_dtype> dtype = getDataType(record.elementType);
  ListedCollective collective;
  collective.name = record.name;
  collective.kind = record.kind;
  collective.digits.assign(record.group.getDigits().begin(),
                           record.group.getDigits().end());
  collective.dtype = dtype ? getDataTypeName(*dtype).str() : "?";
  if (StringAttr unit = record.getUnit())
    collective.unit = unit.str();
  collective.ofParameter = record.hasParameter();
  collective.count = record.count;
  collective.bytes = record.getPaddedBytes();
  collective.sentBytes = record.getSentElements() * static_cast<double>(width);
  collective.seconds =
      static_cast<double>(record.count) * getCollectiveSeconds(record, model);
  return collective;
}

void amsp::buildMemoryPlanPipeline(OpPassManager &passes) {
  buildStableHLOToLinalgPipeline(passes);
  buildBufferizePipeline(passes);
}

/// Without the verifier, a fifth of the time: what is chosen is compiled again.
static LogicalResult
runPasses(ModuleOp module,
          llvm::function_ref<void(OpPassManager &)> buildPasses) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  buildPasses(passes);
  return passes.run(module);
}

Expected<OwningOpRef<ModuleOp>>
amsp::partitionPlan(ModuleOp step, ArrayRef<StepUnit> units,
                    ArrayRef<Strategy> strategies,
                    const PartitionOptions &options) {
  OwningOpRef<ModuleOp> program(step.clone());
  setUnitStrategies(getStepFunction(*program), units, strategies);
  if (failed(runPasses(*program, [&](OpPassManager &passes) {
        buildPartitionImportedPipeline(passes, options);
      })))
    return createStringError("");
  return program;
}

/// The program with its loops as the options say.
static Expected<CompiledPlan>
compileForm(ModuleOp program, const CommunicateOptions &communication,
            const Cluster &cluster, const CollectiveModel &collectives,
            bool lowers) {
  CompiledPlan plan;
  plan.kept = countKeptMemory(getStepFunction(program));
  if (failed(runPasses(program, [&](OpPassManager &passes) {
        buildCommunicatePipeline(passes, communication);
      })))
    return createStringError("");
  func::FuncOp step = getStepFunction(program);
  plan.prefetchBytes = getPrefetchBytes(step);
  SmallVector<CollectiveRecord> records = collectCollectives(step);
  for (const CollectiveRecord &record : records)
    plan.collectives.push_back(describe(record, collectives));
  FailureOr<ProgramSimulation> simulation =
      simulateStep(step, cluster, collectives, /*timeline=*/true);
  if (failed(simulation))
    return createStringError("");
  plan.simulation = std::move(*simulation);
  if (!lowers)
    return plan;
  SmallVector<CollectivePurpose> purposes = getPurposes(records);
  if (failed(runPasses(program, buildMemoryPlanPipeline)))
    return createStringError("");
  plan.memory = getMemoryProfile(program, purposes);
  return plan;
}

Expected<CompiledPlan>
amsp::compileProgram(ModuleOp program, const CommunicateOptions &communication,
                     const Cluster &cluster, const CollectiveModel &collectives,
                     double memoryLimit, bool lowers) {
  Expected<LoopForms> loops =
      rankLoopForms(program, communication, cluster, collectives);
  if (!loops)
    return loops.takeError();
  for (const LoopForm &form : loops->ranked) {
    bool isLast = form == loops->ranked.back();
    OwningOpRef<ModuleOp> copy(isLast ? nullptr : program.clone());
    CommunicateOptions options = communication.withLoops(form);
    options.raisesBound |= !isLast;
    Expected<CompiledPlan> plan = compileForm(isLast ? program : *copy, options,
                                              cluster, collectives, lowers);
    if (!plan)
      return plan;
    if (loops->hasChoice())
      plan->loops = form;
    plan->isOnlyForm = loops->ranked.size() == 1;
    bool fits = communication.allows(plan->prefetchBytes) &&
                (!lowers ||
                 static_cast<double>(plan->memory->getTotal()) <= memoryLimit);
    if (fits || isLast)
      return plan;
  }
  llvm_unreachable("loops have a form");
}

Expected<CompiledPlan> amsp::compilePlan(
    ModuleOp step, ArrayRef<StepUnit> units, ArrayRef<Strategy> strategies,
    const PartitionOptions &options, const CommunicateOptions &communication,
    const Cluster &cluster, const CollectiveModel &collectives,
    double memoryLimit, bool lowers) {
  auto program = partitionPlan(step, units, strategies, options);
  if (!program)
    return program.takeError();
  return compileProgram(**program, communication, cluster, collectives,
                        memoryLimit, lowers);
}
