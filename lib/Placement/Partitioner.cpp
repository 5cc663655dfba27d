//===- Partitioner.cpp - Rewrites a step as one rank's program ------------===//

#include "amsp/Placement/Partitioner.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/OwnPositions.h"
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
  maskOperands(op, local, transfer);
  return insertLocal(op, local, transfer);
}

/// Whether the op's results over all rows are linear in the operand, or combine
/// it. Others only weigh it: those of attention have to stay what they are for
/// the weights of a row to be numbers.
static bool isCombined(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto backward = dyn_cast<AttentionBackwardOp>(op))
    return &operand == &backward.getDResultMutable();
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return llvm::is_contained(scatter.getUpdates(), operand.get());
  // A gather of own positions finds no padding.
  return !isa<stablehlo::GatherOp>(op);
}

/// Padding is no part of a sum, maximum or minimum over what ranks have.
void Partitioner::maskOperands(Operation *op, Operation *local,
                               const Transfer &transfer) {
  auto isPartial = [](const Placement &p) { return p.isPartial(); };
  if (llvm::none_of(transfer.results, isPartial))
    return;
  for (auto [operand, placement] :
       llvm::zip_equal(op->getOpOperands(), transfer.operands)) {
    RankedTensorType type = getTensorType(operand.get());
    bool isMasked = placement.hasPaddedRows() ||
                    (placement.isFlat() && isa<stablehlo::ReduceOp>(op) &&
                     converter.hasPadding(type, placement));
    if (!isMasked || !isCombined(operand))
      continue;
    unsigned index = operand.getOperandNumber();
    local->setOperand(index,
                      maskPadding(op, local->getOperand(index), type, placement,
                                  getIdentity(op, operand.get())));
  }
}

/// What adds nothing to the op's result in the place of an operand's elements.
Value Partitioner::getIdentity(Operation *op, Value operand) {
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return get(reduce.getInitValues().front(), Placement::replicated());
  auto scalar =
      RankedTensorType::get({}, getTensorType(operand).getElementType());
  return stablehlo::ConstantOp::create(
      builder, op->getLoc(), cast<ElementsAttr>(builder.getZeroAttr(scalar)));
}

/// Inserts a local op, with what it needs to find the rank's own positions of a
/// dimension that is cut.
Operation *Partitioner::insertLocal(Operation *op, Operation *local,
                                    const Transfer &transfer) {
  auto isIndexed = [&](auto indexing, auto isAlong) {
    return indexing && transfer.operands.front().isSplit() &&
           isAlong(indexing, transfer.operands.front().dim);
  };
  auto gather = dyn_cast<stablehlo::GatherOp>(op);
  auto scatter = dyn_cast<stablehlo::ScatterOp>(op);
  bool picks =
      isIndexed(gather, picksPositions) && transfer.results.front().isPartial();
  if (!picks && !isIndexed(scatter, writesPositions)) {
    builder.insert(local);
    return local;
  }
  // Positions are counted in blocks of rows.
  hasJoinedRows |= interleavedRows != 0;
  int64_t dim = transfer.operands.front().dim;
  SmallVector<Digit> digits = grids.front().getWorldDigits();
  if (picks)
    return pickOwnPositions(builder, gather, cast<stablehlo::GatherOp>(local),
                            dim, digits);
  return writeOwnPositions(builder, scatter, cast<stablehlo::ScatterOp>(local),
                           dim, digits);
}

Value Partitioner::maskPadding(Operation *op, Value piece,
                               RankedTensorType global,
                               const Placement &placement, Value identity) {
  bool isSplit = placement.isSplit();
  SmallVector<Digit> digits =
      isSplit ? grids.front().getWorldDigits()
              : grids[placement.strategy].getDigits(placement.state);
  int64_t elements = isSplit ? global.getDimSize(placement.dim)
                             : getRowElements(global, placement);
  return MaskPaddingOp::create(
      builder, op->getLoc(), piece.getType(), piece, identity,
      GroupAttr::get(builder.getContext(), digits),
      builder.getI64IntegerAttr(elements),
      isSplit ? builder.getI64IntegerAttr(placement.dim) : IntegerAttr());
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
  if (placement.isSplit() && takesSingleRows(op, placement.dim)) {
    stream << "takes microbatches of 1 row, which every rank computes ("
           << ranks << " rows, or a multiple, would be cut)";
    return text;
  }
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
  stream << less + ranks << " would do), so each computes "
         << llvm::divideCeil(*rows, ranks) << ", padding included";
  return text;
}

void Partitioner::remarkGathers(Operation *op, const Transfer &transfer) {
  for (auto [operand, wanted] :
       llvm::zip_equal(op->getOperands(), transfer.operands)) {
    Value gathered = operand;
    Placement asked = wanted;
    while (std::optional<Placement> pulled = pullBroadcast(gathered, asked)) {
      gathered = gathered.getDefiningOp()->getOperand(0);
      asked = *pulled;
    }
    Placement placement = analysis.getPlacement(gathered);
    bool isGathered =
        placement.isSplit() && placement != asked && !asked.isPartial();
    // Gathering a parameter for its use is no fallback.
    isGathered |= placement.isFlat() && !asked.isFlat() &&
                  !getParameter(getChainRoot(gathered));
    isGathered |= placement.isFlat() && asked.isFlat() &&
                  placement.strategy != asked.strategy;
    if (!isGathered)
      continue;
    ++gatheredOperands;
    startRemark(op, gathered)
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
  if (std::optional<Placement> asked = pullBroadcast(value, placement)) {
    Operation *broadcast = value.getDefiningOp();
    Value rows = get(broadcast->getOperand(0), *asked);
    return emitLocal(broadcast, {{*asked}, {placement}}, rows)->getResult(0);
  }
  Value local = get(value, natural);
  return converter.convert(builder, value.getLoc(), local, type, natural,
                           placement, getTag(value));
}
