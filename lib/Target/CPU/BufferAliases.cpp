//===- BufferAliases.cpp - Which buffer a memref is a view of -------------===//

#include "BufferAliases.h"
#include "amsp/Target/TensorBytes.h"

using namespace mlir;

Value amsp::getViewSource(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp>(
          [](auto view) { return view.getSource(); })
      .Case<memref::CollapseShapeOp, memref::ExpandShapeOp>(
          [](auto view) { return view.getSrc(); })
      .Case([](memref::TransposeOp view) { return view.getIn(); })
      .Default(Value());
}

Value amsp::getRootBuffer(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    Value source = getViewSource(op);
    if (!source)
      break;
    memref = source;
  }
  return memref;
}

void amsp::forEachAccess(Value buffer, function_ref<void(OpOperand &)> visit) {
  for (OpOperand &use : buffer.getUses()) {
    if (getViewSource(use.getOwner()))
      forEachAccess(use.getOwner()->getResult(0), visit);
    else
      visit(use);
  }
}

int64_t amsp::getBufferBytes(MemRefType type) { return getTensorBytes(type); }
