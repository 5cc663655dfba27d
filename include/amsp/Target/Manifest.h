//===- Manifest.h - What a compiled step says about itself ------*- C++ -*-===//
//
// Builds the JSON of docs/formats.md from a per-rank program: the attributes of
// its arguments and results, and its collectives.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_TARGET_MANIFEST_H
#define AMSP_TARGET_MANIFEST_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/AMSP/IR/PackedParameters.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace amsp {

/// One tensor of a collective; see amsp_collective_operand in Step.h.
struct CollectiveTensor {
  int64_t rows, full, piece;
  std::optional<int64_t> parameter;
  mlir::StringAttr unit;
  /// Elements of the full side, padding included.
  int64_t paddedElements;
  /// Of a buffer of small tensors: the parameters for whose sake they move.
  llvm::SmallVector<PackedParameter, 0> packed;

  /// Those of `packed`, or the tensor's own.
  llvm::SmallVector<PackedParameter, 0> getParameters() const;
};

/// A collective op of a per-rank program.
struct CollectiveRecord {
  CollectiveOpInterface op;
  int64_t id; // position in program order
  CollectiveKind kind;
  std::optional<Reduction> reduction;
  GroupAttr group;
  mlir::Type elementType;
  llvm::SmallVector<CollectiveTensor, 1> tensors;
  int64_t count; // runs in a step
  /// False if a loop around it has no known trip count: `count` takes it for
  /// kUnknownTripCount.
  bool isCountKnown = true;
  std::string name;

  /// Elements of the full sides, padding included.
  int64_t getPaddedElements() const;
  /// Their bytes.
  int64_t getPaddedBytes() const;
  /// Elements that a rank sends in one run, of all tensors or of so many
  /// elements.
  double getSentElements() const;
  double getSentElements(int64_t paddedElements) const;
  bool hasParameter() const;
  /// The argument for whose sake it is; none if there are several or none.
  std::optional<int64_t> getParameter() const;
  /// The unit of all tensors; null if they differ.
  mlir::StringAttr getUnit() const;
};

/// What a collective does; id, count and name are not set.
CollectiveRecord describeCollective(CollectiveOpInterface op);

/// The collectives of a step in program order.
llvm::SmallVector<CollectiveRecord> collectCollectives(mlir::func::FuncOp step);

/// The manifest of the module's function `main`, without `arena_bytes`.
mlir::FailureOr<llvm::json::Object> buildManifest(mlir::ModuleOp module);

/// The manifest as text, keys in a fixed order.
std::string printManifest(llvm::json::Object manifest);

} // namespace amsp

#endif // AMSP_TARGET_MANIFEST_H
