//===- QuantizeCollectives.cpp - Parameters and gradients as int8 ---------===//

#include "BlockQuantization.h"
#include "CollectiveBuilder.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Placement/Digits.h"
#include "amsp/Target/DataTypes.h"
#include "llvm/Support/MathExtras.h"

namespace amsp {
#define GEN_PASS_DEF_QUANTIZECOLLECTIVES
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
/// Pieces of a value that a group's digits tell apart, and its elements.
struct Pieces {
  GroupAttr group;
  int64_t valid;
};

/// A parameter, or a slice of a stack of them, as it rests.
struct RestingParameter {
  /// The digits of its pieces; none if it rests in another way.
  std::optional<ArrayRef<Digit>> digits;
  int64_t valid;  // its elements
  int64_t padded; // those of all its pieces

  /// None if no pieces have so many elements.
  std::optional<Pieces> getPieces(MLIRContext *context, int64_t elements) const;
};
} // namespace

/// Of a collective's part; none if nothing is known of its parameter.
static std::optional<RestingParameter> getParameter(func::FuncOp step,
                                                    PartAttr part) {
  if (!part.getParameter())
    return std::nullopt;
  unsigned argument = *part.getParameter();
  auto placement =
      step.getArgAttrOfType<PlacementAttr>(argument, kPlacementAttr);
  auto global = step.getArgAttrOfType<TypeAttr>(argument, kGlobalTypeAttr);
  if (!placement || !global)
    return std::nullopt;
  auto type = cast<RankedTensorType>(global.getValue());
  auto resting = cast<RankedTensorType>(step.getArgumentTypes()[argument]);
  if (part.getKeep() > type.getRank())
    return std::nullopt;
  int64_t slices =
      ShapedType::getNumElements(type.getShape().take_front(part.getKeep()));
  if (slices == 0)
    return std::nullopt;
  RestingParameter parameter = {std::nullopt, type.getNumElements() / slices,
                                resting.getNumElements() / slices *
                                    getGroupSize(placement.getDigits())};
  if (placement.getKind() == PlacementKind::Flat &&
      placement.getDimension() == part.getKeep())
    parameter.digits = placement.getDigits();
  return parameter;
}

std::optional<Pieces> RestingParameter::getPieces(MLIRContext *context,
                                                  int64_t elements) const {
  if (!digits)
    return std::nullopt;
  // Pieces nest: those of fewer ranks are told apart by the first digits.
  int64_t pieces = 1;
  SmallVector<Digit> first;
  while (pieces * elements < padded && first.size() < digits->size()) {
    first.push_back((*digits)[first.size()]);
    pieces *= first.back().size;
  }
  if (pieces * elements != padded)
    return std::nullopt;
  return Pieces{GroupAttr::get(context, first), valid};
}

namespace {
/// Writes one collective as collectives of codes and scales.
class Quantizer {
public:
  Quantizer(CollectiveOpInterface op, ArrayRef<int64_t> levels, int64_t block)
      : op(op), part(op.getPart(0)), levels(levels), block(block), builder(op),
        hlo{builder, op.getLoc()} {}

  /// False if the collective stays as it is.
  bool replace();

private:
  BlockQuantization cutInBlocks(int64_t elements);
  Value mask(Value piece, const Pieces &pieces);
  Value move(CollectiveKind kind, GroupAttr group, Value rows,
             std::optional<int64_t> parameter);
  QuantizedRows move(CollectiveKind kind, GroupAttr group,
                     const QuantizedRows &rows,
                     std::optional<int64_t> parameter);
  Value gather(Value piece, GroupAttr group, std::optional<int64_t> parameter);
  Value reduce(Value values, ArrayRef<SmallVector<Digit>> stages);
  void finish(Value values, RankedTensorType type);

  CollectiveOpInterface op;
  PartAttr part;
  ArrayRef<int64_t> levels;
  int64_t block;
  OpBuilder builder;
  HloBuilder hlo;
};
} // namespace

/// As many blocks as needed, of about equal size: hardly any padding.
BlockQuantization Quantizer::cutInBlocks(int64_t elements) {
  int64_t blocks = llvm::divideCeil(elements, block);
  return {hlo, static_cast<int64_t>(llvm::divideCeil(elements, blocks))};
}

/// The padding may be anything, and may not set a block's scale.
Value Quantizer::mask(Value piece, const Pieces &pieces) {
  RankedTensorType type = getTensorType(piece);
  if (pieces.group.getSize() * type.getNumElements() == pieces.valid)
    return piece;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  return MaskPaddingOp::create(builder, hlo.loc, type, piece, hlo.zeros(scalar),
                               pieces.group,
                               builder.getI64IntegerAttr(pieces.valid));
}

/// Rows of a matrix to the members, or one row of each member to all.
Value Quantizer::move(CollectiveKind kind, GroupAttr group, Value rows,
                      std::optional<int64_t> parameter) {
  RankedTensorType type = getTensorType(rows);
  int64_t columns = type.getDimSize(1);
  bool gathers = kind == CollectiveKind::AllGather;
  auto moved =
      RankedTensorType::get({group.getSize(), columns}, type.getElementType());
  CollectiveTraits traits = CollectiveTraits::get(op);
  traits.kind = kind;
  traits.reduction = std::nullopt;
  traits.group = group;
  Attribute how = PartAttr::get(
      op.getContext(), gathers ? std::nullopt : std::optional<int64_t>(0), 0,
      parameter, part.getUnit());
  Value operand = gathers ? hlo.reshape(rows, {columns}) : rows;
  return createCollective(builder, hlo.loc, traits, operand, TypeRange(moved),
                          how)
      ->getResult(0);
}

QuantizedRows Quantizer::move(CollectiveKind kind, GroupAttr group,
                              const QuantizedRows &rows,
                              std::optional<int64_t> parameter) {
  Value codes = move(kind, group, rows.codes, parameter);
  return {codes, move(kind, group, rows.scales, parameter)};
}

/// All members' pieces, f32, with their padding.
Value Quantizer::gather(Value piece, GroupAttr group,
                        std::optional<int64_t> parameter) {
  int64_t elements = getTensorType(piece).getNumElements();
  BlockQuantization blocks = cutInBlocks(elements);
  QuantizedRows own = blocks.quantize(hlo.reshape(piece, {1, elements}));
  QuantizedRows all = move(CollectiveKind::AllGather, group, own, parameter);
  return hlo.reshape(blocks.dequantize(all, elements),
                     {group.getSize() * elements});
}

/// This member's piece of the sum of `values`, f32. In each stage a member
/// sends each other one its part, and adds up what it gets by index.
Value Quantizer::reduce(Value values, ArrayRef<SmallVector<Digit>> stages) {
  for (ArrayRef<Digit> digits : stages) {
    auto group = GroupAttr::get(op.getContext(), digits);
    int64_t members = group.getSize();
    int64_t elements = getTensorType(values).getNumElements() / members;
    BlockQuantization blocks = cutInBlocks(elements);
    QuantizedRows parts =
        blocks.quantize(hlo.reshape(values, {members, elements}));
    parts = move(CollectiveKind::AllToAll, group, parts, part.getParameter());
    values = blocks.addRows(blocks.dequantize(parts, elements));
  }
  return values;
}

void Quantizer::finish(Value values, RankedTensorType type) {
  values = hlo.truncateLast(values, type.getNumElements());
  if (type.getElementType() != builder.getF32Type())
    values = stablehlo::ConvertOp::create(builder, hlo.loc, values,
                                          type.getElementType());
  op->getResult(0).replaceAllUsesWith(hlo.reshape(values, type.getShape()));
  op.erase();
}

bool Quantizer::replace() {
  auto parameter = getParameter(op->getParentOfType<func::FuncOp>(), part);
  if (!parameter)
    return false;
  Value operand = op->getOperand(0);
  int64_t elements = getTensorType(operand).getNumElements();
  bool gathers = op.getKind() == CollectiveKind::AllGather;
  // A whole gradient has no padding. One of fewer elements than pieces is too
  // small to be told from a piece.
  bool isWhole = !gathers && elements == parameter->valid;
  auto pieces = parameter->getPieces(op.getContext(), elements);
  if (isWhole ? parameter->padded >= 2 * elements : !pieces)
    return false;
  Value flat = hlo.reshape(operand, {elements});
  if (!isWhole)
    flat = mask(flat, *pieces);
  if (gathers) {
    finish(gather(flat, op.getGroup(), part.getParameter()), op.getFullType(0));
    return true;
  }
  SmallVector<Digit> digits(op.getGroup().getDigits());
  bool isAllReduce = op.getKind() == CollectiveKind::AllReduce;
  if (isAllReduce) // its order has no meaning: innermost first
    digits = llvm::to_vector(
        llvm::reverse(splitAtLevels(sortByRank(digits), levels)));
  auto stages = cutByLevel(digits, levels);
  int64_t members = getGroupSize(digits);
  int64_t piece = isAllReduce ? llvm::divideCeil(elements, members)
                              : op.getPieceType(0).getNumElements();
  Value sum = reduce(hlo.padLast(flat, members * piece), stages);
  if (!isAllReduce) {
    finish(sum, op.getPieceType(0));
    return true;
  }
  // What comes back is the gradient, which is no parameter kept for its uses.
  finish(gather(sum, GroupAttr::get(op.getContext(), digits), std::nullopt),
         op.getFullType(0));
  return true;
}

namespace {
struct QuantizeCollectives
    : amsp::impl::QuantizeCollectivesBase<QuantizeCollectives> {
  using Base::Base;

  void runOnOperation() override;

private:
  bool isWorthIt(CollectiveOpInterface op) const;
};
} // namespace

/// A flat floating-point tensor of a parameter, wider than its codes, of which
/// no rows are kept.
bool QuantizeCollectives::isWorthIt(CollectiveOpInterface op) const {
  PartAttr part = op.getPart(0);
  if (op.getNumTensors() != 1 || !part.getParameter() || part.getDim() ||
      op.getGroup().getSize() == 1)
    return false;
  RankedTensorType full = op.getFullType(0);
  Type element = op.getElementType();
  int64_t rows =
      ShapedType::getNumElements(full.getShape().take_front(part.getKeep()));
  return rows == 1 && isa<FloatType>(element) &&
         element.getIntOrFloatBitWidth() > 8 && full.getNumElements() > 0 &&
         full.getNumElements() * getElementBytes(element) >= minBytes;
}

void QuantizeCollectives::runOnOperation() {
  if (block < 1) {
    getOperation().emitError("a block has at least one element");
    return signalPassFailure();
  }
  auto levels = getOperation()->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
  if (!levels && reductions) {
    getOperation().emitError("not a rank's program: no amsp.levels");
    return signalPassFailure();
  }
  SmallVector<CollectiveOpInterface> chosen;
  getOperation().walk([&](CollectiveOpInterface op) {
    bool isSum = isa<ReduceScatterOp, AllReduceOp>(op) &&
                 op.getCombiner() == Reduction::Sum;
    bool isAsked = (gathers && isa<AllGatherOp>(op)) || (reductions && isSum);
    if (isAsked && isWorthIt(op))
      chosen.push_back(op);
  });
  for (CollectiveOpInterface op : chosen) {
    bool isGather = op.getKind() == CollectiveKind::AllGather;
    if (Quantizer(op, levels ? levels.asArrayRef() : ArrayRef<int64_t>(), block)
            .replace())
      ++(isGather ? numGathers : numReductions);
  }
}
