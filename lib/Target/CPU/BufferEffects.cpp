//===- BufferEffects.cpp - Which operands an op reads and writes ----------===//

#include "BufferEffects.h"
#include "BufferAliases.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace amsp;

/// True unless the op's effects leave the operand unwritten.
static bool mayWrite(OpOperand &operand) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(operand.getOwner());
  if (!effects)
    return true;
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](const auto &instance) {
    if (!isa<MemoryEffects::Write>(instance.getEffect()))
      return false;
    OpOperand *written = instance.template getEffectValue<OpOperand *>();
    // An effect on no particular value may be one on all.
    return written
               ? written == &operand
               : !instance.getValue() || instance.getValue() == operand.get();
  });
}

const llvm::BitVector &BufferEffects::getWrittenArguments(func::FuncOp kernel) {
  auto [entry, isNew] = kernels.try_emplace(kernel);
  if (!isNew)
    return entry->second;
  llvm::BitVector written(kernel.getNumArguments(), kernel.isDeclaration());
  if (!kernel.isDeclaration())
    for (BlockArgument argument : kernel.getArguments())
      if (isa<MemRefType>(argument.getType()))
        forEachAccess(argument, [&](OpOperand &use) {
          if (writes(use))
            written.set(argument.getArgNumber());
        });
  // The map may have grown meanwhile.
  return kernels[kernel] = std::move(written);
}

bool BufferEffects::writes(OpOperand &operand) {
  auto launch = dyn_cast<LaunchOp>(operand.getOwner());
  if (!launch)
    return mayWrite(operand);
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  return !kernel ||
         getWrittenArguments(kernel).test(operand.getOperandNumber());
}
