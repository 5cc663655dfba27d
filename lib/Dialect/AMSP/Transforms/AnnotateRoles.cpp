//===- AnnotateRoles.cpp - What each argument of a step is for ------------===//

#include "StepArguments.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Placement/Units.h"

namespace amsp {
#define GEN_PASS_DEF_ANNOTATEROLES
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// What JAX writes on an argument whose buffer a result takes over.
static constexpr StringLiteral kAliasAttr = "tf.aliasing_output";

namespace {
/// Finds the roles of one step's arguments.
class RoleFinder {
public:
  RoleFinder(func::FuncOp step, ArrayRef<std::string> batchArgs)
      : step(step), batchArgs(batchArgs), roles(step.getNumArguments()),
        units(step.getNumArguments()) {}

  LogicalResult run() {
    if (failed(findState()) || failed(findBatch()))
      return failure();
    findParameters();
    findCompanions();
    writeAttributes();
    return success();
  }

private:
  LogicalResult findState();
  LogicalResult findBatch();
  FailureOr<unsigned> resolveArgument(StringRef text);
  void findParameters();
  void findCompanions();
  bool adoptUnit(unsigned argument, Value from);
  void writeAttributes();

  RankedTensorType getType(unsigned argument) {
    return cast<RankedTensorType>(step.getArgument(argument).getType());
  }
  bool isState(unsigned argument) { return stateResults.contains(argument); }

  func::FuncOp step;
  ArrayRef<std::string> batchArgs;
  SmallVector<std::optional<Role>> roles;
  SmallVector<std::string> units;
  /// Result by state argument.
  llvm::MapVector<unsigned, unsigned> stateResults;
};
} // namespace

LogicalResult RoleFinder::findState() {
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto alias = step.getArgAttrOfType<IntegerAttr>(i, kAliasAttr);
    if (!alias)
      continue;
    int64_t result = alias.getInt();
    if (result < 0 || result >= step.getNumResults())
      return step.emitError("argument ")
             << i << " aliases result " << result << ", but there are "
             << step.getNumResults() << " results";
    if (step.getResultTypes()[result] != step.getArgument(i).getType())
      return step.emitError("argument ")
             << i << " aliases result " << result << " of another type";
    for (auto [other, taken] : stateResults)
      if (taken == result)
        return step.emitError("arguments ")
               << other << " and " << i << " alias the same result " << result;
    stateResults[i] = result;
    roles[i] = Role::State;
  }
  if (stateResults.empty())
    return step.emitError(
        "no state found: no argument aliases a result (tf.aliasing_output); "
        "export the step with its state donated (donate_argnums)");
  return success();
}

FailureOr<unsigned> RoleFinder::resolveArgument(StringRef text) {
  unsigned index;
  if (!text.getAsInteger(10, index)) {
    if (index < step.getNumArguments())
      return index;
  } else {
    for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i)
      if (getArgumentName(step, i) == text)
        return i;
  }
  return step.emitError("no argument '")
         << text << "': the step has " << step.getNumArguments()
         << " arguments";
}

LogicalResult RoleFinder::findBatch() {
  for (StringRef text : batchArgs) {
    FailureOr<unsigned> argument = resolveArgument(text);
    if (failed(argument))
      return failure();
    if (isState(*argument))
      return step.emitError("batch argument '") << text << "' is state";
    if (getType(*argument).getRank() == 0)
      return step.emitError("batch argument '") << text << "' is a scalar";
    roles[*argument] = Role::Batch;
  }
  SmallVector<unsigned> candidates;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    if (roles[i])
      continue;
    roles[i] = Role::Constant;
    if (getType(i).getRank() > 0)
      candidates.push_back(i);
  }
  if (!batchArgs.empty())
    return success();
  auto differs = [&](unsigned i) {
    return getType(i).getDimSize(0) !=
           getType(candidates.front()).getDimSize(0);
  };
  if (candidates.empty() || llvm::any_of(candidates, differs)) {
    InFlightDiagnostic error = step.emitError(
        candidates.empty()
            ? "no batch found: no argument beside the state has dimensions"
            : "ambiguous batch arguments: the arguments that are not state "
              "differ in their leading dimension; name the batch with "
              "--batch-args. Candidates:");
    for (unsigned i : candidates)
      error << " " << i << " '" << getArgumentName(step, i) << "' "
            << getType(i) << (i == candidates.back() ? "" : ",");
    return error;
  }
  for (unsigned i : candidates)
    roles[i] = Role::Batch;
  return success();
}

/// True if values computed from the argument alone meet rows of the batch.
static bool isReadByRows(BlockArgument argument,
                         const PlacementAnalysis &analysis) {
  auto isSplit = [&](Value value) {
    return analysis.getPlacement(value).isSplit();
  };
  SmallVector<Value> worklist = {argument};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
        unsigned index = use.getOperandNumber();
        worklist.append({loop.getBody().getArgument(index),
                         loop.getCond().getArgument(index),
                         loop.getResult(index)});
        continue;
      }
      if (op->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (llvm::any_of(op->getOperands(), isSplit) ||
          llvm::any_of(op->getResults(), isSplit))
        return true;
      for (Value result : op->getResults())
        if (analysis.getPlacement(result).isReplicated())
          worklist.push_back(result);
    }
  }
  return false;
}

void RoleFinder::findParameters() {
  SmallVector<Placement> placements;
  for (auto [role, argument] : llvm::zip_equal(roles, step.getArguments())) {
    bool isBatch = *role == Role::Batch;
    placements.push_back(isBatch ? Placement::split(0)
                                 : Placement::replicated());
  }
  SmallVector<std::optional<Placement>> results(step.getNumResults());
  PlacementAnalysis analysis(step, placements, results, PlacementContext());
  for (auto [argument, result] : stateResults) {
    if (!isa<FloatType>(getType(argument).getElementType()) ||
        !isReadByRows(step.getArgument(argument), analysis))
      continue;
    roles[argument] = Role::Param;
    units[argument] = getUnitName(step.getArgument(argument));
  }
}

/// Takes the unit of a parameter, or of one of its companions, whose value
/// flows elementwise into `from`.
bool RoleFinder::adoptUnit(unsigned argument, Value from) {
  for (Value source : getFlatSources(from)) {
    auto other = dyn_cast<BlockArgument>(source);
    if (!other || other.getOwner() != &step.getBody().front())
      continue;
    unsigned index = other.getArgNumber();
    if (index == argument || units[index].empty())
      continue;
    roles[argument] = Role::OptState;
    units[argument] = units[index];
    return true;
  }
  return false;
}

void RoleFinder::findCompanions() {
  Operation *terminator = step.getBody().front().getTerminator();
  // States that flow into a parameter's new value (moments).
  for (auto [parameter, result] : stateResults) {
    if (*roles[parameter] != Role::Param)
      continue;
    for (Value source : getFlatSources(terminator->getOperand(result))) {
      auto argument = dyn_cast<BlockArgument>(source);
      if (!argument || argument.getOwner() != &step.getBody().front() ||
          !isState(argument.getArgNumber()) ||
          *roles[argument.getArgNumber()] != Role::State)
        continue;
      roles[argument.getArgNumber()] = Role::OptState;
      units[argument.getArgNumber()] = units[parameter];
    }
  }
  // States that such values flow into (averages of parameters).
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto [argument, result] : stateResults)
      if (*roles[argument] == Role::State && getType(argument).getRank() > 0)
        changed |= adoptUnit(argument, terminator->getOperand(result));
  }
}

void RoleFinder::writeAttributes() {
  Builder builder(step.getContext());
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto set = [&](StringRef name, Attribute value) {
      step.setArgAttr(i, name, value);
    };
    step.removeArgAttr(i, kAliasAttr);
    set(kRoleAttr, RoleAttr::get(step.getContext(), *roles[i]));
    if (isa<NameLoc>(step.getArgument(i).getLoc()))
      set(kNameAttr, builder.getStringAttr(getArgumentName(step, i)));
    if (!units[i].empty())
      set(kUnitAttr, builder.getStringAttr(units[i]));
    if (isState(i))
      set(kResultAttr, builder.getI64IntegerAttr(stateResults[i]));
  }
  SmallVector<Role> resultRoles(step.getNumResults(), Role::Output);
  for (auto [argument, result] : stateResults) {
    resultRoles[result] = *roles[argument];
    step.setResultAttr(result, kArgumentAttr,
                       builder.getI64IntegerAttr(argument));
  }
  for (auto [result, role] : llvm::enumerate(resultRoles))
    step.setResultAttr(result, kRoleAttr,
                       RoleAttr::get(step.getContext(), role));
}

namespace {
struct AnnotateRoles : amsp::impl::AnnotateRolesBase<AnnotateRoles> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = getStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    SmallVector<std::string> names(batchArgs.begin(), batchArgs.end());
    if (failed(RoleFinder(*step, names).run()))
      return signalPassFailure();
  }
};
} // namespace
