//===- CollectiveOps.cpp - Collectives ------------------------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getOperands().getTypes());
  return success();
}

LogicalResult AllToAllOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  int64_t split = adaptor.getSplitDimension();
  int64_t concat = adaptor.getConcatDimension();
  int64_t count = adaptor.getSplitCount();
  for (Value operand : adaptor.getOperands()) {
    RankedTensorType type = getTensorType(operand);
    if (split >= type.getRank() || concat >= type.getRank() ||
        type.getDimSize(split) % count != 0)
      return OpError(location, getOperationName())(
          "cannot cut dimension ", split, " of ", type, " into ", count,
          " pieces and join them along dimension ", concat);
    SmallVector<int64_t> shape(type.getShape());
    shape[split] /= count;
    shape[concat] *= count;
    types.push_back(type.clone(shape));
  }
  return success();
}

LogicalResult ReplicaIdOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(
      {}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

LogicalResult PartitionIdOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location>, Adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(
      {}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// One group a row, filled up with -1; each rank is in one group at most.
static LogicalResult verifyReplicaGroups(Operation *op,
                                         DenseIntElementsAttr groups) {
  if (groups.getType().getRank() != 2)
    return op->emitOpError("requires replica_groups of 2 dimensions, but got ")
           << groups.getType();
  llvm::SmallDenseSet<int64_t> seen;
  for (const APInt &value : groups) {
    int64_t rank = value.getSExtValue();
    if (rank < -1)
      return op->emitOpError("replica_groups contain the negative number ")
             << rank;
    if (rank != -1 && !seen.insert(rank).second)
      return op->emitOpError("replica_groups contain ") << rank << " twice";
  }
  return success();
}

/// The ranks in a group; none if a single group of all is left to the context.
static std::optional<int64_t> getGroupSize(DenseIntElementsAttr groups) {
  if (groups.empty())
    return std::nullopt;
  return groups.getType().getDimSize(1);
}

/// `whole` is `piece`, but a group's size times larger along `dimension`.
static LogicalResult verifyPieces(Operation *op, int64_t dimension,
                                  DenseIntElementsAttr groups,
                                  RankedTensorType piece,
                                  RankedTensorType whole) {
  if (dimension >= piece.getRank())
    return op->emitOpError("dimension ")
           << dimension << " is out of range for rank " << piece.getRank();
  int64_t pieceSize = piece.getDimSize(dimension);
  std::optional<int64_t> groupSize = getGroupSize(groups);
  SmallVector<int64_t> shape(piece.getShape());
  if (groupSize)
    shape[dimension] = pieceSize * *groupSize;
  else if (whole.getRank() == piece.getRank() && pieceSize != 0 &&
           whole.getDimSize(dimension) % pieceSize == 0)
    shape[dimension] = whole.getDimSize(dimension);
  if (whole != piece.clone(shape))
    return op->emitOpError("pieces of type ")
           << piece << " along dimension " << dimension
           << " do not make up a value of type " << whole;
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  if (getNumOperands() == 0 || getNumOperands() != getNumResults())
    return emitOpError("requires at least one operand, and a result for each");
  if (failed(verifyReplicaGroups(*this, getReplicaGroups())))
    return failure();
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults()))
    if (failed(verifyPieces(*this, getAllGatherDim(), getReplicaGroups(),
                            getTensorType(operand), getTensorType(result))))
      return failure();
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getNumOperands() == 0)
    return emitOpError("requires at least one operand");
  return verifyReplicaGroups(*this, getReplicaGroups());
}

LogicalResult AllReduceOp::verifyRegions() {
  // One computation serves all operands.
  return verifyCombiner(*this, getComputation(), getOperand(0).getType());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyReplicaGroups(*this, getReplicaGroups())))
    return failure();
  return verifyPieces(*this, getScatterDimension(), getReplicaGroups(),
                      getType(), getTensorType(getOperand()));
}

LogicalResult ReduceScatterOp::verifyRegions() {
  return verifyCombiner(*this, getComputation(), getOperand().getType());
}

LogicalResult AllToAllOp::verify() {
  if (getNumOperands() == 0)
    return emitOpError("requires at least one operand");
  if (failed(verifyReplicaGroups(*this, getReplicaGroups())))
    return failure();
  std::optional<int64_t> groupSize = getGroupSize(getReplicaGroups());
  int64_t count = getSplitCount();
  if (groupSize && *groupSize != count)
    return emitOpError("cuts into ")
           << count << " pieces for groups of " << *groupSize;
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  DenseIntElementsAttr pairs = getSourceTargetPairs();
  if (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2)
    return emitOpError("requires source_target_pairs of shape [n, 2], but got ")
           << pairs.getType();
  llvm::SmallDenseSet<int64_t> sources, targets;
  auto values = llvm::to_vector(pairs.getValues<int64_t>());
  for (size_t index = 0; index < values.size(); index += 2) {
    int64_t source = values[index], target = values[index + 1];
    if (source < 0 || target < 0)
      return emitOpError("source_target_pairs contain a negative number");
    if (!sources.insert(source).second || !targets.insert(target).second)
      return emitOpError("source_target_pairs name a source or target twice: ")
             << source << " to " << target;
  }
  return success();
}
