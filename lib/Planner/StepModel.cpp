//===- StepModel.cpp - What the search knows of a step --------------------===//

#include "amsp/Planner/StepModel.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Planner/OpCosts.h"
#include "amsp/Target/DataTypes.h"

using namespace mlir;
using namespace amsp;

Unit StepModel::getWhole() const {
  Unit whole;
  for (const Unit &unit : units)
    llvm::append_range(whole.parameters, unit.parameters);
  return whole;
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
      : step(step), collectives(collectives) {}

  void count(StepModel &model);

private:
  PlannedParameter describe(unsigned argument, bool isParameter) const;
  void addCollectives(unsigned argument, PlannedParameter &parameter) const;
  Unit &getUnit(StepModel &model, StringRef name);

  mutable func::FuncOp step; // accessors of ops are not const
  ArrayRef<CollectiveRecord> collectives;
  llvm::StringMap<size_t> numbers;
};
} // namespace

Unit &ModelCounter::getUnit(StepModel &model, StringRef name) {
  auto [number, isNew] = numbers.try_emplace(name, model.units.size());
  if (isNew)
    model.units.emplace_back().name = name;
  return model.units[number->second];
}

void ModelCounter::addCollectives(unsigned argument,
                                  PlannedParameter &parameter) const {
  for (const CollectiveRecord &record : collectives) {
    bool isOfArgument =
        llvm::any_of(record.tensors, [&](const CollectiveTensor &tensor) {
          return tensor.parameter == static_cast<int64_t>(argument);
        });
    if (!isOfArgument)
      continue;
    auto width = static_cast<double>(getElementBytes(record.elementType));
    if (record.kind == CollectiveKind::AllGather) {
      parameter.gathers += record.count;
      parameter.useBytes = width;
    } else {
      parameter.gradientBytes = parameter.reductionBytes = width;
    }
  }
}

PlannedParameter ModelCounter::describe(unsigned argument,
                                        bool isParameter) const {
  auto global = cast<RankedTensorType>(
      step.getArgAttrOfType<TypeAttr>(argument, kGlobalTypeAttr).getValue());
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
    auto global = step.getArgAttrOfType<TypeAttr>(index, kGlobalTypeAttr);
    if (!isSharded ||
        cast<RankedTensorType>(global.getValue()).getRank() == 0) {
      auto type = cast<RankedTensorType>(argument.getType());
      model.otherBytes += static_cast<double>(
          type.getNumElements() * getElementBytes(type.getElementType()));
      continue;
    }
    bool isParameter = role.getValue() == Role::Param;
    getUnit(model, unit ? unit.getValue() : "rest")
        .parameters.push_back(describe(index, isParameter));
  }
  for (const CollectiveRecord &record : collectives)
    if (record.hasParameter() && record.kind != CollectiveKind::AllGather)
      model.microbatches = std::max(model.microbatches, record.count);
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

FailureOr<StepModel> amsp::countStepModel(ModuleOp program,
                                          const Device &device,
                                          const CollectiveModel &collectives) {
  func::FuncOp step = getStepFunction(program);
  FailureOr<SmallVector<CollectiveRecord>> records = collectCollectives(step);
  if (failed(records))
    return failure();
  StepModel model;
  ModelCounter(step, *records).count(model);
  model.otherSeconds = getSeconds(*records, collectives).second;
  FailureOr<ProgramCosts> costs = estimateProgram(step, device);
  if (failed(costs))
    return failure();
  model.costs = *costs;
  return model;
}
