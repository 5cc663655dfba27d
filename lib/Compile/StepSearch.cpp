//===- StepSearch.cpp - Microbatches and recomputation --------------------===//

#include "StepSearch.h"
#include "amsp/Compile/FormatLocation.h"
#include "amsp/Compile/TooLargeError.h"
#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Planner/EqualTimes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace amsp;
using llvm::Error;
using llvm::Expected;

/// 1, 2, 4, …, as long as they divide each rank's rows.
static SmallVector<int64_t> getMicrobatchCounts(func::FuncOp step,
                                                int64_t ranks) {
  auto divides = [&](int64_t count) {
    return llvm::all_of(step.getArguments(), [&](BlockArgument argument) {
      auto role =
          step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
      auto type = cast<RankedTensorType>(argument.getType());
      return !role || role.getValue() != Role::Batch ||
             (type.getDimSize(0) >= count * ranks &&
              type.getDimSize(0) % (count * ranks) == 0);
    });
  };
  bool hasBatch =
      llvm::any_of(step.getArguments(), [&](BlockArgument argument) {
        auto role =
            step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
        return role && role.getValue() == Role::Batch;
      });
  SmallVector<int64_t> counts = {1};
  while (hasBatch && divides(counts.back() * 2))
    counts.push_back(counts.back() * 2);
  return counts;
}

/// The step in so many microbatches. Null, with the reason, if it is no sum
/// over rows.
static OwningOpRef<ModuleOp> splitStep(ModuleOp step, int64_t microbatches,
                                       std::string &refusal) {
  OwningOpRef<ModuleOp> copy(step.clone());
  ScopedDiagnosticHandler keepFirst(
      step.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            refusal.empty())
          refusal = formatLocation(diagnostic.getLocation()) + diagnostic.str();
        return success();
      });
  StepChanges changes;
  changes.microbatches = microbatches;
  if (Error error = changeStep(*copy, changes)) {
    consumeError(std::move(error));
    return nullptr;
  }
  return copy;
}

namespace {
/// Compares the changed steps.
class StepSearch {
public:
  StepSearch(const PlanningOptions &options,
             llvm::function_ref<Expected<PlannedStep>(ModuleOp)> findPlan)
      : options(options), findPlan(findPlan) {}

  Error addMicrobatches(ModuleOp step, int64_t microbatches);
  Expected<PlannedStep> take(std::string refusal);

private:
  Error add(ModuleOp step, StepChanges changes);

  const PlanningOptions &options;
  llvm::function_ref<Expected<PlannedStep>(ModuleOp)> findPlan;
  std::vector<StepVariant> variants;
  std::vector<PlannedStep> found; // of those that fit
  /// If none fits, what the smallest changed step said, and its bytes.
  std::string tooLarge;
  double leastBytes = std::numeric_limits<double>::infinity();
};
} // namespace

/// `step`: changed already.
Error StepSearch::add(ModuleOp step, StepChanges changes) {
  StepVariant &variant = variants.emplace_back();
  variant.changes = std::move(changes);
  Expected<PlannedStep> planned = findPlan(step);
  if (!planned)
    return handleErrors(planned.takeError(), [&](const TooLargeError &error) {
      if (error.getLeastBytes() >= leastBytes)
        return;
      leastBytes = error.getLeastBytes();
      std::string how = describeChanges(variant.changes);
      tooLarge = error.message() + (how.empty() ? "" : "; that is with " + how);
    });
  const Finalist &best = planned->getBest();
  variant.secondsAndBytes = {best.getSeconds(), best.getBytes()};
  planned->changes = variant.changes;
  found.push_back(std::move(*planned));
  return Error::success();
}

/// Nothing computed again, the first half of the units, or all that can be.
Error StepSearch::addMicrobatches(ModuleOp step, int64_t microbatches) {
  std::vector<std::string> all;
  if (options.searchRecompute)
    all = getRecomputableUnits(getStepFunction(step));
  std::optional<size_t> last;
  for (size_t count : {size_t(0), (all.size() + 1) / 2, all.size()}) {
    if (last == count)
      continue;
    last = count;
    OwningOpRef<ModuleOp> copy(step.clone());
    StepChanges changes;
    changes.recompute.assign(all.begin(), all.begin() + count);
    if (Error error = changeStep(*copy, changes))
      return error;
    changes.microbatches = microbatches;
    if (Error error = add(*copy, std::move(changes)))
      return error;
  }
  return Error::success();
}

Expected<PlannedStep> StepSearch::take(std::string refusal) {
  if (found.empty())
    return llvm::make_error<TooLargeError>(tooLarge, leastBytes);
  PlannedStep &best = found[getFirstOfFastest(
      llvm::map_to_vector(found, [](const PlannedStep &planned) {
        return planned.getBest().getSeconds();
      }))];
  best.variants = std::move(variants);
  best.splitRefusal = std::move(refusal);
  return std::move(best);
}

Expected<PlannedStep> amsp::searchSteps(
    ModuleOp step, int64_t ranks, const PlanningOptions &options,
    llvm::function_ref<Expected<PlannedStep>(ModuleOp)> findPlan) {
  SmallVector<int64_t> counts = {1};
  std::string refusal;
  if (options.searchMicrobatches) {
    counts = getMicrobatchCounts(getStepFunction(step), ranks);
    if (counts.size() == 1)
      refusal = "no number of microbatches divides the rows of a rank";
  }
  StepSearch search(options, findPlan);
  for (int64_t microbatches : counts) {
    OwningOpRef<ModuleOp> split = splitStep(step, microbatches, refusal);
    if (!split)
      break;
    if (Error error = search.addMicrobatches(*split, microbatches))
      return error;
  }
  return search.take(std::move(refusal));
}
