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
    return transferBilinear(op, operands);
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
    std::array<std::optional<Transfer>, 2> led;
    for (unsigned side : {0, 1})
      if (operands[side].isSplit())
        led[side] = transferLed(dot, sides, side, operands[side]);
    bool isSecond = !led[0] || (led[1] && getMoved(dot, operands, *led[1]) <
                                              getMoved(dot, operands, *led[0]));
    return *led[isSecond];
  }

private:
  /// The operand on one side keeps its split, the other one follows.
  static Transfer transferLed(stablehlo::DotGeneralOp dot,
                              ArrayRef<DotSide> sides, unsigned leading,
                              const Placement &split) {
    DimRole role = sides[leading].getRole(split.dim);
    const DotSide &other = sides[1 - leading];
    Transfer transfer = getReplicatedTransfer(dot);
    transfer.operands[leading] = split;
    switch (role.kind) {
    case DimRole::Batching:
      transfer.operands[1 - leading] =
          split.withDim(other.batching[role.position]);
      transfer.results.front() = split.withDim(role.position);
      break;
    case DimRole::Contracting:
      transfer.operands[1 - leading] =
          split.withDim(other.contracting[role.position]);
      transfer.results.front() =
          Placement::partial(Reduction::Sum, PartialOver::Batch);
      break;
    case DimRole::Free: {
      int64_t before =
          sides[0].batching.size() + (leading == 1 ? sides[0].getNumFree() : 0);
      transfer.results.front() = split.withDim(before + role.position);
      break;
    }
    }
    return transfer;
  }

  /// The elements that ranks have to send for the transfer: of operands that
  /// are split otherwise, and of a sum that is to be completed.
  static int64_t getMoved(stablehlo::DotGeneralOp dot,
                          ArrayRef<Placement> operands,
                          const Transfer &transfer) {
    int64_t moved = 0;
    for (auto [operand, placement, asked] :
         llvm::zip_equal(dot->getOperands(), operands, transfer.operands))
      if (placement.isSplit() && placement != asked)
        moved += getTensorType(operand).getNumElements();
    if (transfer.results.front().isPartial())
      moved += getTensorType(dot.getResult()).getNumElements();
    return moved;
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
      return keepSplit(reduce, inputs[*split]);
    const Placement &input = inputs.front();
    if (!reduction)
      return getReplicatedTransfer(op);
    if (split)
      return inputTransfer(op, input,
                           Placement::partial(*reduction, PartialOver::Batch));
    if (input.kind == Placement::Partial && input.reduction == *reduction)
      return inputTransfer(op, input, input);
    if (input.isFlat() && input.state == ModelState::OS)
      if (std::optional<int64_t> keep = getReducedRows(reduce, input.keep))
        return inputTransfer(op, input.withKeep(*keep),
                             Placement::partial(*reduction, PartialOver::States,
                                                input.strategy));
    return getReplicatedTransfer(op);
  }

  void localizeAttributes(Operation *op, Operation *local,
                          const Transfer &transfer) const {
    // A piece of a row has one dimension; a flat value that is not cut has its
    // own.
    const Placement &input = transfer.operands.front();
    if (!input.isFlat() ||
        local->getOperand(0).getType() == op->getOperand(0).getType())
      return;
    SmallVector<int64_t> dims =
        llvm::filter_to_vector(cast<stablehlo::ReduceOp>(op).getDimensions(),
                               [&](int64_t dim) { return dim < input.keep; });
    dims.push_back(input.keep);
    cast<stablehlo::ReduceOp>(local).setDimensions(dims);
  }

private:
  /// As how many leading dimensions the result keeps, if rows that `keep`
  /// leading dimensions index are reduced whole: behind these come at most such
  /// of size 1, which make no further rows.
  static std::optional<int64_t> getReducedRows(stablehlo::ReduceOp reduce,
                                               int64_t keep) {
    RankedTensorType type = getTensorType(reduce.getInputs().front());
    auto isReduced = [&](int64_t dim) {
      return llvm::is_contained(reduce.getDimensions(), dim);
    };
    while (keep < type.getRank() && type.getDimSize(keep) == 1 &&
           !isReduced(keep))
      ++keep;
    if (!llvm::all_of(llvm::seq(keep, type.getRank()), isReduced))
      return std::nullopt;
    return keep;
  }

  static Transfer inputTransfer(Operation *op, const Placement &input,
                                const Placement &result) {
    Transfer transfer = getReplicatedTransfer(op);
    transfer.operands.front() = input;
    transfer.results.front() = result;
    return transfer;
  }

  static Transfer keepSplit(stablehlo::ReduceOp reduce,
                            const Placement &split) {
    Transfer transfer = getReplicatedTransfer(reduce);
    int64_t removed =
        llvm::count_if(reduce.getDimensions(),
                       [&](int64_t other) { return other < split.dim; });
    for (size_t i = 0; i < reduce.getInputs().size(); ++i)
      transfer.operands[i] = split;
    llvm::fill(transfer.results, split.withDim(split.dim - removed));
    return transfer;
  }
};
} // namespace

void rules::attachContraction(MLIRContext &context) {
  stablehlo::DotGeneralOp::attachInterface<DotGeneralModel>(context);
  stablehlo::ReduceOp::attachInterface<ReduceModel>(context);
}
