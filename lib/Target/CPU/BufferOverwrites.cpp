//===- BufferOverwrites.cpp - Ops that give a buffer new content ----------===//

#include "BufferOverwrites.h"
#include "BufferAliases.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace amsp;

/// True if the view has every element of its buffer.
static bool isWhole(Value memref) {
  int64_t elements = cast<MemRefType>(memref.getType()).getNumElements();
  while (Operation *op = memref.getDefiningOp()) {
    Value source = getViewSource(op);
    if (!source)
      break;
    // Its strides may repeat elements.
    if (isa<memref::ReinterpretCastOp>(op))
      return false;
    memref = source;
  }
  auto buffer = cast<MemRefType>(memref.getType());
  return buffer.hasStaticShape() && buffer.getNumElements() == elements;
}

/// True if `op` writes each element of the result that goes to `init`, and does
/// not look at what was there.
static bool writesAll(linalg::LinalgOp op, OpOperand &init) {
  return op.isDpsInit(&init) && !op.payloadUsesValueFromOperand(&init) &&
         op.getMatchingIndexingMap(&init).isProjectedPermutation();
}

/// As `overwrites`, of an operand that is the whole of its buffer.
static bool overwritesAll(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto start = dyn_cast<CollectiveStartOp>(op))
    return operand.getOperandNumber() >= start.getSources().size();
  if (auto contract = dyn_cast<ContractOp>(op))
    return !contract.getAccumulate() &&
           operand.getOperandNumber() >= contract.getInputs().size();
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return &operand == &copy.getTargetMutable();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && writesAll(linalgOp, operand);
}

/// Where the one op of the kernel that touches it overwrites it.
bool BufferOverwrites::isOverwrittenBy(func::FuncOp kernel, unsigned argument) {
  auto [entry, isNew] = arguments.try_emplace({kernel, argument}, false);
  if (!isNew || kernel.isDeclaration())
    return entry->second;
  SmallVector<OpOperand *> uses;
  forEachAccess(kernel.getArgument(argument),
                [&](OpOperand &use) { uses.push_back(&use); });
  entry->second = uses.size() == 1 && isWhole(uses.front()->get()) &&
                  uses.front()->getOwner()->getParentOp() == kernel &&
                  overwritesAll(*uses.front());
  return entry->second;
}

bool BufferOverwrites::overwrites(OpOperand &operand) {
  if (!isWhole(operand.get()))
    return false;
  auto launch = dyn_cast<LaunchOp>(operand.getOwner());
  if (!launch)
    return overwritesAll(operand);
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  return kernel && isOverwrittenBy(kernel, operand.getOperandNumber());
}
