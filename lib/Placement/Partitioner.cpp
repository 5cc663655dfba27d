//===- Partitioner.cpp - Rewrites a step as one rank's program ------------===//

#include "amsp/Placement/Partitioner.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Placement/Recut.h"
#include "amsp/Support/TensorType.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;
using stablehlo::CaseOp;
using stablehlo::WhileOp;

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
    else if (auto branches = dyn_cast<CaseOp>(op))
      processCase(branches);
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
  // Combiners see whole values.
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
      builder.getI64IntegerAttr(getRowElements(global, flat)));
}

static InFlightDiagnostic startRemark(Operation *op, Value gathered) {
  RankedTensorType type = getTensorType(gathered);
  int64_t bytes = type.getNumElements() *
                  llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  InFlightDiagnostic remark = op->emitRemark("gathers ");
  remark << type << " (" << bytes << " bytes): ";
  return remark;
}

void Partitioner::define(Value value, Value local) {
  Placement natural = analysis.getNatural(value);
  remember(value, natural, local);
  Placement completed = analysis.getPlacement(value);
  if (completed == natural)
    return;
  if (natural.isFlat()) {
    ++gatheredOperands;
    startRemark(value.getDefiningOp(), value)
        << "ops without a local rule take it whole, and what follows from it";
  }
  remember(value, completed,
           converter.convert(builder, value.getLoc(), local,
                             getTensorType(value), natural, completed,
                             getTag(value)));
}

/// Why the op takes an operand of the placement whole.
static std::string describeCause(const PlacementAnalysis &analysis,
                                 Operation *op, const Transfer &transfer,
                                 const Placement &placement) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  SmallVector<Placement> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) {
        return analysis.getPlacement(operand);
      });
  int64_t ranks = analysis.getContext().batchPieces;
  std::optional<int64_t> rows =
      getUnevenRows(op, operands, transfer, analysis.getContext());
  if (!rows || !placement.isSplit()) {
    stream << "has no local rule for an operand that is " << placement;
    return text;
  }
  int64_t less = *rows / ranks * ranks;
  stream << "makes " << *rows << " rows, which " << ranks
         << " ranks do not divide (";
  if (less > 0)
    stream << less << " or ";
  stream << less + ranks
         << " would do), so every rank computes what follows on all of them";
  return text;
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
    startRemark(op, operand)
        << "'" << op->getName() << "' "
        << describeCause(analysis, op, transfer, placement);
  }
}

//===----------------------------------------------------------------------===//
// Loops and branches
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
  if (isOutermost) {
    outermostLoop = local;
    outermostScopes = scopes.size();
  }
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

void Partitioner::processCase(CaseOp branches) {
  SmallVector<Type> types =
      llvm::map_to_vector(branches.getResults(), [&](Value result) -> Type {
        return getLocalType(getTensorType(result), analysis.getNatural(result),
                            grids);
      });
  Value index = get(branches.getIndex(), Placement::replicated());
  auto local = CaseOp::create(builder, branches.getLoc(), types, index,
                              branches.getBranches().size());
  {
    OpBuilder::InsertionGuard guard(builder);
    for (auto [from, to] :
         llvm::zip_equal(branches.getBranches(), local.getBranches()))
      processRegion(from, to, /*carries=*/{});
  }
  for (auto [result, value] :
       llvm::zip_equal(branches.getResults(), local.getResults()))
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

void Partitioner::remember(Value value, const Placement &placement, Value local,
                           size_t open) {
  locals[value].push_back({placement, local});
  if (open != 0)
    scopes[open - 1].push_back({value, placement});
}

void Partitioner::checkRows(Value value, const Placement &placement) {
  if (interleavedRows && placement.isSplit() &&
      getTensorType(value).getDimSize(placement.dim) % interleavedRows != 0)
    hasJoinedRows = true;
}

Value Partitioner::get(Value value, const Placement &placement) {
  value = skipBarriers(value);
  checkRows(value, placement);
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
    local = isWidened(value) ? widen(value) : getWhole(value);
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

/// True for a flat value that was narrower, or is one in another shape: it is
/// gathered before it is widened.
bool Partitioner::isWidened(Value value) const {
  Value operand = getStateOperand(value);
  if (!operand)
    return false;
  if (isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(
          value.getDefiningOp()))
    return isWidened(operand);
  auto getBits = [](Value value) {
    return getTensorType(value).getElementTypeBitWidth();
  };
  return getBits(operand) < getBits(value);
}

Value Partitioner::widen(Value value) {
  Operation *op = value.getDefiningOp();
  Value operand = get(op->getOperand(0), Placement::replicated());
  return emitLocal(op, getReplicatedTransfer(op), operand)->getResult(0);
}

/// Gathers a flat value in two stages.
Value Partitioner::getWhole(Value value) {
  Value kept = getKept(value);
  CollectiveTag tag = getTag(value);
  tag.window = window;
  return converter.convert(builder, value.getLoc(), kept, getTensorType(value),
                           getKeptPlacement(value), Placement::replicated(),
                           tag);
}

Placement Partitioner::getKeptPlacement(Value value) const {
  Placement resting = analysis.getPlacement(value);
  if (grids[resting.strategy].getPieces(ModelState::P) == 1)
    return Placement::replicated();
  return Placement::flat(ModelState::P, resting.keep, resting.strategy);
}

Value Partitioner::getKept(Value value) {
  Placement kept = getKeptPlacement(value);
  Placement resting = analysis.getPlacement(value);
  const Grid &grid = grids[resting.strategy];
  if (Value local = lookup(locals, value, kept))
    return local;
  auto getLoop = [](Value value) {
    return value.getParentRegion()->getParentOfType<WhileOp>();
  };
  // Pieces that a loop takes of a stack are taken of what is kept of it.
  Value stack = getStateOperand(value);
  if (getLoop(value) && stack &&
      grid.getPieces(ModelState::P) != grid.getPieces(ModelState::OS)) {
    Operation *op = value.getDefiningOp();
    Transfer transfer = getReplicatedTransfer(op);
    transfer.operands.front() = getKeptPlacement(stack);
    transfer.results.front() = kept;
    SmallVector<Value> operands = {getKept(stack)};
    for (Value index : op->getOperands().drop_front())
      operands.push_back(get(index, Placement::replicated()));
    Value local = emitLocal(op, transfer, operands)->getResult(0);
    remember(value, kept, local);
    return local;
  }
  // The first stage happens once, before the loops.
  OpBuilder::InsertionGuard guard(builder);
  bool isOutside = outermostLoop && !getLoop(value);
  if (isOutside)
    builder.setInsertionPoint(outermostLoop);
  Value local =
      converter.convert(builder, value.getLoc(), lookup(locals, value, resting),
                        getTensorType(value), resting, kept, getTag(value));
  remember(value, kept, local, isOutside ? outermostScopes : scopes.size());
  return local;
}

void Partitioner::enterWindow(StringRef unit) {
  if (unit == windowUnit)
    return;
  windowUnit = unit;
  windowLocals.clear();
  ++window;
}

Value Partitioner::getStateOperand(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ConvertOp,
                       stablehlo::DynamicSliceOp, stablehlo::ReshapeOp,
                       stablehlo::SliceOp>(op))
    return {};
  Value operand = skipBarriers(op->getOperand(0));
  bool isState = analysis.getPlacement(value).isFlat() &&
                 analysis.getPlacement(operand).isFlat();
  return isState ? operand : Value();
}

/// The slice that a loop writes into its result in each iteration, where that
/// is all that it writes; null for other values.
static Value getStackedSlice(Value value) {
  auto loop = value.getDefiningOp<WhileOp>();
  if (!loop)
    return {};
  unsigned index = cast<OpResult>(value).getResultNumber();
  auto update = loop.getBody()
                    .front()
                    .getTerminator()
                    ->getOperand(index)
                    .getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  bool isStack =
      update && update.getOperand() == loop.getBody().getArgument(index);
  return isStack ? update.getUpdate() : Value();
}

std::optional<unsigned> Partitioner::getParameter(Value value) const {
  value = skipBarriers(value);
  while (true) {
    if (Value operand = getStateOperand(value))
      value = operand;
    else if (Value slice = getStackedSlice(value))
      value = skipBarriers(slice);
    else if (auto rows = value.getDefiningOp<stablehlo::ConcatenateOp>();
             rows && analysis.getPlacement(value).isFlat())
      value = skipBarriers(rows.getInputs().front()); // of one loop, unrolled
    else
      break;
  }
  // What one branch hands on for the backward pass; others have zeros.
  if (auto branches = value.getDefiningOp<CaseOp>()) {
    for (Value producer : getFlatProducers(value))
      if (std::optional<unsigned> parameter = getParameter(producer))
        return parameter;
    return std::nullopt;
  }
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
    SmallVector<Value> worklist = {terminator->getOperand(result.getInt())};
    DenseSet<Value> seen;
    while (!worklist.empty())
      for (Value source : getTransposedSources(worklist.pop_back_val())) {
        if (!seen.insert(source).second)
          continue;
        if (analysis.getNatural(source).isPartial())
          gradients.try_emplace(source, i);
        // Slices of a stacked gradient.
        if (auto update =
                source.getDefiningOp<stablehlo::DynamicUpdateSliceOp>())
          worklist.append({update.getOperand(), update.getUpdate()});
      }
  }
}
