//===- VerifyStep.cpp - What a training step may consist of ---------------===//

#include "StepArguments.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/SdyDialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace amsp {
#define GEN_PASS_DEF_VERIFYSTEP
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

static LogicalResult verifyType(Operation *op, Type type, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return op->emitError() << what << " is no tensor of static shape: " << type;
  return success();
}

/// The floats that code generation and XLA on CPU both compute in.
static bool isComputedFloat(Type element) {
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(element);
}

/// Types that a buffer may have where a step meets its runtime.
static LogicalResult verifyBoundaryType(func::FuncOp step, Type type,
                                        const Twine &what) {
  if (failed(verifyType(step, type, what)))
    return failure();
  Type element = cast<RankedTensorType>(type).getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  bool isExchanged =
      integer ? llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth())
              : isComputedFloat(element);
  if (!isExchanged)
    return step.emitError()
           << what
           << " has an element type that a step cannot exchange: " << type;
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  using namespace stablehlo;
  if (isa<AllGatherOp, AllReduceOp, ReduceScatterOp, AllToAllOp,
          CollectivePermuteOp, ReplicaIdOp, PartitionIdOp>(op))
    return op->emitOpError(
        "is about ranks: a step is the program of one device");
  if (isa<func::CallOp>(op))
    return op->emitOpError("cannot be inlined: its callee has no body, or is "
                           "recursive");
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    StringRef target = call.getCallTargetName();
    InFlightDiagnostic error = op->emitOpError("calls '@");
    error << target
          << "', a function of the runtime that the step was exported for";
    if (target.contains("python"))
      error << ": ranks do not call back into Python (jax.debug.print, "
               "jax.pure_callback)";
    return error;
  }
  bool isKnown =
      isa_and_nonnull<StableHLODialect, chlo::CHLODialect>(op->getDialect()) ||
      isa<func::ReturnOp>(op);
  if (!isKnown)
    return op->emitOpError("is no op of a training step");
  for (Type type : op->getResultTypes()) {
    if (failed(verifyType(op, type, "a result")))
      return failure();
    Type element = getElementTypeOrSelf(type);
    if (isa<ComplexType>(element))
      return op->emitOpError("makes complex numbers, which are not supported");
    if (isa<FloatType>(element) && !isComputedFloat(element))
      return op->emitOpError("makes values of type ")
             << element << ", in which no target computes";
  }
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock())
      return op->emitOpError("expected regions of one block");
  return success();
}

/// A module that was partitioned, or is to be, computes with ranks of its own.
static LogicalResult verifyOneDevice(ModuleOp module) {
  for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"})
    if (auto count = module->getAttrOfType<IntegerAttr>(name);
        count && count.getInt() > 1)
      return module.emitError() << "is for " << count.getInt() << " devices ('"
                                << name << "'); export the step for one device";
  for (auto mesh : module.getOps<sdy::MeshOp>())
    if (mesh.getNumDevices() > 1)
      return mesh.emitOpError("has ")
             << mesh.getNumDevices()
             << " devices; export the step for one device, without shardings";
  return success();
}

/// Meshes and shardings over one device say nothing, and code generation has no
/// use for them.
static void dropShardings(ModuleOp module, func::FuncOp step) {
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    mesh.erase();
  StringRef sharding = "sdy.sharding";
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i)
    step.removeArgAttr(i, sharding);
  for (unsigned i = 0, e = step.getNumResults(); i < e; ++i)
    step.removeResultAttr(i, StringAttr::get(step.getContext(), sharding));
}

namespace {
struct VerifyStep : amsp::impl::VerifyStepBase<VerifyStep> {
  void runOnOperation() override {
    if (failed(verifyOneDevice(getOperation())))
      return signalPassFailure();
    FailureOr<func::FuncOp> step = getStep(getOperation());
    if (failed(step) || failed(verify(*step)))
      return signalPassFailure();
    dropShardings(getOperation(), *step);
  }

private:
  static LogicalResult verify(func::FuncOp step) {
    for (auto [index, type] : llvm::enumerate(step.getArgumentTypes()))
      if (failed(verifyBoundaryType(step, type, "argument " + Twine(index))))
        return failure();
    for (auto [index, type] : llvm::enumerate(step.getResultTypes()))
      if (failed(verifyBoundaryType(step, type, "result " + Twine(index))))
        return failure();
    if (!step.getBody().hasOneBlock())
      return step.emitError("expected a step of one block");
    WalkResult result = step.getBody().walk([](Operation *op) {
      return failed(verifyOp(op)) ? WalkResult::interrupt()
                                  : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
