//===- AMSPBufferOps.cpp - Ops of the buffer-level program ----------------===//

#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp;

#define GET_OP_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.cpp.inc"

/// Checks that sources and destinations are the sides that `info` describes.
static LogicalResult verifySides(Operation *op, CollectiveInfoAttr info,
                                 TypeRange sources, TypeRange destinations) {
  size_t count = info.getRows().size();
  if (sources.size() != count || destinations.size() != count ||
      info.getFull().size() != count || info.getPiece().size() != count)
    return op->emitOpError("sources, destinations, rows, full and piece differ "
                           "in number");
  for (size_t i = 0; i < count; ++i) {
    int64_t full = info.getRows()[i] * info.getFull()[i];
    int64_t piece = info.getRows()[i] * info.getPiece()[i];
    bool fromFull = info.getKind() != CollectiveKind::AllGather;
    bool toFull = info.getKind() != CollectiveKind::ReduceScatter;
    auto source = cast<ShapedType>(sources[i]);
    auto destination = cast<ShapedType>(destinations[i]);
    if (source.getElementType() != destination.getElementType())
      return op->emitOpError("operand ") << i << " changes its element type";
    if (source.getNumElements() != (fromFull ? full : piece) ||
        destination.getNumElements() != (toFull ? full : piece))
      return op->emitOpError("operand ")
             << i
             << " does not have the elements that rows, full and piece say";
  }
  return success();
}

LogicalResult ExchangeStartOp::verify() {
  if (getDestinations().getTypes() != getResults().getTypes())
    return emitOpError("results and destinations differ in type");
  return verifySides(*this, getInfo(), getSources().getTypes(),
                     getDestinations().getTypes());
}

ExchangeAwaitOp ExchangeStartOp::getAwait() {
  Operation *op = *this;
  return op->use_empty() ? ExchangeAwaitOp()
                         : dyn_cast<ExchangeAwaitOp>(*op->user_begin());
}

LogicalResult ExchangeAwaitOp::verify() {
  if (getDestinations().getTypes() != getResults().getTypes())
    return emitOpError("results and destinations differ in type");
  auto start = getDestinations().empty()
                   ? ExchangeStartOp()
                   : getDestinations()[0].getDefiningOp<ExchangeStartOp>();
  if (!start || start->getBlock() != (*this)->getBlock() ||
      start.getResults() != getDestinations() ||
      start.getSources() != getSources())
    return emitOpError("expected sources and results of one exchange_start in "
                       "this block");
  for (Value inFlight : getDestinations())
    if (!inFlight.hasOneUse())
      return emitOpError("a tensor in flight has another use");
  return success();
}

LogicalResult CollectiveStartOp::verify() {
  return verifySides(*this, getInfo(), getSources().getTypes(),
                     getDestinations().getTypes());
}

LogicalResult ContractOp::verify() {
  if (getInputs().size() != 2 || getOutputs().size() != 1 ||
      getMaps().size() != 3)
    return emitOpError("expected two inputs, one output and three maps");
  for (auto [index, value] : llvm::enumerate(getOperands())) {
    AffineMap map = getMap(index);
    auto type = cast<ShapedType>(value.getType());
    if (!map.isProjectedPermutation() ||
        map.getNumResults() != static_cast<unsigned>(type.getRank()))
      return emitOpError("map ")
             << index << " is no projected permutation of " << type;
    if (!type.getElementType().isF32() && !type.getElementType().isF64())
      return emitOpError("BLAS takes f32 and f64, got ") << type;
  }
  bool onTensors = isa<TensorType>(getOutput().getType());
  if (getResults().size() != (onTensors ? 1 : 0))
    return emitOpError("has a result on tensors only");
  return success();
}

void ContractOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<TensorType>(getOutput().getType()))
    return;
  for (OpOperand &input : getInputsMutable())
    effects.emplace_back(MemoryEffects::Read::get(), &input);
  OpOperand &output = getOutputsMutable()[0];
  if (getAccumulate())
    effects.emplace_back(MemoryEffects::Read::get(), &output);
  effects.emplace_back(MemoryEffects::Write::get(), &output);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("no kernel ") << getKernelAttr();
  if (kernel.getNumArguments() != getNumOperands())
    return emitOpError("kernel ")
           << getKernelAttr() << " takes " << kernel.getNumArguments()
           << " operands, got " << getNumOperands();
  return success();
}
