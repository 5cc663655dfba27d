//===- Manifest.h - What a compiled step says about itself ------*- C++ -*-===//
//
// Builds the JSON of docs/formats.md from a per-rank program: the attributes of
// its arguments and results, and its collectives.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_TARGET_MANIFEST_H
#define AMSP_TARGET_MANIFEST_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace amsp {

/// A collective op of a per-rank program.
struct CollectiveRecord {
  mlir::Operation *op;
  int64_t id; // position in program order
  CollectiveKind kind;
  std::optional<Reduction> reduction;
  GroupAttr group;
  mlir::Type elementType;
  /// See amsp_collective_operand in Step.h.
  int64_t rows, full, piece;
  int64_t count; // runs in a step
  std::optional<int64_t> parameter;
  std::optional<std::string> unit;
  std::string name;

  /// Elements of the full side, padding included.
  int64_t getPaddedElements() const;
  /// Elements that a rank sends in one run.
  double getSentElements() const;
};

/// The collectives of a step in program order. Fails, with a diagnostic, for
/// one in a loop whose trip count is not known.
mlir::FailureOr<llvm::SmallVector<CollectiveRecord>>
collectCollectives(mlir::func::FuncOp step);

/// The manifest of the module's function `main`, without `arena_bytes`.
mlir::FailureOr<llvm::json::Object> buildManifest(mlir::ModuleOp module);

/// The manifest as text, keys in a fixed order.
std::string printManifest(llvm::json::Object manifest);

} // namespace amsp

#endif // AMSP_TARGET_MANIFEST_H
