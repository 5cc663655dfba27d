//===- AnnotateRoles.cpp - What each argument of a step is for ------------===//

#include "StateOf.h"
#include "StatePairs.h"
#include "StepArguments.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Placement/StepAttributes.h"
#include "amsp/Placement/UnitStrategies.h"
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
/// What the user says of arguments.
struct RoleOverrides {
  SmallVector<std::string> batchArgs; // ARG
  SmallVector<std::string> stateArgs; // ARG=RESULT
  SmallVector<std::string> roles;     // ARG=ROLE
  /// The compiled step, or its manifest, whose state this one takes or makes.
  std::string stateOf;
};

/// Finds the roles of one step's arguments.
class RoleFinder {
public:
  RoleFinder(func::FuncOp step, const RoleOverrides &overrides)
      : step(step), overrides(overrides), roles(step.getNumArguments()),
        units(step.getNumArguments()) {}

  LogicalResult run() {
    bool isTraining = overrides.stateOf.empty();
    if (failed(readBatchArgs()) ||
        failed(isTraining ? findState() : adoptState()) || failed(findBatch()))
      return failure();
    if (isTraining)
      findParameters();
    if (failed(applyRoles()))
      return failure();
    findCompanions();
    writeAttributes();
    return success();
  }

private:
  LogicalResult readBatchArgs();
  LogicalResult findState();
  LogicalResult adoptState();
  LogicalResult readAliases();
  LogicalResult readStateArgs();
  void findStateByStructure();
  LogicalResult addState(unsigned argument, int64_t result, bool isAlias);
  LogicalResult findBatch();
  LogicalResult applyRoles();
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
  const RoleOverrides &overrides;
  SmallVector<std::optional<Role>> roles;
  SmallVector<std::string> units;
  /// Result by state argument.
  llvm::MapVector<unsigned, unsigned> stateResults;
  /// The other way round, of those that were named.
  llvm::DenseMap<unsigned, unsigned> argumentOfResult;
  /// Trained values by argument or, of an initialisation step, by result.
  TrainedState trained;
  SmallVector<const TrainedValue *> trainedArguments, trainedResults;
};
} // namespace

/// `isAlias`: for messages.
LogicalResult RoleFinder::addState(unsigned argument, int64_t result,
                                   bool isAlias) {
  StringRef takes = isAlias ? " aliases result " : " takes result ";
  if (result < 0 || result >= step.getNumResults())
    return step.emitError("argument ")
           << argument << takes << result << ", but there are "
           << step.getNumResults() << " results";
  if (step.getResultTypes()[result] != step.getArgument(argument).getType())
    return step.emitError("argument ")
           << argument << takes << result << " of another type";
  auto [taken, isFree] = argumentOfResult.try_emplace(result, argument);
  if (!isFree)
    return step.emitError("arguments ")
           << taken->second << " and " << argument
           << (isAlias ? " alias" : " take") << " the same result " << result;
  stateResults[argument] = result;
  roles[argument] = Role::State;
  return success();
}

LogicalResult RoleFinder::readAliases() {
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i)
    if (auto alias = step.getArgAttrOfType<IntegerAttr>(i, kAliasAttr))
      if (failed(addState(i, alias.getInt(), /*isAlias=*/true)))
        return failure();
  return success();
}

LogicalResult RoleFinder::readStateArgs() {
  for (StringRef text : overrides.stateArgs) {
    auto [name, number] = text.rsplit('=');
    int64_t result;
    if (number.getAsInteger(10, result))
      return step.emitError("state-args: expected ARGUMENT=RESULT, not '")
             << text << "'";
    FailureOr<unsigned> argument = resolveArgument(name);
    if (failed(argument) ||
        failed(addState(*argument, result, /*isAlias=*/false)))
      return failure();
  }
  return success();
}

void RoleFinder::findStateByStructure() {
  auto isCandidate = [&](unsigned argument) { return !roles[argument]; };
  SmallVector<StatePair> pairs = findStatePairs(step, isCandidate);
  for (auto [argument, result] : pairs) {
    stateResults[argument] = result;
    roles[argument] = Role::State;
  }
  if (stateResults.empty())
    return;
  InFlightDiagnostic remark =
      step.emitRemark("no argument aliases a result; taken for state: ");
  for (auto [argument, result] : stateResults)
    remark << (argument == stateResults.front().first ? "" : ", ") << argument
           << " '" << getArgumentName(step, argument) << "' = result "
           << result;
  // As a rate and a loss are, or a loss and the last one.
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    if (roles[i])
      continue;
    SmallVector<unsigned> results = findPossibleResults(step, pairs, i);
    if (results.empty())
      continue;
    remark << "; " << i << " '" << getArgumentName(step, i)
           << "' stays as it is: if result ";
    llvm::interleave(
        results, [&](unsigned result) { remark << result; },
        [&] { remark << " or "; });
    remark << " is its new value, name it with --state-args";
  }
}

/// An evaluation step takes state of another step, an initialisation step makes
/// it.
LogicalResult RoleFinder::adoptState() {
  llvm::Expected<TrainedState> read =
      readTrainedState(overrides.stateOf, step.getContext());
  if (!read)
    return step.emitError(llvm::toString(read.takeError()));
  trained = std::move(*read);
  FailureOr<SmallVector<const TrainedValue *>> arguments =
      matchArguments(step, trained);
  if (failed(arguments))
    return failure();
  trainedArguments = std::move(*arguments);
  for (auto [argument, value] : llvm::enumerate(trainedArguments)) {
    if (!value)
      continue;
    if (roles[argument])
      return step.emitError("batch argument '")
             << getArgumentName(step, argument) << "' is state";
    roles[argument] = value->role;
    units[argument] = value->unit;
  }
  if (llvm::any_of(trainedArguments, [](auto *value) { return value; }))
    return success();
  FailureOr<SmallVector<const TrainedValue *>> results =
      matchResults(step, trained);
  if (failed(results))
    return failure();
  trainedResults = std::move(*results);
  return success();
}

LogicalResult RoleFinder::findState() {
  if (failed(overrides.stateArgs.empty() ? readAliases() : readStateArgs()))
    return failure();
  if (stateResults.empty())
    findStateByStructure();
  if (stateResults.empty())
    return step.emitError(
        "no state found: no argument aliases a result (tf.aliasing_output), "
        "nor does a result look like an argument's new value; export the step "
        "with its state donated (donate_argnums), or name it with "
        "--state-args");
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

LogicalResult RoleFinder::readBatchArgs() {
  for (StringRef text : overrides.batchArgs) {
    FailureOr<unsigned> argument = resolveArgument(text);
    if (failed(argument))
      return failure();
    if (getType(*argument).getRank() == 0)
      return step.emitError("batch argument '") << text << "' is a scalar";
    roles[*argument] = Role::Batch;
  }
  return success();
}

LogicalResult RoleFinder::findBatch() {
  for (StringRef text : overrides.batchArgs) {
    unsigned argument = *resolveArgument(text);
    if (isState(argument))
      return step.emitError("batch argument '") << text << "' is state";
  }
  SmallVector<unsigned> candidates;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    if (roles[i])
      continue;
    roles[i] = Role::Constant;
    if (getType(i).getRank() > 0)
      candidates.push_back(i);
  }
  // What makes state needs no batch.
  if (!overrides.batchArgs.empty() || !trainedResults.empty())
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
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    bool mayBeParam =
        isState(i) || (*roles[i] == Role::Constant && getType(i).getRank() > 0);
    if (!mayBeParam || !isa<FloatType>(getType(i).getElementType()) ||
        !isReadByRows(step.getArgument(i), analysis))
      continue;
    roles[i] = Role::Param;
    units[i] = getUnitName(step.getArgument(i));
  }
}

LogicalResult RoleFinder::applyRoles() {
  for (StringRef text : overrides.roles) {
    auto [name, roleText] = text.rsplit('=');
    std::optional<Role> role = symbolizeRole(roleText);
    if (!role || *role == Role::Batch || *role == Role::Output)
      return step.emitError("roles: expected ARGUMENT=param, opt_state, state "
                            "or constant, not '")
             << text << "'";
    FailureOr<unsigned> argument = resolveArgument(name);
    if (failed(argument))
      return failure();
    bool mustBeState = *role == Role::OptState || *role == Role::State;
    if (isState(*argument) ? *role == Role::Constant : mustBeState)
      return step.emitError("roles: argument '")
             << name << "' is " << (isState(*argument) ? "" : "not ")
             << "state, so it cannot be " << roleText;
    roles[*argument] = *role;
    units[*argument] = mustBeState || *role == Role::Constant
                           ? ""
                           : getUnitName(step.getArgument(*argument));
  }
  return success();
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
  // States that flow into a parameter's new value (moments). A matrix update
  // transposes what is tall, and its result back.
  for (auto [parameter, result] : stateResults) {
    if (*roles[parameter] != Role::Param)
      continue;
    Value updated = terminator->getOperand(result);
    llvm::SetVector<Value> elementwise = getFlatSources(updated);
    for (Value source : getTransposedSources(updated)) {
      auto argument = dyn_cast<BlockArgument>(source);
      if (!argument || argument.getOwner() != &step.getBody().front() ||
          !isState(argument.getArgNumber()) ||
          *roles[argument.getArgNumber()] != Role::State)
        continue;
      bool isAlike = getType(argument.getArgNumber()).getShape() ==
                     getType(parameter).getShape();
      if (!isAlike && !elementwise.contains(source))
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
  StepAttributes attributes(step);
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    NamedAttrList &list = attributes.ofArgument(i);
    list.erase(kAliasAttr);
    list.set(kRoleAttr, RoleAttr::get(step.getContext(), *roles[i]));
    if (isa<NameLoc>(step.getArgument(i).getLoc()))
      list.set(kNameAttr, builder.getStringAttr(getArgumentName(step, i)));
    if (!units[i].empty())
      list.set(kUnitAttr, builder.getStringAttr(units[i]));
    if (isState(i))
      list.set(kResultAttr, builder.getI64IntegerAttr(stateResults[i]));
  }
  auto setTrained = [&](NamedAttrList &list, const TrainedValue &value) {
    list.set(kTrainedAttr, builder.getI64IntegerAttr(value.keep));
    if (value.strategy)
      list.set(kStrategyAttr, value.strategy);
  };
  for (auto [argument, value] : llvm::enumerate(trainedArguments))
    if (value)
      setTrained(attributes.ofArgument(argument), *value);
  SmallVector<Role> resultRoles(step.getNumResults(), Role::Output);
  for (auto [result, value] : llvm::enumerate(trainedResults)) {
    if (!value)
      continue;
    resultRoles[result] = value->role;
    setTrained(attributes.ofResult(result), *value);
  }
  for (auto [argument, result] : stateResults) {
    resultRoles[result] = *roles[argument];
    attributes.ofResult(result).set(kArgumentAttr,
                                    builder.getI64IntegerAttr(argument));
  }
  for (auto [result, role] : llvm::enumerate(resultRoles))
    attributes.ofResult(result).set(kRoleAttr,
                                    RoleAttr::get(step.getContext(), role));
  attributes.write();
}

namespace {
struct AnnotateRoles : amsp::impl::AnnotateRolesBase<AnnotateRoles> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = getStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    RoleOverrides overrides;
    overrides.batchArgs.assign(batchArgs.begin(), batchArgs.end());
    overrides.stateArgs.assign(stateArgs.begin(), stateArgs.end());
    overrides.roles.assign(roles.begin(), roles.end());
    overrides.stateOf = stateOf;
    if (failed(RoleFinder(*step, overrides).run()))
      return signalPassFailure();
  }
};
} // namespace
