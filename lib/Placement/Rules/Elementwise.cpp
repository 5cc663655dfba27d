//===- Elementwise.cpp - Placement rules of elementwise ops ---------------===//

#include "Rules.h"
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace amsp;
using namespace amsp::rules;

/// Asks for all operands of the result's shape in one placement; scalars (a
/// predicate, a limit) stay replicated.
static Transfer uniformTransfer(Operation *op, const Placement &placement) {
  Transfer transfer = getReplicatedTransfer(op);
  int64_t rank = getTensorType(op->getResult(0)).getRank();
  for (auto [operand, asked] : llvm::zip(op->getOperands(), transfer.operands))
    if (getTensorType(operand).getRank() == rank)
      asked = placement;
  llvm::fill(transfer.results, placement);
  return transfer;
}

/// The placement in which an operand that scales a partial sum is asked for.
static Placement scalePlacement(Value operand, const Placement &sum) {
  if (sum.kind == Placement::PartialFlat && getTensorType(operand).getRank())
    return Placement::flat(ModelState::G, sum.keep, sum.strategy);
  return Placement::replicated();
}

namespace {
/// In what an elementwise op is linear; decides which partial sums it keeps.
enum class Linear {
  /// In nothing.
  No,
  /// In all operands together: add, subtract, negate.
  Sum,
  /// In each operand while the others are fixed: multiply.
  Factor,
  /// In the first operand: divide.
  First,
  /// In all but the first operand together: select.
  AllButFirst,
};
} // namespace

static Linear getLinearity(Operation *op) {
  bool isFloat =
      isa<FloatType>(getTensorType(op->getResult(0)).getElementType());
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::NegOp>(op))
    // The sum of booleans is their disjunction.
    return getTensorType(op->getResult(0)).getElementType().isInteger(1)
               ? Linear::No
               : Linear::Sum;
  if (isa<stablehlo::MulOp>(op))
    return Linear::Factor;
  if (isa<stablehlo::DivOp>(op))
    return isFloat ? Linear::First : Linear::No;
  if (isa<stablehlo::SelectOp>(op))
    return Linear::AllButFirst;
  if (auto convert = dyn_cast<stablehlo::ConvertOp>(op)) {
    // Rounding a part is not rounding the sum: only widening ones commute.
    auto from = dyn_cast<FloatType>(
        getTensorType(convert.getOperand()).getElementType());
    auto to = dyn_cast<FloatType>(
        getTensorType(convert.getResult()).getElementType());
    if (from && to && to.getWidth() > from.getWidth())
      return Linear::Sum;
  }
  return Linear::No;
}

/// Keeps a partial sum through a linear op; nothing if the op needs its value.
static std::optional<Transfer> linearTransfer(Operation *op,
                                              ArrayRef<Placement> operands) {
  Linear linearity = getLinearity(op);
  if (linearity == Linear::No)
    return std::nullopt;
  Transfer transfer = getReplicatedTransfer(op);
  if (linearity == Linear::Factor || linearity == Linear::First) {
    unsigned sum = 0;
    if (linearity == Linear::Factor)
      sum = *findPlacement(operands, [](auto &p) { return p.isPartial(); });
    if (!operands[sum].isPartialSum() || !operands[1 - sum].isReplicated())
      return std::nullopt;
    transfer.operands[sum] = operands[sum];
    transfer.operands[1 - sum] =
        scalePlacement(op->getOperand(1 - sum), operands[sum]);
    transfer.results.front() = operands[sum];
    return transfer;
  }
  unsigned fixed = linearity == Linear::AllButFirst ? 1 : 0;
  std::optional<Placement> joined =
      joinPartialOperands(operands.drop_front(fixed));
  if (!joined || (fixed && !operands.front().isReplicated()))
    return std::nullopt;
  llvm::fill(transfer.operands, *joined);
  if (fixed)
    transfer.operands.front() = scalePlacement(op->getOperand(0), *joined);
  transfer.results.front() = *joined;
  return transfer;
}

/// A maximum (minimum) of partial maxima (minima) over one group.
static std::optional<Transfer> extremumTransfer(Operation *op,
                                                ArrayRef<Placement> operands) {
  Reduction reduction =
      isa<stablehlo::MaxOp>(op) ? Reduction::Max : Reduction::Min;
  if (!isa<stablehlo::MaxOp, stablehlo::MinOp>(op) ||
      operands[0].kind != Placement::Partial || operands[0] != operands[1] ||
      operands[0].reduction != reduction)
    return std::nullopt;
  return uniformTransfer(op, operands[0]);
}

static Transfer elementwiseTransfer(Operation *op,
                                    ArrayRef<Placement> operands) {
  auto isSplit = [](const Placement &p) { return p.isSplit(); };
  auto isFlat = [](const Placement &p) { return p.isFlat(); };
  auto isPartial = [](const Placement &p) { return p.isPartial(); };
  if (std::optional<unsigned> index = findPlacement(operands, isSplit))
    return uniformTransfer(op, operands[*index]);
  if (std::optional<unsigned> index = findPlacement(operands, isFlat))
    return uniformTransfer(op, operands[*index]);
  if (findPlacement(operands, isPartial)) {
    if (std::optional<Transfer> transfer = linearTransfer(op, operands))
      return *transfer;
    if (std::optional<Transfer> transfer = extremumTransfer(op, operands))
      return *transfer;
  }
  return getReplicatedTransfer(op);
}

namespace {
template <typename OpTy>
struct ElementwiseModel
    : PlacementOpInterface::ExternalModel<ElementwiseModel<OpTy>, OpTy> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    return elementwiseTransfer(op, operands);
  }
  std::optional<SmallVector<Placement>>
  pullPlacement(Operation *op, const Placement &result,
                const PlacementContext &) const {
    return uniformTransfer(op, result).operands;
  }
};

/// Elementwise, unless elements change their width.
struct BitcastConvertModel
    : PlacementOpInterface::ExternalModel<BitcastConvertModel,
                                          stablehlo::BitcastConvertOp> {
  static bool isElementwise(Operation *op) {
    return getTensorType(op->getOperand(0)).getShape() ==
           getTensorType(op->getResult(0)).getShape();
  }
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    if (isElementwise(op) &&
        (operands.front().isSplit() || operands.front().isFlat()))
      return uniformTransfer(op, operands.front());
    return getReplicatedTransfer(op);
  }
  std::optional<SmallVector<Placement>>
  pullPlacement(Operation *op, const Placement &result,
                const PlacementContext &) const {
    if (!isElementwise(op))
      return std::nullopt;
    return uniformTransfer(op, result).operands;
  }
};
} // namespace

template <typename... Ops> static void attach(MLIRContext &context) {
  (Ops::template attachInterface<ElementwiseModel<Ops>>(context), ...);
}

void rules::attachElementwise(MLIRContext &context) {
  using namespace stablehlo;
  BitcastConvertOp::attachInterface<BitcastConvertModel>(context);
  attach<AbsOp, AddOp, AndOp, Atan2Op, CbrtOp, CeilOp, ClampOp, ClzOp,
         CompareOp, ConvertOp, CosineOp, DivOp, ExpOp, Expm1Op, FloorOp,
         IsFiniteOp, Log1pOp, LogOp, LogisticOp, MaxOp, MinOp, MulOp, NegOp,
         NotOp, OrOp, PopulationCountOp, PowOp, ReducePrecisionOp, RemOp,
         RoundNearestAfzOp, RoundNearestEvenOp, RsqrtOp, SelectOp, ShiftLeftOp,
         ShiftRightArithmeticOp, ShiftRightLogicalOp, SignOp, SineOp, SqrtOp,
         SubtractOp, TanOp, TanhOp, XorOp>(context);
}

void rules::attachCHLO(MLIRContext &context) {
  using namespace chlo;
  attach<AcosOp, AcoshOp, AsinOp, AsinhOp, AtanOp, AtanhOp, CoshOp, ErfOp,
         ErfcOp, SinhOp, SquareOp>(context);
}
