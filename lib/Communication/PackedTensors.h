//===- PackedTensors.h - Small tensors of a collective as one ---*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_PACKEDTENSORS_H
#define AMSP_LIB_COMMUNICATION_PACKEDTENSORS_H

#include "CollectiveBuilder.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"

namespace amsp {

/// A tensor of a collective that is to be built.
struct MovedTensor {
  mlir::Value operand;
  mlir::RankedTensorType full, piece;
  PartAttr part;
};

/// Builds a collective over some tensors. The flat ones of up to some bytes, if
/// there are several, are copied into one buffer, and their results out of it.
class PackedTensors {
public:
  PackedTensors(mlir::OpBuilder &builder, mlir::Location loc,
                const CollectiveTraits &traits, int64_t maxBytes)
      : hlo{builder, loc}, traits(traits), maxBytes(maxBytes) {}

  /// Returns the tensors' results.
  llvm::SmallVector<mlir::Value> build(llvm::ArrayRef<MovedTensor> tensors);
  /// What build() has built.
  CollectiveOpInterface getCollective() const { return collective; }
  /// Of the copies that build() has made.
  int64_t getCopiedBytes() const { return copiedBytes; }
  mlir::Location getLoc() const { return hlo.loc; }

private:
  bool isPacked(const MovedTensor &tensor) const;
  bool isAllReduce() const { return traits.kind == CollectiveKind::AllReduce; }
  /// The tensor's share of the buffer's last dimension.
  int64_t getShare(const MovedTensor &tensor) const;
  mlir::Value packOperand(const MovedTensor &tensor);
  MovedTensor pack(llvm::ArrayRef<MovedTensor> tensors);
  void nameParameters(llvm::ArrayRef<MovedTensor> tensors);
  mlir::Value unpack(const MovedTensor &tensor, mlir::Value packed,
                     int64_t offset);

  HloBuilder hlo;
  CollectiveTraits traits;
  int64_t maxBytes;
  CollectiveOpInterface collective;
  int64_t copiedBytes = 0;
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_PACKEDTENSORS_H
