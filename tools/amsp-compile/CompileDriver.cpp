//===- CompileDriver.cpp - From an exported step to a file ----------------===//

#include "CompileDriver.h"
#include "amsp/Communication/AsyncCollectives.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Compile/PlanPage.h"
#include "amsp/Compile/ReadStep.h"
#include "amsp/Conversion/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Planner/StepModel.h"
#include "amsp/Planner/UnitPattern.h"
#include "amsp/Support/OutputFiles.h"
#include "amsp/Target/CPU/ObjectEmitter.h"
#include "amsp/Target/CPU/Passes.h"
#include "amsp/Target/Manifest.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

/// A failure whose diagnostic is printed already.
static Error reported() { return createStringError(""); }

/// A program of one rank has placements; an exported step has none yet.
static bool isPerRankProgram(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>(kMainFunction);
  return step && step.getNumArguments() > 0 &&
         step.getArgAttr(0, kPlacementAttr);
}

Error CompileDriver::parse() {
  TimingScope scope = timing.nest("Parse");
  Expected<OwningOpRef<ModuleOp>> step = readStep(context, options.input);
  if (!step)
    return step.takeError();
  module = std::move(*step);
  if (!module->lookupSymbol<func::FuncOp>(kMainFunction))
    return createStringError("'" + options.input + "' has no function @main");
  return Error::success();
}

Error CompileDriver::runPasses(llvm::function_ref<void(OpPassManager &)> build,
                               StringRef stage) {
  TimingScope scope = timing.nest(stage);
  PassManager passes(&context, ModuleOp::getOperationName());
  if (failed(applyPassManagerCLOptions(passes)))
    return reported();
  passes.enableTiming(scope);
  statistics.collect(passes);
  build(passes);
  if (failed(passes.run(*module)))
    return reported();
  return Error::success();
}

/// Gives each unit its strategy.
Error CompileDriver::plan(PartitionOptions &partitioning) {
  TimingScope scope = timing.nest("Plan");
  PlanningOptions planning;
  planning.partition = partitioning;
  planning.communication = options.communication;
  planning.stopsAtFirstFit = true;
  if (Error error = setSearch(planning, options.search))
    return error;
  SmallVector<std::string> assumed;
  Cluster cluster = assumeMissing(*options.cluster, assumed);
  Expected<StrategyChoice> choice =
      chooseStrategies(*module, options.strategy, cluster, planning);
  if (!choice)
    return choice.takeError();
  if (Error error = options.flags->takeReduceType(
          partitioning, choice->reduceType, options.strategy))
    return error;
  if (options.strategy == "auto") {
    llvm::errs() << "remark: --strategy auto chose "
                 << formatStrategies(choice->units, choice->strategies);
    if (std::string changes = describeChanges(choice->changes);
        !changes.empty())
      llvm::errs() << ", " << changes;
    if (choice->loops && !(*choice->loops == LoopForm()))
      llvm::errs() << ", loops: " << describeLoops(*choice->loops);
    if (!assumed.empty())
      llvm::errs() << ", for A100 with 80 GB in nodes: cluster '"
                   << cluster.name << "' does not give "
                   << llvm::join(assumed, ", ");
    llvm::errs() << "\n";
    if (!choice->planned->splitRefusal.empty())
      llvm::errs() << "remark: --search microbatch: "
                   << choice->planned->splitRefusal << "\n";
  }
  planning.partition.reduceType = partitioning.reduceType;
  if (choice->loops)
    decideLoops(communication, *choice->loops);
  planning.communication = communication;
  if (Error error = changeStep(*module, choice->changes))
    return error;
  if (StringRef(options.report).ends_with(".html"))
    if (Error error = describePlan(*choice, cluster, planning))
      return error;
  setUnitStrategies(getStepFunction(*module), choice->units,
                    choice->strategies);
  return Error::success();
}

/// The page of the plan, for `--report`.
Error CompileDriver::describePlan(const StrategyChoice &choice,
                                  const Cluster &cluster,
                                  const PlanningOptions &planning) {
  Expected<CollectiveModel> collectives = CollectiveModel::create(cluster);
  if (!collectives)
    return collectives.takeError();
  Expected<CompiledPlan> compiled = compilePlan(
      *module, choice.units, choice.strategies, planning.partition,
      planning.communication, cluster, *collectives, *cluster.device->memory);
  if (!compiled)
    return compiled.takeError();
  Finalist shown;
  shown.strategies = choice.strategies;
  shown.compiled = std::move(*compiled);
  if (choice.planned)
    std::tie(shown.estimatedSeconds, shown.estimatedBytes) =
        choice.planned->plan.estimate(choice.units, choice.strategies);
  PlanPage content;
  content.step = module->getSymName().value_or("step");
  content.cluster = &cluster;
  content.units = choice.units;
  content.shown = &shown;
  content.planned = choice.planned ? &*choice.planned : nullptr;
  content.changes = choice.changes;
  content.batch = countBatch(getStepFunction(*module));
  content.timelines.push_back(getSimulatedTimeline(*shown.compiled));
  llvm::raw_string_ostream stream(page);
  writePlanPage(stream, content);
  return Error::success();
}

Error CompileDriver::partition() {
  if (isPerRankProgram(*module))
    return Error::success();
  if (!options.cluster)
    return createStringError("--cluster is required for an exported step");
  PartitionOptions partitioning = options.partition;
  partitioning.levels = options.cluster->getSizes();
  if (Error error = runPasses(
          [&](OpPassManager &passes) {
            buildImportPipeline(passes, partitioning);
          },
          "Import"))
    return error;
  // The state's strategies are those that it is trained with.
  if (options.partition.stateOf.empty())
    if (Error error = plan(partitioning))
      return error;
  return runPasses(
      [&](OpPassManager &passes) {
        buildPartitionImportedPipeline(passes, partitioning);
        passes.addPass(createVerifyProgram());
      },
      "Partition");
}

/// How the loops of the partitioned program may be written, the best first.
Expected<SmallVector<LoopForm, 4>> CompileDriver::getLoopForms() {
  TimingScope scope = timing.nest("Loops");
  SmallVector<std::string> assumed;
  Cluster cluster =
      options.cluster ? assumeMissing(*options.cluster, assumed) : Cluster();
  Expected<CollectiveModel> collectives = CollectiveModel::create(cluster);
  if (!collectives)
    return collectives.takeError();
  if (cluster.device)
    memoryLimit = *cluster.device->memory;
  // Remarks are those of the form that is taken.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  Expected<LoopForms> forms =
      rankLoopForms(*module, communication, cluster, *collectives);
  if (!forms)
    return forms.takeError();
  return forms->ranked;
}

Error CompileDriver::communicate(const LoopForm &form, bool raisesBound) {
  // Programs that were compiled to choose this one say nothing.
  if (!options.remarks.empty() && !context.getRemarkEngine()) {
    remark::RemarkCategories categories;
    // The engine asks for whole names, of each kind by itself.
    categories.passed = ".*(" + options.remarks + ").*";
    categories.missed = categories.passed;
    if (failed(remark::enableOptimizationRemarks(
            context, nullptr,
            std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
            /*printAsEmitRemarks=*/true)))
      return createStringError("--remarks " + options.remarks +
                               ": not a regular expression");
  }
  return runPasses(
      [&](OpPassManager &passes) {
        CommunicateOptions ofForm = communication.withLoops(form);
        ofForm.raisesBound = raisesBound;
        buildCommunicatePipeline(passes, ofForm);
      },
      "Communicate");
}

namespace {
/// Holds remarks back for as long as it lives, and emits them then, unless they
/// are of a program that was not taken.
class HeldRemarks {
public:
  explicit HeldRemarks(MLIRContext &context) : context(context) {
    handler.emplace(&context, [this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
        return failure();
      held.push_back(std::move(diagnostic));
      return success();
    });
  }
  ~HeldRemarks() {
    handler.reset(); // before others may take them
    for (Diagnostic &diagnostic : held)
      context.getDiagEngine().emit(std::move(diagnostic));
  }
  void drop() { held.clear(); }

private:
  MLIRContext &context;
  std::vector<Diagnostic> held;
  std::optional<ScopedDiagnosticHandler> handler;
};
} // namespace

/// Communicates and lowers to buffers, in the first form that fits, which it
/// returns.
Expected<LoopForm> CompileDriver::lowerToBuffers() {
  Expected<SmallVector<LoopForm, 4>> forms = getLoopForms();
  if (!forms)
    return forms.takeError();
  for (const LoopForm &form : *forms) {
    bool isLast = form == forms->back();
    OwningOpRef<ModuleOp> partitioned(isLast ? nullptr : module->clone());
    StatisticsTable before = statistics;
    HeldRemarks remarks(context);
    if (Error error = communicate(form, /*raisesBound=*/!isLast))
      return error;
    bool isAllowed =
        communication.allows(getPrefetchBytes(getStepFunction(*module)));
    auto buildLinalg = [](OpPassManager &passes) {
      buildStableHLOToLinalgPipeline(passes);
      passes.addPass(createVerifyProgram());
    };
    if (Error error = runPasses(buildLinalg, "Linalg"))
      return error;
    if (Error error = runPasses(buildBufferizePipeline, "Bufferize"))
      return error;
    int64_t bytes = getMemoryProfile(*module, {}).getTotal();
    if (isLast || (isAllowed && static_cast<double>(bytes) <= memoryLimit))
      return form;
    remarks.drop();
    module = std::move(partitioned);
    statistics = before;
  }
  llvm_unreachable("loops have a form");
}

/// The form that lowerToBuffers takes; the program stays as it is.
Expected<LoopForm> CompileDriver::findLoopForm() {
  Expected<SmallVector<LoopForm, 4>> forms = getLoopForms();
  if (!forms)
    return forms.takeError();
  if (forms->size() == 1)
    return forms->front();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  OwningOpRef<ModuleOp> partitioned(module->clone());
  StatisticsTable before = statistics;
  Expected<LoopForm> form = lowerToBuffers();
  module = std::move(partitioned);
  statistics = before;
  return form;
}

Error CompileDriver::lower() {
  if (Expected<LoopForm> form = lowerToBuffers(); !form)
    return form.takeError();
  if (Error error = runPasses(buildLowerToLLVMPipeline, "Lower to LLVM"))
    return error;
  auto text = (*module)->getAttrOfType<StringAttr>(kManifestAttr);
  (*module)->removeAttr(kManifestAttr);
  Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return parsed.takeError();
  manifest = std::move(*parsed->getAsObject());
  return Error::success();
}

Expected<std::string> CompileDriver::printMlir(bool withLocations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, OpPrintingFlags().enableDebugInfo(withLocations));
  stream << "\n";
  return text;
}

/// LLVM IR as text, or an object file.
Expected<std::string> CompileDriver::emitMachineCode() {
  TimingScope scope = timing.nest("Code generation");
  auto machine = createTargetMachine(options.cpu);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext llvmContext;
  auto llvmModule = translateAndOptimize(*module, llvmContext, **machine);
  if (!llvmModule)
    return llvmModule.takeError();
  if (options.emit == EmitKind::LLVM) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*llvmModule)->print(stream, nullptr);
    return text;
  }
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  if (Error error = emitObject(**llvmModule, **machine, stream))
    return error;
  return object.str().str();
}

/// The manifest for reading.
static std::string printIndented(const llvm::json::Object &manifest) {
  return llvm::formatv("{0:2}\n",
                       llvm::json::Value(llvm::json::Object(manifest)));
}

Error CompileDriver::emitStableHLO() {
  std::string description = options.output + ".manifest.json";
  OutputFiles files;
  for (StringRef path : {StringRef(options.output), StringRef(description)})
    if (Error error = files.create(path))
      return error;
  if (Error error = createReport(files))
    return error;
  if (Error error = partition())
    return error;
  Expected<LoopForm> form = findLoopForm();
  if (!form)
    return form.takeError();
  if (Error error = communicate(*form))
    return error;
  FailureOr<llvm::json::Object> built = buildManifest(*module);
  if (failed(built))
    return reported();
  manifest = std::move(*built);
  if (Error error = runPasses(
          [](OpPassManager &passes) {
            passes.addPass(createExpandAttention());
            passes.addPass(createCollectivesToStableHLO());
          },
          "Emit StableHLO"))
    return error;
  Expected<std::string> text = printMlir(/*withLocations=*/false);
  if (!text)
    return text.takeError();
  if (Error error = files.write(options.output, *text))
    return error;
  if (Error error = files.write(description, printIndented(manifest)))
    return error;
  if (Error error = writeReport(files))
    return error;
  return files.commit();
}

Error CompileDriver::emitCode() {
  bool isLibrary = options.emit == EmitKind::SharedLibrary;
  OutputFiles files;
  if (Error error = files.create(options.output, /*isExecutable=*/isLibrary))
    return error;
  if (Error error = createReport(files))
    return error;
  if (Error error = partition())
    return error;
  if (Error error = lower())
    return error;
  Expected<std::string> content = options.emit == EmitKind::MLIR
                                      ? printMlir(/*withLocations=*/false)
                                      : emitMachineCode();
  if (!content)
    return content.takeError();
  if (isLibrary) {
    TimingScope scope = timing.nest("Link");
    Expected<OutputFile> object = OutputFile::create(options.output + ".o");
    if (!object)
      return object.takeError();
    if (Error error = object->write(*content))
      return error;
    if (Error error = linkSharedLibrary(object->getTemporaryPath(),
                                        files.getTemporaryPath(options.output)))
      return error;
  } else if (Error error = files.write(options.output, *content)) {
    return error;
  }
  if (Error error = writeReport(files))
    return error;
  return files.commit();
}

/// The collectives of a step, one a line.
static void printCollectives(const llvm::json::Object &manifest) {
  const llvm::json::Array *collectives = manifest.getArray("collectives");
  llvm::outs() << llvm::formatv(
      "{0,-4} {1,-15} {2,-6} {3,-16} {4,6} {5,12} {6,12}  {7}\n", "id", "kind",
      "dtype", "group", "count", "bytes", "sent_bytes", "unit");
  for (const llvm::json::Value &entry : *collectives) {
    const llvm::json::Object &object = *entry.getAsObject();
    std::string group;
    for (const llvm::json::Value &digit : *object.getArray("digits")) {
      const llvm::json::Array &pair = *digit.getAsArray();
      group += llvm::formatv("{0}{1}:{2}", group.empty() ? "" : ",",
                             *pair[0].getAsInteger(), *pair[1].getAsInteger());
    }
    llvm::outs() << llvm::formatv(
        "{0,-4} {1,-15} {2,-6} {3,-16} {4,6} {5,12} {6,12:f0}  {7}\n",
        *object.getInteger("id"), *object.getString("kind"),
        object.getString("dtype").value_or("?"), group,
        *object.getInteger("count"), *object.getInteger("bytes"),
        *object.getNumber("sent_bytes"),
        object.getString("unit").value_or("-"));
  }
}

Error CompileDriver::createReport(OutputFiles &files) {
  return options.report.empty() ? Error::success()
                                : files.create(options.report);
}

Error CompileDriver::writeReport(OutputFiles &files) {
  if (options.printCollectives)
    printCollectives(manifest);
  if (options.printStatistics)
    statistics.print(llvm::outs());
  if (options.report.empty())
    return Error::success();
  bool isPage = StringRef(options.report).ends_with(".html");
  return files.write(options.report, isPage ? page : printIndented(manifest));
}

Error CompileDriver::run() {
  if (Error error = parse())
    return error;
  return options.emit == EmitKind::StableHLO ? emitStableHLO() : emitCode();
}
