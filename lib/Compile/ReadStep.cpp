//===- ReadStep.cpp - An exported step from its file ----------------------===//

#include "amsp/Compile/ReadStep.h"
#include "amsp/Dialect/StableHLO/IR/BooleanLiterals.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Expected;

Expected<OwningOpRef<ModuleOp>> amsp::readStep(MLIRContext &context,
                                               StringRef path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file)
    return createStringError("cannot read '" + path +
                             "': " + file.getError().message());
  bool isBytecode = mlir::isBytecode((*file)->getMemBufferRef());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(stablehlo::packBooleanLiterals(std::move(*file)),
                             llvm::SMLoc());
  OwningOpRef<ModuleOp> module;
  {
    // What the reader says of foreign bytecode is about its encoding.
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &) { return success(isBytecode); });
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  }
  if (module)
    return module;
  if (isBytecode)
    return createStringError(
        "'" + path +
        "' is bytecode of another version; make text of it: python -m "
        "amsp.importer " +
        path + " -o STEP.mlir");
  return createStringError("");
}
