//===- StepArguments.cpp - What a step's arguments are for ----------------===//

#include "StepArguments.h"
#include "amsp/Placement/Stacks.h"

using namespace mlir;
using namespace amsp;

FailureOr<func::FuncOp> amsp::getStep(ModuleOp module) {
  func::FuncOp step;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    if (step)
      return function.emitError("a second public function: a training step has "
                                "one, here '")
             << step.getName() << "'";
    step = function;
  }
  if (!step)
    return module.emitError("no public function: expected a training step");
  if (step.isDeclaration())
    return step.emitError("the training step has no body");
  return step;
}

std::optional<Role> amsp::getRole(func::FuncOp step, unsigned argument) {
  auto attr = step.getArgAttrOfType<RoleAttr>(argument, kRoleAttr);
  if (!attr)
    return std::nullopt;
  return attr.getValue();
}

std::optional<unsigned> amsp::getStateResult(func::FuncOp step,
                                             unsigned argument) {
  auto attr = step.getArgAttrOfType<IntegerAttr>(argument, kResultAttr);
  if (!attr)
    return std::nullopt;
  return attr.getInt();
}

std::string amsp::getArgumentName(func::FuncOp step, unsigned argument) {
  if (auto name = step.getArgAttrOfType<StringAttr>(argument, kNameAttr))
    return name.str();
  if (auto loc = dyn_cast<NameLoc>(step.getArgument(argument).getLoc()))
    return loc.getName().str();
  return "arg" + std::to_string(argument);
}

/// The placement of what is a parameter's or an optimizer state's value.
static Placement getStatePlacement(Role role, Type type, int64_t keep,
                                   unsigned strategy) {
  bool isState = role == Role::Param || role == Role::OptState;
  if (!isState || cast<RankedTensorType>(type).getRank() == 0)
    return Placement::replicated();
  return Placement::flat(ModelState::OS, keep, strategy);
}

SmallVector<Placement>
amsp::getArgumentPlacements(func::FuncOp step, ArrayRef<unsigned> strategies) {
  SmallVector<Placement> placements;
  SmallVector<int64_t> kept = findKeptDims(step);
  for (BlockArgument argument : step.getArguments()) {
    Placement &placement = placements.emplace_back();
    std::optional<Role> role = getRole(step, argument.getArgNumber());
    if (!role || cast<RankedTensorType>(argument.getType()).getRank() == 0)
      continue;
    unsigned index = argument.getArgNumber();
    if (auto keep = step.getArgAttrOfType<IntegerAttr>(index, kTrainedAttr))
      kept[index] = keep.getInt();
    if (*role == Role::Batch)
      placement = Placement::split(0);
    else
      placement = getStatePlacement(*role, argument.getType(), kept[index],
                                    strategies.empty() ? 0 : strategies[index]);
  }
  return placements;
}

PlacementAnalysis amsp::analyzeStep(func::FuncOp step, PlacementContext context,
                                    ArrayRef<unsigned> strategies,
                                    ArrayRef<unsigned> resultStrategies) {
  SmallVector<Placement> arguments = getArgumentPlacements(step, strategies);
  SmallVector<std::optional<Placement>> results(step.getNumResults());
  for (unsigned argument = 0; argument < arguments.size(); ++argument)
    if (std::optional<unsigned> result = getStateResult(step, argument))
      results[*result] = arguments[argument];
  for (unsigned i = 0; i < results.size() && !resultStrategies.empty(); ++i)
    if (auto keep = step.getResultAttrOfType<IntegerAttr>(i, kTrainedAttr))
      results[i] = getStatePlacement(
          step.getResultAttrOfType<RoleAttr>(i, kRoleAttr).getValue(),
          step.getResultTypes()[i], keep.getInt(), resultStrategies[i]);
  return PlacementAnalysis(step, arguments, results, context);
}
