//===- LowerKernels.cpp - Turns kernels into loops ------------------------===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace amsp {
#define GEN_PASS_DEF_LOWERKERNELS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// Lets LLVM fuse multiplications into additions, and reorder the sums of a
/// reduction so that they vectorise: both are fixed once compiled.
static void relaxArithmetic(linalg::LinalgOp op) {
  MLIRContext *context = op->getContext();
  auto relax = [&](Operation *arith, arith::FastMathFlags flags) {
    auto fastMath = dyn_cast<arith::ArithFastMathInterface>(arith);
    if (!fastMath)
      return;
    arith::FastMathFlags all =
        fastMath.getFastMathFlagsAttr().getValue() | flags;
    arith->setAttr(fastMath.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(context, all));
  };
  op->walk([&](Operation *nested) {
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(nested))
      relax(nested, arith::FastMathFlags::contract);
  });
  if (op.getNumReductionLoops() == 0)
    return;
  for (BlockArgument accumulator : op.getRegionOutputArgs())
    for (Operation *user : accumulator.getUsers())
      if (isa<arith::AddFOp, arith::MulFOp>(user))
        relax(user, arith::FastMathFlags::reassoc);
}

static LogicalResult lowerToLoops(func::FuncOp kernel, IRRewriter &rewriter) {
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    rewriter.setInsertionPoint(copy);
    linalg::CopyOp::create(rewriter, copy.getLoc(), copy.getSource(),
                           copy.getTarget());
    rewriter.eraseOp(copy);
  }
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    relaxArithmetic(op);
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitOpError("has no form as loops");
    rewriter.eraseOp(op);
  }
  return success();
}

/// Buffers are passed as bare addresses; the types say the rest.
static LogicalResult passAddresses(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  LLVMTypeConverter converter(context);
  auto pointer = LLVM::LLVMPointerType::get(context);
  OpBuilder builder(kernel.getBody());
  for (BlockArgument argument : kernel.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    argument.setType(pointer);
    Value descriptor = MemRefDescriptor::fromStaticShape(
        builder, argument.getLoc(), converter, type, argument);
    auto cast = UnrealizedConversionCastOp::create(builder, argument.getLoc(),
                                                   type, descriptor);
    argument.replaceUsesWithIf(cast.getResult(0), [&](OpOperand &use) {
      return !isa<LLVM::LLVMDialect>(use.getOwner()->getDialect());
    });
  }
  kernel.setType(
      FunctionType::get(context, kernel.getBody().getArgumentTypes(), {}));
  // Inlined into the host program, kernels would be compiled once per launch.
  kernel->setAttr("passthrough",
                  builder.getStrArrayAttr({"noinline", "nounwind"}));
  return success();
}

namespace {
struct LowerKernels : amsp::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel.isPrivate() || kernel.isDeclaration())
      return;
    IRRewriter rewriter(&getContext());
    if (failed(lowerToLoops(kernel, rewriter)) || failed(passAddresses(kernel)))
      signalPassFailure();
  }
};
} // namespace
