//===- Partitioner.cpp - Rewrites a step as one rank's program ------------===//

#include "amsp/Placement/Partitioner.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Partitioner::Partitioner(func::FuncOp step, const PlacementAnalysis &analysis,
                         ArrayRef<Grid> grids, ReduceType reduceType)
    : step(step), analysis(analysis), grids(grids),
      converter(grids, reduceType), builder(step.getContext()) {
  findGradients();
}

unsigned Partitioner::run() {
  Block &body = step.getBody().front();
  auto local = std::make_unique<Block>();
  for (BlockArgument argument : body.getArguments()) {
    Type type = getLocalType(getTensorType(argument),
                             analysis.getNatural(argument), grids);
    remember(argument, analysis.getNatural(argument),
             local->addArgument(type, argument.getLoc()));
  }
  builder.setInsertionPointToEnd(local.get());
  processBlock(body);

  Operation *terminator = body.getTerminator();
  SmallVector<Value> results;
  for (OpOperand &operand : terminator->getOpOperands())
    results.push_back(get(operand.get(), analysis.getYielded(operand)));
  func::ReturnOp::create(builder, terminator->getLoc(), results);
  step.setFunctionType(builder.getFunctionType(local->getArgumentTypes(),
                                               ValueRange(results).getTypes()));
  // Uses cross the old block's regions, so they go before its ops.
  body.dropAllDefinedValueUses();
  step.getBody().getBlocks().push_back(local.release());
  step.getBody().front().erase();
  return gatheredOperands;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Partitioner::processBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto loop = dyn_cast<WhileOp>(op))
      processWhile(loop);
    else if (auto barrier = dyn_cast<stablehlo::OptimizationBarrierOp>(op))
      processBarrier(barrier);
    else if (op.getNumResults() != 1 || !isUseChain(op.getResult(0)))
      processOp(&op);
  }
}

void Partitioner::processOp(Operation *op) {
  Transfer transfer = analysis.getTransfer(op);
  remarkGathers(op, transfer);
  SmallVector<Value> operands;
  for (auto [operand, asked] :
       llvm::zip_equal(op->getOperands(), transfer.operands))
    operands.push_back(get(operand, asked));
  Operation *local = emitLocal(op, transfer, operands);
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), local->getResults()))
    define(result, value);
}

/// Operands that are uses of state bypass the barrier: each use behind it
/// gathers anew anyway.
void Partitioner::processBarrier(stablehlo::OptimizationBarrierOp barrier) {
  SmallVector<Value> results, operands;
  for (auto [operand, result] :
       llvm::zip_equal(barrier.getOperands(), barrier.getResults())) {
    if (skipBarriers(result) != result)
      continue;
    results.push_back(result);
    operands.push_back(get(operand, analysis.getNatural(result)));
  }
  if (results.empty())
    return;
  auto local = stablehlo::OptimizationBarrierOp::create(
      builder, barrier.getLoc(), ValueRange(operands).getTypes(), operands);
  for (auto [result, value] : llvm::zip_equal(results, local->getResults()))
    define(result, value);
}

Operation *Partitioner::emitLocal(Operation *op, const Transfer &transfer,
                                  ArrayRef<Value> operands) {
  IRMapping mapping;
  // Branches and combiners see whole values.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    mapping.map(value, get(value, Placement::replicated()));
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), operands))
    mapping.map(operand, value);
  Operation *local = op->clone(mapping);
  // The same value may be taken in two placements.
  local->setOperands(operands);
  for (auto [result, placement] :
       llvm::zip_equal(local->getResults(), transfer.results))
    result.setType(getLocalType(getTensorType(result), placement, grids));
  if (auto rules = dyn_cast<PlacementOpInterface>(op))
    rules.localizeAttributes(local, transfer);
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  if (reduce && transfer.operands.front().isFlat() &&
      converter.hasPadding(getTensorType(reduce.getInputs().front()),
                           transfer.operands.front()))
    local->setOperand(0, maskPadding(reduce, local->getOperand(0),
                                     transfer.operands.front()));
  builder.insert(local);
  return local;
}

Value Partitioner::maskPadding(stablehlo::ReduceOp reduce, Value piece,
                               const Placement &flat) {
  RankedTensorType global = getTensorType(reduce.getInputs().front());
  Value init = get(reduce.getInitValues().front(), Placement::replicated());
  return MaskPaddingOp::create(
      builder, reduce.getLoc(), piece.getType(), piece, init,
      GroupAttr::get(builder.getContext(),
                     grids[flat.strategy].getDigits(flat.state)),
      builder.getI64IntegerAttr(global.getNumElements()));
}

void Partitioner::define(Value value, Value local) {
  Placement natural = analysis.getNatural(value);
  remember(value, natural, local);
  Placement completed = analysis.getPlacement(value);
  if (completed == natural)
    return;
  remember(value, completed,
           converter.convert(builder, value.getLoc(), local,
                             getTensorType(value), natural, completed,
                             getTag(value)));
}

void Partitioner::remarkGathers(Operation *op, const Transfer &transfer) {
  for (auto [operand, asked] :
       llvm::zip_equal(op->getOperands(), transfer.operands)) {
    Placement placement = analysis.getPlacement(operand);
    bool isGathered =
        placement.isSplit() && placement != asked && !asked.isPartial();
    // Gathering a parameter for its use is no fallback.
    isGathered |= placement.isFlat() && !asked.isFlat() &&
                  !getParameter(getChainRoot(operand));
    isGathered |= placement.isFlat() && asked.isFlat() &&
                  placement.strategy != asked.strategy;
    if (!isGathered)
      continue;
    ++gatheredOperands;
    RankedTensorType type = getTensorType(operand);
    std::string text;
    llvm::raw_string_ostream(text) << placement;
    op->emitRemark("gathers ")
        << type << " ("
        << type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8)
        << " bytes): '" << op->getName()
        << "' has no local rule for an operand "
        << "that is " << text;
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Partitioner::processWhile(WhileOp loop) {
  SmallVector<Placement> carries;
  SmallVector<Value> initial;
  for (auto [operand, result] :
       llvm::zip_equal(loop.getOperand(), loop.getResults())) {
    carries.push_back(analysis.getNatural(result));
    initial.push_back(get(operand, carries.back()));
  }
  auto local =
      WhileOp::create(builder, loop.getLoc(),
                      TypeRange(ValueRange(initial).getTypes()), initial);
  bool isOutermost = !outermostLoop;
  if (isOutermost)
    outermostLoop = local;
  {
    OpBuilder::InsertionGuard guard(builder);
    processRegion(loop.getCond(), local.getCond(), carries);
    processRegion(loop.getBody(), local.getBody(), carries);
  }
  if (isOutermost)
    outermostLoop = nullptr;
  for (auto [result, value] :
       llvm::zip_equal(loop.getResults(), local.getResults()))
    define(result, value);
}

void Partitioner::processRegion(Region &from, Region &to,
                                ArrayRef<Placement> carries) {
  scopes.emplace_back();
  enterWindow("");
  windowLocals.clear();
  Block *block = builder.createBlock(&to);
  for (auto [argument, carry] : llvm::zip_equal(from.getArguments(), carries)) {
    Type type = getLocalType(getTensorType(argument), carry, grids);
    block->addArgument(type, argument.getLoc());
  }
  for (auto [argument, local] :
       llvm::zip_equal(from.getArguments(), block->getArguments()))
    define(argument, local);
  processBlock(from.front());
  Operation *terminator = from.front().getTerminator();
  SmallVector<Value> results;
  for (OpOperand &operand : terminator->getOpOperands())
    results.push_back(get(operand.get(), analysis.getYielded(operand)));
  stablehlo::ReturnOp::create(builder, terminator->getLoc(), results);
  for (auto &[value, placement] : scopes.pop_back_val())
    llvm::erase_if(locals[value], [placement = placement](auto &known) {
      return known.first == placement;
    });
  windowLocals.clear();
}

//===----------------------------------------------------------------------===//
// Local values
//===----------------------------------------------------------------------===//

Value Partitioner::lookup(const LocalValues &locals, Value value,
                          const Placement &placement) {
  auto it = locals.find(value);
  if (it == locals.end())
    return {};
  for (auto &[known, local] : it->second)
    if (known == placement)
      return local;
  return {};
}

void Partitioner::remember(Value value, const Placement &placement,
                           Value local) {
  locals[value].push_back({placement, local});
  if (!scopes.empty())
    scopes.back().push_back({value, placement});
}

Value Partitioner::get(Value value, const Placement &placement) {
  value = skipBarriers(value);
  Placement natural = analysis.getPlacement(value);
  bool isWhole = placement.isReplicated() || placement.isSplit();
  if (isWhole && (natural.isFlat() || isUseChain(value)))
    return getUse(value, placement);
  if (Value local = lookup(locals, value, placement))
    return local;
  Value local = make(value, placement);
  remember(value, placement, local);
  return local;
}

Value Partitioner::make(Value value, const Placement &placement) {
  Placement natural = analysis.getPlacement(value);
  RankedTensorType type = getTensorType(value);
  if (natural.isReplicated()) {
    if (placement.isPartial() && placement.isPartialSum() && isZero(value)) {
      RankedTensorType localType = getLocalType(type, placement, grids);
      return stablehlo::ConstantOp::create(
          builder, value.getLoc(),
          cast<ElementsAttr>(builder.getZeroAttr(localType)));
    }
    if (placement.isSplit() || placement.isFlat())
      if (Value local = pullUp(value, placement))
        return local;
  }
  Value local = get(value, natural);
  return converter.convert(builder, value.getLoc(), local, type, natural,
                           placement, getTag(value));
}

/// Computes a replicated value's local part from the parts of what it is
/// computed from; null if its op cannot.
Value Partitioner::pullUp(Value value, const Placement &placement) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return {};
  if (isa<stablehlo::ConstantOp>(op))
    return pullConstant(op, placement);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return pullIota(iota, placement);
  auto rules = dyn_cast<PlacementOpInterface>(op);
  if (!rules)
    return {};
  std::optional<SmallVector<Placement>> asked =
      rules.pullPlacement(placement, analysis.getContext());
  if (!asked)
    return {};
  SmallVector<Value> operands;
  for (auto [operand, operandPlacement] :
       llvm::zip_equal(op->getOperands(), *asked))
    operands.push_back(get(operand, operandPlacement));
  return emitLocal(op, {*asked, {placement}}, operands)->getResult(0);
}

Value Partitioner::pullConstant(Operation *op, const Placement &placement) {
  auto constant = cast<stablehlo::ConstantOp>(op);
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat)
    return {};
  RankedTensorType type =
      getLocalType(getTensorType(constant), placement, grids);
  return stablehlo::ConstantOp::create(builder, op->getLoc(),
                                       splat.resizeSplat(type));
}

Value Partitioner::pullIota(stablehlo::IotaOp iota,
                            const Placement &placement) {
  if (!placement.isSplit())
    return {};
  Location loc = iota.getLoc();
  RankedTensorType type = getLocalType(getTensorType(iota), placement, grids);
  Value local = stablehlo::IotaOp::create(builder, loc, type,
                                          iota.getIotaDimensionAttr());
  if (placement.dim != static_cast<int64_t>(iota.getIotaDimension()))
    return local;
  // Counts on from the ranks before this one.
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value index = GroupIndexOp::create(
      builder, loc, scalar,
      GroupAttr::get(builder.getContext(), grids.front().getWorldDigits()));
  Value rows = stablehlo::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          scalar, static_cast<int32_t>(type.getDimSize(placement.dim))));
  Value first = stablehlo::MulOp::create(builder, loc, index, rows);
  first =
      stablehlo::ConvertOp::create(builder, loc, first, type.getElementType());
  first = stablehlo::BroadcastInDimOp::create(builder, loc, type, first,
                                              ArrayRef<int64_t>{});
  return stablehlo::AddOp::create(builder, loc, local, first);
}

//===----------------------------------------------------------------------===//
// Uses of parameters
//===----------------------------------------------------------------------===//

Value Partitioner::skipBarriers(Value value) const {
  auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>();
  if (!barrier)
    return value;
  Value operand = skipBarriers(
      barrier->getOperand(cast<OpResult>(value).getResultNumber()));
  bool isState = analysis.getPlacement(operand).isFlat() || isUseChain(operand);
  return isState ? operand : value;
}

bool Partitioner::isUseChain(Value value) const {
  value = skipBarriers(value);
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ConvertOp,
                       stablehlo::ReshapeOp, stablehlo::SliceOp,
                       stablehlo::TransposeOp>(op) ||
      !analysis.getPlacement(value).isReplicated())
    return false;
  Value operand = op->getOperand(0);
  return analysis.getPlacement(operand).isFlat() || isUseChain(operand);
}

Value Partitioner::getChainRoot(Value value) const {
  value = skipBarriers(value);
  while (isUseChain(value))
    value = skipBarriers(value.getDefiningOp()->getOperand(0));
  return value;
}

Value Partitioner::getUse(Value value, const Placement &placement) {
  std::optional<unsigned> parameter = getParameter(getChainRoot(value));
  enterWindow(parameter ? getUnit(*parameter) : "");
  if (Value local = lookup(windowLocals, value, placement))
    return local;
  Value local;
  if (!isUseChain(value)) {
    local = getWhole(value);
    if (placement.isSplit())
      local = converter.convert(builder, value.getLoc(), local,
                                getTensorType(value), Placement::replicated(),
                                placement);
  } else if (placement.isSplit()) {
    local = pullUp(value, placement);
    if (!local)
      local = converter.convert(
          builder, value.getLoc(), getUse(value, Placement::replicated()),
          getTensorType(value), Placement::replicated(), placement);
  } else {
    Operation *op = value.getDefiningOp();
    Value operand = get(op->getOperand(0), Placement::replicated());
    Transfer transfer = getReplicatedTransfer(op);
    local = emitLocal(op, transfer, operand)->getResult(0);
  }
  windowLocals[value].push_back({placement, local});
  return local;
}

/// Gathers a flat value in two stages; the first one once, before the loops.
Value Partitioner::getWhole(Value value) {
  RankedTensorType type = getTensorType(value);
  Placement resting = analysis.getPlacement(value);
  bool keepsWhole = grids[resting.strategy].getPieces(ModelState::P) == 1;
  Placement kept = keepsWhole
                       ? Placement::replicated()
                       : Placement::flat(ModelState::P, resting.strategy);
  Value local = lookup(locals, value, kept);
  CollectiveTag tag = getTag(value);
  if (!local) {
    OpBuilder::InsertionGuard guard(builder);
    Operation *loopOfValue =
        value.getParentRegion()->getParentOfType<WhileOp>();
    Value piece = lookup(locals, value, resting);
    if (outermostLoop && !loopOfValue) {
      builder.setInsertionPoint(outermostLoop);
      local = converter.convert(builder, value.getLoc(), piece, type, resting,
                                kept, tag);
      locals[value].push_back({kept, local});
    } else {
      local = converter.convert(builder, value.getLoc(), piece, type, resting,
                                kept, tag);
      remember(value, kept, local);
    }
  }
  tag.window = window;
  return converter.convert(builder, value.getLoc(), local, type, kept,
                           Placement::replicated(), tag);
}

void Partitioner::enterWindow(StringRef unit) {
  if (unit == windowUnit)
    return;
  windowUnit = unit;
  windowLocals.clear();
  ++window;
}

std::optional<unsigned> Partitioner::getParameter(Value value) const {
  value = skipBarriers(value);
  while (auto convert = value.getDefiningOp<stablehlo::ConvertOp>())
    value = skipBarriers(convert.getOperand());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != step)
    return std::nullopt;
  auto role =
      step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
  if (!role || role.getValue() != Role::Param)
    return std::nullopt;
  return argument.getArgNumber();
}

StringRef Partitioner::getUnit(unsigned parameter) const {
  auto unit = step.getArgAttrOfType<StringAttr>(parameter, kUnitAttr);
  return unit ? unit.getValue() : StringRef();
}

CollectiveTag Partitioner::getTag(Value value) const {
  CollectiveTag tag;
  std::optional<unsigned> parameter = getParameter(value);
  if (auto it = gradients.find(value); !parameter && it != gradients.end())
    parameter = it->second;
  if (parameter) {
    tag.parameter = *parameter;
    tag.unit = getUnit(*parameter);
  }
  return tag;
}

void Partitioner::findGradients() {
  Operation *terminator = step.getBody().front().getTerminator();
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto result = step.getArgAttrOfType<IntegerAttr>(i, kResultAttr);
    if (!result || !getParameter(step.getArgument(i)))
      continue;
    for (Value source : getFlatSources(terminator->getOperand(result.getInt())))
      if (analysis.getNatural(source).isPartial())
        gradients.try_emplace(source, i);
  }
}
