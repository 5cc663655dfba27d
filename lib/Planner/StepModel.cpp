//===- StepModel.cpp - What the search knows of a step --------------------===//

#include "amsp/Planner/StepModel.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Planner/OpCosts.h"
#include "amsp/Target/DataTypes.h"
#include "amsp/Target/TensorBytes.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace amsp;

int64_t StepModel::getNumLayers() const {
  int64_t layers = 0;
  for (const Unit &unit : units) {
    int64_t most = 0;
    for (const PlannedParameter &parameter : unit.parameters)
      if (parameter.gathers > 0)
        most = std::max(most, parameter.gatheredParts);
    layers += most;
  }
  return std::max<int64_t>(1, layers);
}

double StepModel::getNumEvenLayers() const {
  double all = 0, largest = 0;
  for (const Unit &unit : units) {
    double layer = 0;
    for (const PlannedParameter &parameter : unit.parameters)
      if (parameter.gathers > 0) {
        auto elements = static_cast<double>(parameter.elements);
        layer += elements / static_cast<double>(parameter.gatheredParts);
        all += elements;
      }
    largest = std::max(largest, layer);
  }
  return largest > 0 ? all / largest : 1;
}

int64_t StepModel::getNumParameterElements() const {
  int64_t elements = 0;
  for (const Unit &unit : units)
    for (const PlannedParameter &parameter : unit.parameters)
      if (parameter.restBytes > 0)
        elements += parameter.elements;
  return elements;
}

func::FuncOp amsp::getStepFunction(ModuleOp program) {
  for (auto function : program.getOps<func::FuncOp>())
    if (function.isPublic())
      return function;
  llvm_unreachable("import requires a public function");
}

namespace {
class ModelCounter {
public:
  ModelCounter(func::FuncOp step, ArrayRef<CollectiveRecord> collectives)
      : step(step), collectives(collectives) {
    countRuns();
  }

  void count(StepModel &model);

private:
  PlannedParameter describe(unsigned argument, bool isParameter) const;
  void addCollectives(unsigned argument, PlannedParameter &parameter) const;
  Unit &getUnit(StepModel &model, StringRef name);
  void countRuns();
  RankedTensorType getGlobalType(unsigned argument) const {
    return cast<RankedTensorType>(
        step.getArgAttrOfType<TypeAttr>(argument, kGlobalTypeAttr).getValue());
  }

  mutable func::FuncOp step; // accessors of ops are not const
  ArrayRef<CollectiveRecord> collectives;
  llvm::StringMap<size_t> numbers;
  /// The runs in which each parameter is gathered, and its gradient reduced.
  using Runs = std::vector<int64_t>;
  llvm::DenseMap<int64_t, Runs> gatherRuns, reductionRuns;
  /// Of each unit, the different ones of its parameters, numbered.
  llvm::StringMap<std::map<std::pair<bool, Runs>, int64_t>> runNumbers;
};
} // namespace

/// A unit's collectives are in one run as long as no other unit's come between
/// them, as amsp-fuse-collectives has it.
void ModelCounter::countRuns() {
  // The unit of the last one, and its run: of reductions, and of gathers.
  StringAttr units[2];
  int64_t run[2] = {0, 0};
  for (const CollectiveRecord &record : collectives) {
    bool isGather = record.kind == CollectiveKind::AllGather;
    for (const CollectiveTensor &tensor : record.tensors) {
      if (!tensor.parameter)
        continue;
      if (std::exchange(units[isGather], tensor.unit) != tensor.unit)
        ++run[isGather];
      Runs &runs = (isGather ? gatherRuns : reductionRuns)[*tensor.parameter];
      if (runs.empty() || runs.back() != run[isGather])
        runs.push_back(run[isGather]);
    }
  }
}

/// How many such tensors a parameter is; 1 if not all of them are moved.
static int64_t getParts(int64_t elements, const CollectiveRecord &record,
                        const CollectiveTensor &tensor) {
  int64_t part = tensor.rows * tensor.full;
  if (part == 0 || elements % part != 0)
    return 1;
  int64_t parts = elements / part;
  return record.count % parts == 0 ? parts : 1;
}

Unit &ModelCounter::getUnit(StepModel &model, StringRef name) {
  auto [number, isNew] = numbers.try_emplace(name, model.units.size());
  if (isNew)
    model.units.emplace_back().name = name;
  return model.units[number->second];
}

void ModelCounter::addCollectives(unsigned argument,
                                  PlannedParameter &parameter) const {
  bool scatters = false;
  for (const CollectiveRecord &record : collectives) {
    const auto *tensor =
        llvm::find_if(record.tensors, [&](const CollectiveTensor &tensor) {
          return tensor.parameter == static_cast<int64_t>(argument);
        });
    if (tensor == record.tensors.end())
      continue;
    auto width = static_cast<double>(getElementBytes(record.elementType));
    // A loop over layers moves one of them at a time.
    int64_t parts = getParts(parameter.elements, record, *tensor);
    if (record.kind == CollectiveKind::AllGather) {
      parameter.gathers += record.count / parts;
      parameter.gatheredParts = std::max(parameter.gatheredParts, parts);
      parameter.useBytes = width;
      continue;
    }
    parameter.gradientBytes = parameter.reductionBytes = width;
    // With everything sharded there are no replicas to sum.
    if (record.kind == CollectiveKind::AllReduce) {
      parameter.wholeElements += tensor->paddedElements;
      parameter.wholeSums = std::max(parameter.wholeSums, record.count);
      continue;
    }
    scatters = true;
    parameter.reducedParts = std::max(parameter.reducedParts, parts);
  }
  parameter.isScattered = scatters || parameter.wholeSums == 0;
}

PlannedParameter ModelCounter::describe(unsigned argument,
                                        bool isParameter) const {
  RankedTensorType global = getGlobalType(argument);
  auto width = static_cast<double>(getElementBytes(global.getElementType()));
  PlannedParameter parameter;
  parameter.elements = global.getNumElements();
  if (!isParameter) {
    parameter.stateBytes = width;
    return parameter;
  }
  parameter.restBytes = parameter.useBytes = width;
  addCollectives(argument, parameter);
  return parameter;
}

void ModelCounter::count(StepModel &model) {
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto role = step.getArgAttrOfType<RoleAttr>(index, kRoleAttr);
    auto unit = step.getArgAttrOfType<StringAttr>(index, kUnitAttr);
    // On one rank they are not cut either.
    bool isSharded = role && llvm::is_contained({Role::Param, Role::OptState},
                                                role.getValue());
    if (!isSharded || getGlobalType(index).getRank() == 0) {
      model.otherBytes += static_cast<double>(
          getTensorBytes(cast<RankedTensorType>(argument.getType())));
      continue;
    }
    bool isParameter = role.getValue() == Role::Param;
    Unit &of = getUnit(model, unit ? unit.getValue() : "rest");
    PlannedParameter &parameter = of.parameters.emplace_back();
    parameter = describe(index, isParameter);
    if (!isParameter)
      continue;
    auto &numbers = runNumbers[of.name];
    auto number = [&](bool isGather, const Runs &runs) {
      auto next = static_cast<int64_t>(numbers.size());
      return numbers.try_emplace({isGather, runs}, next).first->second;
    };
    parameter.gatherRun = number(true, gatherRuns.lookup(index));
    parameter.reductionRun = number(false, reductionRuns.lookup(index));
  }
  for (const CollectiveRecord &record : collectives)
    for (const CollectiveTensor &tensor : record.tensors) {
      if (!tensor.parameter || record.kind == CollectiveKind::AllGather)
        continue;
      // What is summed whole may be so in a loop of its own.
      if (record.kind == CollectiveKind::AllReduce &&
          getGlobalType(*tensor.parameter).getRank() > 0)
        continue;
      int64_t elements = getGlobalType(*tensor.parameter).getNumElements();
      model.microbatches =
          std::max(model.microbatches,
                   record.count / getParts(elements, record, tensor));
    }
}

std::pair<double, double> amsp::getSeconds(ArrayRef<CollectiveRecord> records,
                                           const CollectiveModel &collectives) {
  double ofParameters = 0, others = 0;
  for (const CollectiveRecord &record : records) {
    double seconds = static_cast<double>(record.count) *
                     getCollectiveSeconds(record, collectives);
    (record.hasParameter() ? ofParameters : others) += seconds;
  }
  return {ofParameters, others};
}

/// Seconds of collectives that move no parameter, in a block, where small sums
/// that do not need each other become one, as amsp-fuse-collectives has it.
static double getFusedSeconds(ArrayRef<const CollectiveRecord *> ofBlock,
                              const CollectiveModel &collectives) {
  // As much may wait for another sum.
  constexpr int64_t kSmallBytes = 4096;
  DenseMap<Operation *, const CollectiveRecord *> others;
  std::vector<CollectiveRecord> fused;
  double seconds = 0;
  for (const CollectiveRecord *record : ofBlock) {
    if (record->reduction && record->getPaddedBytes() <= kSmallBytes)
      others[record->op] = record;
    else
      seconds += static_cast<double>(record->count) *
                 getCollectiveSeconds(*record, collectives);
  }
  // How many such sums each value needs, one after the other.
  DenseMap<Value, int64_t> depths;
  std::map<size_t, int64_t> depthOf;
  for (Operation &op : *ofBlock.front()->op->getBlock()) {
    int64_t depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    if (const CollectiveRecord *record = others.lookup(&op)) {
      auto same = llvm::find_if(fused, [&](const CollectiveRecord &other) {
        return depthOf[&other - fused.data()] == depth &&
               other.kind == record->kind && other.group == record->group &&
               other.elementType == record->elementType &&
               other.reduction == record->reduction;
      });
      if (same != fused.end()) {
        same->tensors.append(record->tensors);
      } else {
        depthOf[fused.size()] = depth;
        fused.push_back(*record);
      }
      ++depth;
    }
    for (Value result : op.getResults())
      if (depth > 0)
        depths[result] = depth;
  }
  for (const CollectiveRecord &record : fused)
    seconds += static_cast<double>(record.count) *
               getCollectiveSeconds(record, collectives);
  return seconds;
}

static double getFusedOtherSeconds(ArrayRef<CollectiveRecord> records,
                                   const CollectiveModel &collectives) {
  llvm::MapVector<Block *, SmallVector<const CollectiveRecord *>> blocks;
  for (const CollectiveRecord &record : records)
    if (!record.hasParameter())
      blocks[record.op->getBlock()].push_back(&record);
  double seconds = 0;
  for (auto &[block, ofBlock] : blocks)
    seconds += getFusedSeconds(ofBlock, collectives);
  return seconds;
}

FailureOr<StepModel> amsp::countStepModel(ModuleOp program,
                                          const Device &device,
                                          const CollectiveModel &collectives) {
  func::FuncOp step = getStepFunction(program);
  SmallVector<CollectiveRecord> records = collectCollectives(step);
  StepModel model;
  ModelCounter(step, records).count(model);
  model.otherSeconds = getSeconds(records, collectives).second;
  model.fusedOtherSeconds = getFusedOtherSeconds(records, collectives);
  FailureOr<ProgramCosts> costs = estimateProgram(step, device);
  if (failed(costs))
    return failure();
  model.costs = *costs;
  return model;
}
