//===- ParameterRows.cpp - How a parameter's elements lie -----------------===//

#include "ParameterRows.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace amsp;

namespace {
/// A row of a parameter as it rests.
struct RestingRow {
  int64_t valid, padded; // elements; those of all its pieces
  int64_t keep;          // dimensions of a stack
  ArrayRef<Digit> digits;

  static std::optional<RestingRow> get(func::FuncOp step, unsigned argument);

  ParameterRows whole(int64_t count) const { return {count, valid, valid, {}}; }
  /// None if no pieces have so many elements.
  std::optional<ParameterRows> inPieces(MLIRContext *context, int64_t count,
                                        int64_t elements) const;
  /// A row of fewer elements than pieces is too small to be told from a piece.
  bool isClear() const { return padded < 2 * valid; }
};
} // namespace

std::optional<RestingRow> RestingRow::get(func::FuncOp step,
                                          unsigned argument) {
  auto placement =
      step.getArgAttrOfType<PlacementAttr>(argument, kPlacementAttr);
  auto type = step.getArgAttrOfType<TypeAttr>(argument, kGlobalTypeAttr);
  if (!placement || !type || placement.getKind() == PlacementKind::Split)
    return std::nullopt;
  auto global = cast<RankedTensorType>(type.getValue());
  auto resting = cast<RankedTensorType>(step.getArgumentTypes()[argument]);
  int64_t keep = placement.getDimension();
  auto getElements = [&](RankedTensorType tensor) {
    return ShapedType::getNumElements(tensor.getShape().drop_front(keep));
  };
  ArrayRef<Digit> digits = placement.getDigits();
  return RestingRow{getElements(global),
                    getElements(resting) * getGroupSize(digits), keep, digits};
}

std::optional<ParameterRows> RestingRow::inPieces(MLIRContext *context,
                                                  int64_t count,
                                                  int64_t elements) const {
  // Pieces nest: those of fewer ranks are told apart by the first digits.
  int64_t pieces = 1;
  SmallVector<Digit> first;
  while (pieces * elements < padded && first.size() < digits.size()) {
    first.push_back(digits[first.size()]);
    pieces *= first.back().size;
  }
  if (first.empty() || pieces * elements != padded)
    return std::nullopt;
  return ParameterRows{count, elements, valid, GroupAttr::get(context, first)};
}

/// Of a value that says how many leading dimensions are kept.
static std::optional<ParameterRows>
getKeptRows(RankedTensorType type, int64_t keep, const RestingRow &row) {
  int64_t count = ShapedType::getNumElements(type.getShape().take_front(keep));
  int64_t elements = type.getNumElements() / count;
  if (elements != row.valid)
    return row.inPieces(type.getContext(), count, elements);
  return row.isClear() ? std::optional(row.whole(count)) : std::nullopt;
}

/// Of a value that does not: pieces lie along the last dimension, behind the
/// kept ones that are left; whole rows in any shape.
static std::optional<ParameterRows> guessRows(RankedTensorType type,
                                              const RestingRow &row) {
  int64_t all = type.getNumElements();
  std::optional<ParameterRows> pieces;
  if (type.getRank() > 0 && type.getRank() <= row.keep + 1) {
    int64_t last = type.getShape().back();
    pieces = row.inPieces(type.getContext(), all / last, last);
  }
  bool isWhole = all % row.valid == 0;
  // Without padding, either reading is right.
  if (isWhole && row.padded != row.valid && (pieces || !row.isClear()))
    return std::nullopt;
  if (isWhole && !pieces)
    return row.whole(all / row.valid);
  return pieces;
}

std::optional<ParameterRows> ParameterRows::find(CollectiveOpInterface op,
                                                 unsigned tensor) {
  PartAttr part = op.getPart(tensor);
  RankedTensorType type = op.getSourceType(tensor);
  if (!part.getParameter() || part.getDim() || type.getNumElements() == 0)
    return std::nullopt;
  auto row = RestingRow::get(op->getParentOfType<func::FuncOp>(),
                             *part.getParameter());
  if (!row || row->valid == 0)
    return std::nullopt;
  if (row->digits.empty()) // no pieces, no padding, no dimension that is kept
    return ParameterRows{1, type.getNumElements(), type.getNumElements(), {}};
  return op.getKind() == CollectiveKind::AllReduce
             ? guessRows(type, *row)
             : getKeptRows(type, part.getKeep(), *row);
}
