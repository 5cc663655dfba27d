//===- QuantizeGathers.cpp - Parameters as int8 on the wire ---------------===//

#include "BlockQuantization.h"
#include "CollectiveBuilder.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/DataTypes.h"
#include "llvm/Support/MathExtras.h"

namespace amsp {
#define GEN_PASS_DEF_QUANTIZEGATHERS
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// The digits that tell a parameter's pieces of so many elements apart, and the
/// parameter's elements; none if it rests in another way.
static std::optional<std::pair<GroupAttr, int64_t>>
getPieces(func::FuncOp step, unsigned argument, int64_t elements) {
  auto placement =
      step.getArgAttrOfType<PlacementAttr>(argument, kPlacementAttr);
  auto global = step.getArgAttrOfType<TypeAttr>(argument, kGlobalTypeAttr);
  if (!placement || !global || placement.getKind() != PlacementKind::Flat ||
      placement.getDimension() != 0)
    return std::nullopt;
  auto resting = cast<RankedTensorType>(step.getArgumentTypes()[argument]);
  ArrayRef<Digit> digits = placement.getDigits();
  int64_t padded = resting.getNumElements() * getGroupSize(digits);
  // Pieces nest: those of fewer ranks are told apart by the first digits.
  int64_t pieces = 1;
  SmallVector<Digit> first;
  while (pieces * elements < padded && first.size() < digits.size()) {
    first.push_back(digits[first.size()]);
    pieces *= first.back().size;
  }
  if (pieces * elements != padded)
    return std::nullopt;
  return std::pair(GroupAttr::get(step.getContext(), first),
                   cast<RankedTensorType>(global.getValue()).getNumElements());
}

namespace {
struct QuantizeGathers : amsp::impl::QuantizeGathersBase<QuantizeGathers> {
  using Base::Base;

  void runOnOperation() override;

private:
  bool isWorthIt(CollectiveOpInterface op) const;
  bool quantize(AllGatherOp op);
};
} // namespace

/// A flat floating-point tensor of a parameter, wider than its codes.
bool QuantizeGathers::isWorthIt(CollectiveOpInterface op) const {
  PartAttr part = op.getPart(0);
  return op.getNumTensors() == 1 && part.getParameter() && !part.getDim() &&
         part.getKeep() == 0 && isa<FloatType>(op.getElementType()) &&
         op.getElementType().getIntOrFloatBitWidth() > 8 &&
         op.getFullType(0).getNumElements() *
                 getElementBytes(op.getElementType()) >=
             minBytes;
}

bool QuantizeGathers::quantize(AllGatherOp op) {
  auto collective = cast<CollectiveOpInterface>(*op);
  PartAttr part = collective.getPart(0);
  RankedTensorType full = collective.getFullType(0);
  Value piece = op->getOperand(0);
  int64_t elements = getTensorType(piece).getNumElements();
  auto pieces = getPieces(getOperation(), *part.getParameter(), elements);
  if (!pieces)
    return false;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  HloBuilder hlo = {builder, loc};
  // The padding may be anything, and may not set a block's scale.
  auto scalar = RankedTensorType::get({}, full.getElementType());
  auto [group, valid] = *pieces;
  if (group.getSize() * elements != valid)
    piece = MaskPaddingOp::create(builder, loc, piece.getType(), piece,
                                  hlo.zeros(scalar), group,
                                  builder.getI64IntegerAttr(valid));
  // As many blocks as needed, of about equal size: hardly any padding.
  int64_t blocks = llvm::divideCeil(elements, block.getValue());
  BlockQuantization quantization(hlo, llvm::divideCeil(elements, blocks));
  QuantizedRows own = quantization.quantize(hlo.reshape(piece, {1, elements}));
  int64_t members = op.getGroup().getSize();
  CollectiveTraits traits = CollectiveTraits::get(collective);
  auto gather = [&](Value row) {
    RankedTensorType type = getTensorType(row);
    int64_t size = type.getDimSize(1);
    auto gathered =
        RankedTensorType::get({members, size}, type.getElementType());
    Attribute whole = PartAttr::get(op.getContext(), std::nullopt, 0,
                                    part.getParameter(), part.getUnit());
    return createCollective(builder, loc, traits, hlo.reshape(row, {size}),
                            TypeRange(gathered), whole)
        ->getResult(0);
  };
  QuantizedRows all = {gather(own.codes), gather(own.scales)};
  Value values = quantization.dequantize(all, elements);
  values = hlo.truncateLast(hlo.reshape(values, {members * elements}),
                            full.getNumElements());
  if (full.getElementType() != builder.getF32Type())
    values = stablehlo::ConvertOp::create(builder, loc, values,
                                          full.getElementType());
  op->getResult(0).replaceAllUsesWith(hlo.reshape(values, full.getShape()));
  op.erase();
  return true;
}

void QuantizeGathers::runOnOperation() {
  if (block < 1) {
    getOperation().emitError("a block has at least one element");
    return signalPassFailure();
  }
  SmallVector<AllGatherOp> gathers;
  getOperation().walk([&](AllGatherOp op) { gathers.push_back(op); });
  for (AllGatherOp op : gathers)
    if (isWorthIt(cast<CollectiveOpInterface>(*op)) && quantize(op))
      ++numQuantized;
}
