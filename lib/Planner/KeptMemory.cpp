//===- KeptMemory.cpp - What a rank keeps during a step -------------------===//

#include "amsp/Planner/KeptMemory.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/AMSP/IR/PackedParameters.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Target/TensorBytes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

static int64_t getBytes(Type type) {
  return getTensorBytes(cast<RankedTensorType>(type));
}

/// What loops carry of gradients: results of loops, each once.
static llvm::SetVector<Value> findAccumulators(func::FuncOp step) {
  llvm::SetVector<Value> accumulators;
  SmallVector<Value> forward, backward;
  step.walk([&](CollectiveOpInterface op) {
    if (op.getKind() == CollectiveKind::AllGather || !op.hasParameter())
      return;
    if (op->getParentOfType<WhileOp>())
      llvm::append_range(forward, op->getResults());
    else
      llvm::append_range(backward, op->getOperands());
  });
  // A sum of this microbatch is added to what the loop hands on.
  DenseSet<Value> seen;
  while (!forward.empty()) {
    Value value = forward.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto loop = dyn_cast<WhileOp>(user->getParentOp());
          loop && user->hasTrait<OpTrait::IsTerminator>())
        accumulators.insert(loop.getResult(use.getOperandNumber()));
      else if (keepsFlatOrder(user))
        llvm::append_range(forward, user->getResults());
    }
  }
  // The sum of all microbatches is reduced on.
  while (!backward.empty()) {
    Value value = backward.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (isa<WhileOp>(op))
      accumulators.insert(value);
    else if (keepsFlatOrder(op))
      llvm::append_range(backward, op->getOperands());
  }
  return accumulators;
}

KeptMemory amsp::countKeptMemory(func::FuncOp step) {
  KeptMemory kept;
  llvm::MapVector<int64_t, int64_t> parameters; // bytes by argument
  for (BlockArgument argument : step.getArguments()) {
    auto role =
        step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
    if (role && role.getValue() == Role::Param)
      parameters[argument.getArgNumber()] = getBytes(argument.getType());
    else if (role && role.getValue() == Role::OptState)
      kept.states += getBytes(argument.getType());
  }
  step.walk([&](CollectiveOpInterface op) {
    if (op.getKind() != CollectiveKind::AllGather || op->hasAttr("window"))
      return;
    for (unsigned i = 0, e = op.getNumTensors(); i < e; ++i)
      if (std::optional<int64_t> parameter = op.getPart(i).getParameter())
        parameters[*parameter] = getBytes(op.getResultType(i));
    auto packed = getPackedParameters(op);
    if (failed(packed))
      return;
    for (const PackedParameter &moved : *packed)
      parameters[moved.parameter] =
          moved.elements * getElementBytes(op.getElementType());
  });
  for (auto [argument, bytes] : parameters)
    kept.parameters += bytes;
  for (Value accumulator : findAccumulators(step))
    kept.gradients += getBytes(accumulator.getType());
  return kept;
}
