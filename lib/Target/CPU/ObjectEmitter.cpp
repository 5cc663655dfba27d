//===- ObjectEmitter.cpp - LLVM dialect to object and library -------------===//

#include "amsp/Target/CPU/ObjectEmitter.h"
#include "amsp-c/Step.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

Expected<std::unique_ptr<TargetMachine>>
amsp::createTargetMachine(StringRef cpu) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Triple triple(sys::getDefaultTargetTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  SubtargetFeatures features;
  if (cpu == "native") {
    cpu = sys::getHostCPUName();
    for (const auto &feature : sys::getHostCPUFeatures())
      features.AddFeature(feature.getKey(), feature.getValue());
  }
  std::unique_ptr<MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!known->isCPUStringValid(cpu))
    return createStringError("--mcpu: unknown CPU '" + cpu + "'");
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features.getString(), options, Reloc::PIC_, std::nullopt,
      CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("no code generator for " + triple.str());
  return machine;
}

static void optimize(Module &module, TargetMachine &machine) {
  // Kernels and data are private to the library.
  internalizeModule(module, [](const GlobalValue &value) {
    return value.isDeclaration() || value.getName() == AMSP_STEP_SYMBOL;
  });
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  TargetLibraryInfoImpl library(module.getTargetTriple(),
                                VectorLibrary::LIBMVEC);
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, modules);
}

Expected<std::unique_ptr<Module>>
amsp::translateAndOptimize(mlir::ModuleOp module, LLVMContext &context,
                           TargetMachine &machine) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return createStringError("the program has no translation to LLVM IR");
  llvmModule->setTargetTriple(machine.getTargetTriple());
  llvmModule->setDataLayout(machine.createDataLayout());
  optimize(*llvmModule, machine);
  return llvmModule;
}

Error amsp::emitObject(Module &module, TargetMachine &machine,
                       raw_pwrite_stream &output) {
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, output, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError("no object files on this target");
  passes.run(module);
  return Error::success();
}

/// A driver that links with libm and libmvec found on its own.
static Expected<std::string> findLinker() {
  for (StringRef name : {AMSP_LINKER, "clang-22", "clang", "cc", "gcc"})
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return createStringError("no linker found: need clang-22, clang, cc or gcc "
                           "in PATH");
}

Error amsp::linkSharedLibrary(StringRef object, StringRef library) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  SmallString<128> messages;
  if (std::error_code error =
          sys::fs::createTemporaryFile("amsp-link", "txt", messages))
    return createStringError(error, "a temporary file cannot be made");
  SmallVector<StringRef> arguments{*linker,  "-shared", "-o",
                                   library,  object,    "-Wl,--as-needed",
                                   "-lmvec", "-lm"};
  std::string failure;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages),
                                          StringRef(messages)};
  int status =
      sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &failure);
  if (status != 0 && failure.empty())
    if (auto text = MemoryBuffer::getFile(messages))
      failure = (*text)->getBuffer().split('\n').first.str();
  sys::fs::remove(messages);
  if (status != 0)
    return createStringError("linking with " + *linker + " failed: " + failure);
  return Error::success();
}
