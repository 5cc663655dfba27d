//===- Manifest.cpp - What a compiled step says about itself --------------===//

#include "amsp/Target/Manifest.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Placement/UnitStrategies.h"
#include "amsp/Target/DataTypes.h"
#include "amsp/Target/TensorBytes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace amsp;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

int64_t CollectiveRecord::getPaddedElements() const {
  int64_t elements = 0;
  for (const CollectiveTensor &tensor : tensors)
    elements += tensor.paddedElements;
  return elements;
}

int64_t CollectiveRecord::getPaddedBytes() const {
  return getPaddedElements() * getElementBytes(elementType);
}

SmallVector<PackedParameter, 0> CollectiveTensor::getParameters() const {
  if (parameter)
    return {{*parameter, paddedElements}};
  return packed;
}

double CollectiveRecord::getSentElements(int64_t paddedElements) const {
  auto members = static_cast<double>(group.getSize());
  double passes = kind == CollectiveKind::AllReduce ? 2 : 1;
  return passes * static_cast<double>(paddedElements) * (members - 1) / members;
}

double CollectiveRecord::getSentElements() const {
  double elements = 0;
  for (const CollectiveTensor &tensor : tensors)
    elements += getSentElements(tensor.paddedElements);
  return elements;
}

bool CollectiveRecord::hasParameter() const {
  return llvm::any_of(tensors, [](const CollectiveTensor &tensor) {
    return tensor.parameter || tensor.unit;
  });
}

std::optional<int64_t> CollectiveRecord::getParameter() const {
  return tensors.size() == 1 ? tensors.front().parameter : std::nullopt;
}

StringAttr CollectiveRecord::getUnit() const {
  StringAttr unit = tensors.front().unit;
  bool isShared = llvm::all_of(tensors, [&](const CollectiveTensor &tensor) {
    return tensor.unit == unit;
  });
  return isShared ? unit : StringAttr();
}

static CollectiveTensor describeTensor(CollectiveOpInterface op,
                                       unsigned index) {
  PartAttr part = op.getPart(index);
  RankedTensorType full = op.getFullType(index);
  CollectiveTensor tensor{};
  tensor.parameter = part.getParameter();
  tensor.unit = part.getUnit();
  if (op.getKind() == CollectiveKind::AllReduce) {
    tensor.rows = 1;
    tensor.full = tensor.piece = tensor.paddedElements = full.getNumElements();
    return tensor;
  }
  int64_t kept = part.getDim().value_or(part.getKeep());
  ArrayRef<int64_t> shape = full.getShape();
  tensor.rows = ShapedType::getNumElements(shape.take_front(kept));
  tensor.full = ShapedType::getNumElements(shape.drop_front(kept));
  bool isEqual = part.getDim() || op.getKind() == CollectiveKind::AllToAll;
  tensor.piece = isEqual ? tensor.full / op.getGroup().getSize()
                         : op.getPieceType(index).getShape().back();
  tensor.paddedElements = tensor.rows * tensor.piece * op.getGroup().getSize();
  return tensor;
}

/// `kind.id of unit`, with the units of all tensors counted.
static std::string makeName(const CollectiveRecord &record) {
  std::string name =
      (stringifyCollectiveKind(record.kind) + "." + Twine(record.id)).str();
  llvm::SetVector<StringAttr> units;
  for (const CollectiveTensor &tensor : record.tensors)
    if (tensor.unit)
      units.insert(tensor.unit);
  if (!units.empty())
    name += (" of " + units.front().getValue()).str();
  if (units.size() > 1)
    name += llvm::formatv(" and {0} more", units.size() - 1);
  return name;
}

namespace {
struct RunsPerStep {
  int64_t count = 1;
  /// False if a loop runs until its condition fails: all ranks agree when, as
  /// they have the same condition, but nobody knows before.
  bool isKnown = true;
};
} // namespace

/// How often the body of `op` runs each time; 1 if it is no loop.
static std::optional<int64_t> getTrips(Operation *op) {
  if (auto count = op->getAttrOfType<IntegerAttr>("amsp.trip_count"))
    return count.getInt();
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return getLoopTripCount(loop);
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return 1;
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips)
    return std::nullopt;
  return trips->getSExtValue();
}

static RunsPerStep getRunsPerStep(Operation *op) {
  RunsPerStep runs;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    std::optional<int64_t> trips = getTrips(parent);
    runs.isKnown &= trips.has_value();
    runs.count *= trips.value_or(kUnknownTripCount);
  }
  return runs;
}

CollectiveRecord amsp::describeCollective(CollectiveOpInterface op) {
  CollectiveRecord record{};
  record.op = op;
  record.kind = op.getKind();
  record.reduction = op.getCombiner();
  record.group = op.getGroup();
  record.elementType = op.getElementType();
  for (unsigned i = 0, e = op.getNumTensors(); i < e; ++i)
    record.tensors.push_back(describeTensor(op, i));
  auto packed = getPackedParameters(op);
  if (succeeded(packed))
    record.tensors.back().packed.assign(packed->begin(), packed->end());
  return record;
}

SmallVector<CollectiveRecord> amsp::collectCollectives(func::FuncOp step) {
  SmallVector<CollectiveRecord> records;
  step.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) {
    RunsPerStep runs = getRunsPerStep(op);
    CollectiveRecord record = describeCollective(op);
    record.id = records.size();
    record.count = runs.count;
    record.isCountKnown = runs.isKnown;
    record.name = makeName(record);
    records.push_back(std::move(record));
  });
  return records;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Array toJson(ArrayRef<int64_t> values) {
  return json::Array(values);
}

static json::Array toJson(ArrayRef<Digit> digits) {
  json::Array list;
  for (const Digit &digit : digits)
    list.push_back(json::Array{digit.stride, digit.size});
  return list;
}

static json::Value toJson(PlacementAttr placement, RankedTensorType local) {
  json::Object object{
      {"kind", stringifyPlacementKind(placement.getKind()).str()}};
  if (placement.getKind() == PlacementKind::Split)
    object["dim"] = placement.getDimension();
  if (placement.getKind() == PlacementKind::Flat) {
    object["keep"] = placement.getDimension();
    object["piece"] = local.getShape().back();
  }
  if (placement.getKind() != PlacementKind::Replicated)
    object["digits"] = toJson(placement.getDigits());
  return object;
}

static json::Value textOrNull(DictionaryAttr attrs, StringRef name) {
  if (auto text = attrs.getAs<StringAttr>(name))
    return text.str();
  return nullptr;
}

/// The manifest's entry of an argument or result.
static FailureOr<json::Object> describeValue(func::FuncOp step, Type type,
                                             DictionaryAttr attrs, Role role,
                                             const Twine &what) {
  auto local = dyn_cast<RankedTensorType>(type);
  auto placement = attrs.getAs<PlacementAttr>(kPlacementAttr);
  if (!local || !local.hasStaticShape())
    return step.emitError()
           << what << " is no tensor of static shape: " << type;
  if (!placement)
    return step.emitError() << what << " has no " << kPlacementAttr;
  RankedTensorType global = local;
  if (auto attr = attrs.getAs<TypeAttr>(kGlobalTypeAttr))
    global = dyn_cast<RankedTensorType>(attr.getValue());
  else if (placement.getKind() != PlacementKind::Replicated)
    return step.emitError() << what << " has no " << kGlobalTypeAttr;
  std::optional<amsp_dtype> dtype =
      global ? getDataType(global.getElementType()) : std::nullopt;
  if (!dtype)
    return step.emitError()
           << what << " has an element type that a step cannot "
           << "exchange: " << type;
  if (auto attr = attrs.getAs<RoleAttr>(kRoleAttr))
    role = attr.getValue();
  return json::Object{{"name", textOrNull(attrs, kNameAttr)},
                      {"role", stringifyRole(role).str()},
                      {"unit", textOrNull(attrs, kUnitAttr)},
                      {"dtype", getDataTypeName(*dtype).str()},
                      {"shape", toJson(global.getShape())},
                      {"placement", toJson(placement, local)},
                      {"local_shape", toJson(local.getShape())}};
}

static bool isState(DictionaryAttr attrs) {
  auto role = attrs.getAs<RoleAttr>(kRoleAttr);
  return role && llvm::is_contained({Role::Param, Role::OptState, Role::State},
                                    role.getValue());
}

static DictionaryAttr orEmpty(DictionaryAttr attrs, MLIRContext *context) {
  return attrs ? attrs : DictionaryAttr::get(context);
}

/// Fills `arguments`, `results` and `state_bytes`.
static LogicalResult describeInterface(func::FuncOp step,
                                       json::Object &manifest) {
  MLIRContext *context = step.getContext();
  json::Array arguments, results;
  int64_t stateBytes = 0;
  for (auto [index, type] : llvm::enumerate(step.getArgumentTypes())) {
    DictionaryAttr attrs = orEmpty(step.getArgAttrDict(index), context);
    FailureOr<json::Object> value = describeValue(
        step, type, attrs, Role::Constant, "argument " + Twine(index));
    if (failed(value))
      return failure();
    if (auto result = attrs.getAs<IntegerAttr>(kResultAttr))
      (*value)["result"] = result.getInt();
    if (isState(attrs))
      stateBytes += getTensorBytes(cast<RankedTensorType>(type));
    arguments.push_back(std::move(*value));
  }
  for (auto [index, type] : llvm::enumerate(step.getResultTypes())) {
    DictionaryAttr attrs = orEmpty(step.getResultAttrDict(index), context);
    FailureOr<json::Object> value = describeValue(
        step, type, attrs, Role::Output, "result " + Twine(index));
    if (failed(value))
      return failure();
    if (auto argument = attrs.getAs<IntegerAttr>(kArgumentAttr))
      (*value)["argument"] = argument.getInt();
    results.push_back(std::move(*value));
  }
  manifest["arguments"] = std::move(arguments);
  manifest["results"] = std::move(results);
  manifest["state_bytes"] = stateBytes;
  return success();
}

/// The arguments for whose sake the tensors are moved, in their order; those of
/// a buffer's tensors in its place.
static json::Array listParameters(const CollectiveRecord &record) {
  json::Array list;
  for (const CollectiveTensor &tensor : record.tensors)
    for (const PackedParameter &moved : tensor.getParameters())
      list.push_back(moved.parameter);
  return list;
}

static json::Array describeCollectives(ArrayRef<CollectiveRecord> records) {
  json::Array list;
  for (const CollectiveRecord &record : records) {
    int64_t width = getElementBytes(record.elementType);
    bool isGather = record.kind == CollectiveKind::AllGather;
    std::optional<amsp_dtype> dtype = getDataType(record.elementType);
    list.push_back(json::Object{
        {"id", record.id},
        {"name", record.name},
        {"kind", stringifyCollectiveKind(record.kind).str()},
        {"reduction",
         record.reduction
             ? json::Value(stringifyReduction(*record.reduction).str())
             : json::Value(nullptr)},
        {"channel", isGather ? "gather" : "reduce"},
        {"dtype", dtype ? json::Value(getDataTypeName(*dtype).str())
                        : json::Value(nullptr)},
        {"digits", toJson(record.group.getDigits())},
        {"group_size", record.group.getSize()},
        {"count", record.count},
        {"count_known", record.isCountKnown},
        {"bytes", record.getPaddedBytes()},
        {"sent_bytes", record.getSentElements() * static_cast<double>(width)},
        {"tensors", static_cast<int64_t>(record.tensors.size())},
        {"parameter", record.getParameter()
                          ? json::Value(*record.getParameter())
                          : json::Value(nullptr)},
        {"parameters", listParameters(record)},
        {"unit", record.getUnit() ? json::Value(record.getUnit().str())
                                  : json::Value(nullptr)}});
  }
  return list;
}

/// Elements of an argument over all ranks that hold its pieces, padding
/// included.
static int64_t getPaddedArgumentElements(RankedTensorType local,
                                         PlacementAttr placement) {
  return local.getNumElements() * getGroupSize(placement.getDigits());
}

static json::Array describeParameters(func::FuncOp step,
                                      ArrayRef<CollectiveRecord> records) {
  json::Array list;
  for (auto [index, type] : llvm::enumerate(step.getArgumentTypes())) {
    auto role = step.getArgAttrOfType<RoleAttr>(index, kRoleAttr);
    if (!role || role.getValue() != Role::Param)
      continue;
    DictionaryAttr attrs = step.getArgAttrDict(index);
    auto local = cast<RankedTensorType>(type);
    auto global = attrs.getAs<TypeAttr>(kGlobalTypeAttr);
    int64_t gathered = 0, reduced = 0;
    double sent = 0;
    for (const CollectiveRecord &record : records) {
      bool isGather = record.kind == CollectiveKind::AllGather;
      for (const CollectiveTensor &tensor : record.tensors)
        for (const PackedParameter &moved : tensor.getParameters()) {
          if (moved.parameter != static_cast<int64_t>(index))
            continue;
          (isGather ? gathered : reduced) += record.count * moved.elements;
          sent += static_cast<double>(record.count) *
                  record.getSentElements(moved.elements);
        }
    }
    list.push_back(json::Object{
        {"argument", static_cast<int64_t>(index)},
        {"name", textOrNull(attrs, kNameAttr)},
        {"elements",
         global ? cast<RankedTensorType>(global.getValue()).getNumElements()
                : local.getNumElements()},
        {"padded", getPaddedArgumentElements(
                       local, attrs.getAs<PlacementAttr>(kPlacementAttr))},
        {"gathers", gathered},
        {"reductions", reduced},
        {"sent_elements", sent}});
  }
  return list;
}

/// A hash of the program's text, without locations.
static std::string hashProgram(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope());
  std::array<uint8_t, 32> hash =
      llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(ArrayRef(hash).take_front(16), /*LowerCase=*/true);
}

/// The factors of `amsp.strategy`.
static FailureOr<json::Object> describeStrategy(ModuleOp module,
                                                DictionaryAttr strategy) {
  json::Object factors;
  for (StringRef state : {"p", "g", "os"}) {
    auto list = strategy.getAs<DenseI64ArrayAttr>(state);
    if (!list)
      return module.emitError() << "amsp.strategy has no factors for " << state;
    factors[state] = toJson(list.asArrayRef());
  }
  return factors;
}

/// `levels`, `world`, `strategy` and `units`: what the partitioner left on the
/// module, or on the arguments if units differ.
static LogicalResult describeGrid(ModuleOp module, func::FuncOp step,
                                  json::Object &manifest) {
  auto levels = module->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
  auto common = module->getAttrOfType<DictionaryAttr>(kStrategyAttr);
  json::Object units;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto unit = step.getArgAttrOfType<StringAttr>(i, kUnitAttr);
    auto own = step.getArgAttrOfType<DictionaryAttr>(i, kStrategyAttr);
    if (!unit || units.get(unit.getValue()) || (!own && !common))
      continue;
    FailureOr<json::Object> factors =
        describeStrategy(module, own ? own : common);
    if (failed(factors))
      return failure();
    units[unit.getValue()] = std::move(*factors);
  }
  if (!levels || (!common && units.empty()))
    return module.emitError("no per-rank program: amsp.levels or amsp.strategy "
                            "is missing on the module");
  int64_t world = 1;
  for (int64_t size : levels.asArrayRef())
    world *= size;
  manifest["levels"] = toJson(levels.asArrayRef());
  manifest["world"] = world;
  manifest["strategy"] = nullptr;
  if (common) {
    FailureOr<json::Object> factors = describeStrategy(module, common);
    if (failed(factors))
      return failure();
    manifest["strategy"] = std::move(*factors);
  }
  manifest["units"] = std::move(units);
  return success();
}

FailureOr<json::Object> amsp::buildManifest(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>("main");
  if (!step)
    return module.emitError("no function @main");
  json::Object manifest;
  manifest["version"] = 1;
  manifest["name"] = module.getSymName().value_or("step").str();
  manifest["program_hash"] = hashProgram(module);
  SmallVector<CollectiveRecord> records = collectCollectives(step);
  if (failed(describeGrid(module, step, manifest)) ||
      failed(describeInterface(step, manifest)))
    return failure();
  manifest["collectives"] = describeCollectives(records);
  manifest["parameters"] = describeParameters(step, records);
  return manifest;
}

std::string amsp::printManifest(json::Object manifest) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << json::Value(std::move(manifest));
  return text;
}
