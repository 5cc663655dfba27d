//===- DestinationRoots.cpp - Whose buffer a tensor may be in -------------===//

#include "DestinationRoots.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace amsp;

Value amsp::getTiedInit(Operation *loop, OpResult result) {
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    return counted.getTiedLoopInit(result)->get();
  return cast<scf::WhileOp>(loop).getInits()[result.getResultNumber()];
}

/// The operand, or value that a region yields, that `result` shares a buffer
/// with. The branches of a conditional write one destination: any will do.
static Value getTiedValue(OpResult result) {
  return TypeSwitch<Operation *, Value>(result.getOwner())
      .Case<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
            tensor::ExtractSliceOp>([](auto op) { return op->getOperand(0); })
      .Case([](bufferization::MaterializeInDestinationOp op) {
        return op.getDest();
      })
      .Case<scf::ForOp, scf::WhileOp>(
          [&](auto loop) { return getTiedInit(loop, result); })
      .Case<scf::IfOp, scf::IndexSwitchOp>([&](auto conditional) {
        return conditional->getRegion(0).front().getTerminator()->getOperand(
            result.getResultNumber());
      })
      .Case([&](DestinationStyleOpInterface op) {
        return op.getTiedOpOperand(result)->get();
      })
      .Default(Value());
}

Value amsp::getDestinationRoot(Value tensor) {
  while (auto result = dyn_cast<OpResult>(tensor)) {
    Value tied = getTiedValue(result);
    if (!tied)
      break;
    tensor = tied;
  }
  return tensor;
}
