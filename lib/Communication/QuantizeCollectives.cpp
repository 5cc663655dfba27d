//===- QuantizeCollectives.cpp - Parameters and gradients as int8 ---------===//

#include "BlockQuantization.h"
#include "CollectiveBuilder.h"
#include "Decisions.h"
#include "ParameterRows.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Placement/Digits.h"
#include "amsp/Target/DataTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace amsp {
#define GEN_PASS_DEF_QUANTIZECOLLECTIVES
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
/// Writes one collective as collectives of codes and scales. Values on the way
/// are `rows x elements`, a row for each kept index.
class Quantizer {
public:
  Quantizer(CollectiveOpInterface op, ArrayRef<int64_t> levels, int64_t block)
      : op(op), part(op.getPart(0)), levels(levels), block(block), builder(op),
        hlo{builder, op.getLoc()} {}

  /// False if the collective stays as it is.
  bool replace();

private:
  BlockQuantization cutInBlocks(int64_t elements);
  bool isSmaller(int64_t elements);
  Value mask(Value pieces);
  Value move(CollectiveKind kind, GroupAttr group, Value rows,
             std::optional<int64_t> parameter);
  QuantizedRows move(CollectiveKind kind, GroupAttr group,
                     const QuantizedRows &rows,
                     std::optional<int64_t> parameter);
  Value gather(Value pieces, GroupAttr group, std::optional<int64_t> parameter);
  Value reduce(Value values, ArrayRef<SmallVector<Digit>> stages);
  void replaceSum(Value values, ArrayRef<Digit> digits, int64_t piece);
  SmallVector<Digit> getOrder();
  void finish(Value values, RankedTensorType type);

  CollectiveOpInterface op;
  PartAttr part;
  ArrayRef<int64_t> levels;
  int64_t block;
  OpBuilder builder;
  HloBuilder hlo;
  ParameterRows rows;
};
} // namespace

/// As many blocks as needed, of about equal size: hardly any padding.
BlockQuantization Quantizer::cutInBlocks(int64_t elements) {
  int64_t blocks = llvm::divideCeil(elements, block);
  return {hlo, static_cast<int64_t>(llvm::divideCeil(elements, blocks))};
}

/// True if codes and scales of a row take fewer bytes than its elements do.
bool Quantizer::isSmaller(int64_t elements) {
  BlockQuantization blocks = cutInBlocks(elements);
  return blocks.getBytes(elements) <
         elements * getElementBytes(op.getElementType());
}

/// The padding may be anything, and may not set a block's scale.
Value Quantizer::mask(Value pieces) {
  RankedTensorType type = getTensorType(pieces);
  if (!rows.group || rows.group.getSize() * rows.elements == rows.valid)
    return pieces;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  return MaskPaddingOp::create(builder, hlo.loc, type, pieces,
                               hlo.zeros(scalar), rows.group,
                               builder.getI64IntegerAttr(rows.valid),
                               /*dim=*/IntegerAttr());
}

/// What a member has for the others, `rows * members x columns`, to them; or
/// its own, `rows x columns`, to all. Comes out as `rows * members x columns`.
Value Quantizer::move(CollectiveKind kind, GroupAttr group, Value values,
                      std::optional<int64_t> parameter) {
  RankedTensorType type = getTensorType(values);
  int64_t columns = type.getDimSize(1), members = group.getSize();
  bool gathers = kind == CollectiveKind::AllGather;
  // One row is none that is kept: more can be done with it.
  SmallVector<int64_t> kept;
  if (rows.count > 1)
    kept.push_back(rows.count);
  auto withRows = [&](int64_t elements) {
    SmallVector<int64_t> shape(kept);
    shape.push_back(elements);
    return shape;
  };
  auto moved =
      RankedTensorType::get(withRows(members * columns), type.getElementType());
  CollectiveTraits traits = CollectiveTraits::get(op);
  traits.kind = kind;
  traits.reduction = std::nullopt;
  traits.group = group;
  Attribute how = PartAttr::get(op.getContext(), std::nullopt, kept.size(),
                                parameter, part.getUnit());
  Value operand =
      hlo.reshape(values, withRows(gathers ? columns : members * columns));
  Value result =
      createCollective(builder, hlo.loc, traits, operand, TypeRange(moved), how)
          ->getResult(0);
  return hlo.reshape(result, {rows.count * members, columns});
}

QuantizedRows Quantizer::move(CollectiveKind kind, GroupAttr group,
                              const QuantizedRows &values,
                              std::optional<int64_t> parameter) {
  Value codes = move(kind, group, values.codes, parameter);
  return {codes, move(kind, group, values.scales, parameter)};
}

/// All members' pieces, f32, with their padding.
Value Quantizer::gather(Value pieces, GroupAttr group,
                        std::optional<int64_t> parameter) {
  int64_t elements = getTensorType(pieces).getDimSize(1);
  BlockQuantization blocks = cutInBlocks(elements);
  QuantizedRows all = move(CollectiveKind::AllGather, group,
                           blocks.quantize(pieces), parameter);
  return hlo.reshape(blocks.dequantize(all, elements),
                     {rows.count, group.getSize() * elements});
}

/// This member's pieces of the sum of `values`, f32. In each stage a member
/// sends each other one its part, and adds up what it gets by index.
Value Quantizer::reduce(Value values, ArrayRef<SmallVector<Digit>> stages) {
  for (ArrayRef<Digit> digits : stages) {
    auto group = GroupAttr::get(op.getContext(), digits);
    int64_t members = group.getSize();
    int64_t elements = getTensorType(values).getDimSize(1) / members;
    BlockQuantization blocks = cutInBlocks(elements);
    QuantizedRows parts =
        blocks.quantize(hlo.reshape(values, {rows.count * members, elements}));
    parts = move(CollectiveKind::AllToAll, group, parts, part.getParameter());
    values = blocks.addUp(hlo.reshape(blocks.dequantize(parts, elements),
                                      {rows.count, members, elements}));
  }
  return values;
}

/// `values`: a row's elements first, then any padding.
void Quantizer::finish(Value values, RankedTensorType type) {
  values = hlo.truncateLast(values, type.getNumElements() / rows.count);
  if (type.getElementType() != builder.getF32Type())
    values = stablehlo::ConvertOp::create(builder, hlo.loc, values,
                                          type.getElementType());
  op->getResult(0).replaceAllUsesWith(hlo.reshape(values, type.getShape()));
  op.erase();
}

/// Of the group's digits. That of an all_reduce has no meaning: innermost
/// first.
SmallVector<Digit> Quantizer::getOrder() {
  ArrayRef<Digit> digits = op.getGroup().getDigits();
  if (op.getKind() != CollectiveKind::AllReduce)
    return SmallVector<Digit>(digits);
  return llvm::to_vector(
      llvm::reverse(splitAtLevels(sortByRank(digits), levels)));
}

void Quantizer::replaceSum(Value values, ArrayRef<Digit> digits,
                           int64_t piece) {
  Value sum = reduce(hlo.padLast(values, getGroupSize(digits) * piece),
                     cutByLevel(digits, levels));
  if (op.getKind() != CollectiveKind::AllReduce)
    return finish(sum, op.getPieceType(0));
  // What comes back is the gradient, which is no parameter kept for its uses.
  finish(gather(sum, GroupAttr::get(op.getContext(), digits), std::nullopt),
         op.getFullType(0));
}

bool Quantizer::replace() {
  auto found = ParameterRows::find(op, 0);
  if (!found)
    return false;
  rows = *found;
  bool gathers = op.getKind() == CollectiveKind::AllGather;
  SmallVector<Digit> digits = getOrder();
  int64_t piece = op.getKind() == CollectiveKind::AllReduce
                      ? llvm::divideCeil(rows.elements, getGroupSize(digits))
                      : op.getPieceType(0).getShape().back();
  if ((gathers && !rows.group) || !isSmaller(piece))
    return false;
  Value values =
      mask(hlo.reshape(op->getOperand(0), {rows.count, rows.elements}));
  if (gathers)
    finish(gather(values, op.getGroup(), part.getParameter()),
           op.getFullType(0));
  else
    replaceSum(values, digits, piece);
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

/// A flat floating-point tensor of a parameter.
bool QuantizeCollectives::isWorthIt(CollectiveOpInterface op) const {
  PartAttr part = op.getPart(0);
  if (op.getNumTensors() != 1 || !part.getParameter() || part.getDim() ||
      op.getGroup().getSize() == 1)
    return false;
  RankedTensorType full = op.getFullType(0);
  Type element = op.getElementType();
  return isa<FloatType>(element) && full.getNumElements() > 0 &&
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
    Location loc = op.getLoc();
    std::string text = describeForRemark(op); // the op may go
    if (Quantizer(op, levels ? levels.asArrayRef() : ArrayRef<int64_t>(), block)
            .replace()) {
      ++(isGather ? numGathers : numReductions);
      noteDone(*this, loc, "quantized", [&] {
        return llvm::formatv("{0}: int8 in blocks of up to {1}", text,
                             block.getValue())
            .str();
      });
    } else {
      noteLeft(*this, loc, "kept", [&] {
        return text + ": no pieces of a parameter that get smaller";
      });
    }
  }
}
