//===- Contraction.cpp - Placement rules of sums and other reductions -----===//

#include "Rules.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;
using namespace amsp::rules;

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

namespace {
/// What a dimension of a contraction's operand is to the result.
struct DimRole {
  enum Kind { Batching, Contracting, Free } kind;
  /// Position among the dimensions of its kind.
  int64_t position;
};

/// The two operands of a contraction, alike.
struct DotSide {
  ArrayRef<int64_t> batching, contracting;
  int64_t rank;

  DimRole getRole(int64_t dim) const {
    if (const int64_t *it = llvm::find(batching, dim); it != batching.end())
      return {DimRole::Batching, it - batching.begin()};
    if (const int64_t *it = llvm::find(contracting, dim);
        it != contracting.end())
      return {DimRole::Contracting, it - contracting.begin()};
    int64_t position = 0;
    for (int64_t other = 0; other < dim; ++other)
      position += !llvm::is_contained(batching, other) &&
                  !llvm::is_contained(contracting, other);
    return {DimRole::Free, position};
  }
  int64_t getNumFree() const {
    return rank - batching.size() - contracting.size();
  }
};

struct DotGeneralModel
    : PlacementOpInterface::ExternalModel<DotGeneralModel,
                                          stablehlo::DotGeneralOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto dot = cast<stablehlo::DotGeneralOp>(op);
    if (operands[0].isSplit() || operands[1].isSplit())
      return transferSplit(dot, operands);
    // Linear in one operand while the other is whole.
    for (unsigned side : {0, 1}) {
      if (operands[side].kind != Placement::Partial ||
          !operands[side].isPartialSum() || !operands[1 - side].isReplicated())
        continue;
      Transfer transfer = getReplicatedTransfer(op);
      transfer.operands[side] = operands[side];
      transfer.results.front() = operands[side];
      return transfer;
    }
    return getReplicatedTransfer(op);
  }

  static Transfer transferSplit(stablehlo::DotGeneralOp dot,
                                ArrayRef<Placement> operands) {
    stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
    std::array<DotSide, 2> sides = {
        DotSide{numbers.getLhsBatchingDimensions(),
                numbers.getLhsContractingDimensions(),
                getTensorType(dot.getLhs()).getRank()},
        DotSide{numbers.getRhsBatchingDimensions(),
                numbers.getRhsContractingDimensions(),
                getTensorType(dot.getRhs()).getRank()}};
    unsigned leading = getLeadingSide(dot, operands, sides);
    int64_t dim = operands[leading].dim;
    DimRole role = sides[leading].getRole(dim);
    const DotSide &other = sides[1 - leading];
    Transfer transfer = getReplicatedTransfer(dot);
    transfer.operands[leading] = operands[leading];
    switch (role.kind) {
    case DimRole::Batching:
      transfer.operands[1 - leading] =
          Placement::split(other.batching[role.position]);
      transfer.results.front() = Placement::split(role.position);
      break;
    case DimRole::Contracting:
      transfer.operands[1 - leading] =
          Placement::split(other.contracting[role.position]);
      transfer.results.front() =
          Placement::partial(Reduction::Sum, PartialOver::Batch);
      break;
    case DimRole::Free: {
      int64_t before = numbers.getLhsBatchingDimensions().size() +
                       (leading == 1 ? sides[0].getNumFree() : 0);
      transfer.results.front() = Placement::split(before + role.position);
      break;
    }
    }
    return transfer;
  }

private:
  /// The operand that keeps its placement. Two operands that are both split
  /// along free dimensions cannot: the larger one keeps its own.
  static unsigned getLeadingSide(stablehlo::DotGeneralOp dot,
                                 ArrayRef<Placement> operands,
                                 ArrayRef<DotSide> sides) {
    if (!operands[0].isSplit())
      return 1;
    if (!operands[1].isSplit())
      return 0;
    for (unsigned side : {0, 1})
      if (sides[side].getRole(operands[side].dim).kind != DimRole::Free)
        return side;
    return getTensorType(dot.getLhs()).getNumElements() >=
                   getTensorType(dot.getRhs()).getNumElements()
               ? 0
               : 1;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// True if combining with the constant changes nothing.
static bool isIdentity(Value init, Reduction reduction) {
  if (reduction == Reduction::Sum)
    return isZero(init);
  SplatElementsAttr splat;
  if (!matchPattern(init, m_Constant(&splat)))
    return false;
  Attribute element = splat.getSplatValue<Attribute>();
  bool isMax = reduction == Reduction::Max;
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().isInfinity() &&
           number.getValue().isNegative() == isMax;
  auto number = cast<IntegerAttr>(element);
  APInt value = number.getValue();
  if (value.getBitWidth() == 1)
    return value.isZero() == isMax;
  if (number.getType().isUnsignedInteger())
    return isMax ? value.isMinValue() : value.isMaxValue();
  return isMax ? value.isMinSignedValue() : value.isMaxSignedValue();
}

/// How a reduction's parts combine across ranks, if they do.
static std::optional<Reduction> getReduction(stablehlo::ReduceOp reduce) {
  if (reduce.getInputs().size() != 1)
    return std::nullopt;
  Operation *combiner = reduce.getSingleCombiner();
  if (!combiner)
    return std::nullopt;
  bool isBool =
      getTensorType(reduce.getInputs().front()).getElementType().isInteger(1);
  std::optional<Reduction> reduction;
  if (isa<stablehlo::MaxOp>(combiner) ||
      (isBool && isa<stablehlo::OrOp, stablehlo::AddOp>(combiner)))
    reduction = Reduction::Max;
  else if (isa<stablehlo::MinOp>(combiner) ||
           (isBool && isa<stablehlo::AndOp, stablehlo::MulOp>(combiner)))
    reduction = Reduction::Min;
  else if (isa<stablehlo::AddOp>(combiner))
    reduction = Reduction::Sum;
  if (reduction && isIdentity(reduce.getInitValues().front(), *reduction))
    return reduction;
  return std::nullopt;
}

namespace {
struct ReduceModel
    : PlacementOpInterface::ExternalModel<ReduceModel, stablehlo::ReduceOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto reduce = cast<stablehlo::ReduceOp>(op);
    ArrayRef<Placement> inputs = operands.take_front(reduce.getInputs().size());
    ArrayRef<int64_t> dims = reduce.getDimensions();
    std::optional<Reduction> reduction = getReduction(reduce);
    std::optional<unsigned> split =
        findPlacement(inputs, [](auto &p) { return p.isSplit(); });
    if (split && !llvm::is_contained(dims, inputs[*split].dim))
      return keepSplit(reduce, inputs[*split].dim);
    const Placement &input = inputs.front();
    if (!reduction)
      return getReplicatedTransfer(op);
    if (split)
      return inputTransfer(op, input,
                           Placement::partial(*reduction, PartialOver::Batch));
    if (input.kind == Placement::Partial && input.reduction == *reduction)
      return inputTransfer(op, input, input);
    bool reducesAll = static_cast<int64_t>(dims.size()) ==
                      getTensorType(reduce.getInputs().front()).getRank();
    if (input.isFlat() && input.state == ModelState::OS && reducesAll)
      return inputTransfer(
          op, input,
          Placement::partial(*reduction, PartialOver::States, input.strategy));
    return getReplicatedTransfer(op);
  }

  void localizeAttributes(Operation *op, Operation *local,
                          const Transfer &transfer) const {
    // A piece has one dimension; a flat value that is not cut has its own.
    if (transfer.operands.front().isFlat() &&
        local->getOperand(0).getType() != op->getOperand(0).getType())
      cast<stablehlo::ReduceOp>(local).setDimensions({0});
  }

private:
  static Transfer inputTransfer(Operation *op, const Placement &input,
                                const Placement &result) {
    Transfer transfer = getReplicatedTransfer(op);
    transfer.operands.front() = input;
    transfer.results.front() = result;
    return transfer;
  }

  static Transfer keepSplit(stablehlo::ReduceOp reduce, int64_t dim) {
    Transfer transfer = getReplicatedTransfer(reduce);
    int64_t removed = llvm::count_if(
        reduce.getDimensions(), [&](int64_t other) { return other < dim; });
    for (size_t i = 0; i < reduce.getInputs().size(); ++i)
      transfer.operands[i] = Placement::split(dim);
    llvm::fill(transfer.results, Placement::split(dim - removed));
    return transfer;
  }
};
} // namespace

void rules::attachContraction(MLIRContext &context) {
  stablehlo::DotGeneralOp::attachInterface<DotGeneralModel>(context);
  stablehlo::ReduceOp::attachInterface<ReduceModel>(context);
}
