//===- PieceLayout.cpp - Cuts values into pieces and back -----------------===//

#include "amsp/Run/PieceLayout.h"

#include "amsp/Run/Npy.h"
#include "amsp/Runtime/DType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

static Error placementError(const Value &value, const Twine &message) {
  return createStringError(value.describe() + " of shape " +
                           shapeText(value.shape) + ": " + message);
}

Expected<PieceLayout> PieceLayout::of(const Value &value) {
  const Placement &placement = value.placement;
  ArrayRef<int64_t> shape = value.shape;
  auto rank = static_cast<int64_t>(shape.size());
  if (any_of(shape, [](int64_t size) { return size < 0; }))
    return placementError(value, "a size is negative");
  int64_t members = runtime::groupSize(placement.digits);
  PieceLayout layout;
  layout.elementBytes = runtime::bytesOf(value.dtype);
  layout.digits = placement.digits;
  std::vector<int64_t> localShape = value.shape;
  switch (placement.kind) {
  case Placement::Kind::Replicated:
    layout.full = layout.piece = product(shape);
    break;
  case Placement::Kind::Split:
    if (placement.dim < 0 || placement.dim >= rank ||
        shape[placement.dim] % members != 0)
      return placementError(value, "cannot be split along dimension " +
                                       Twine(placement.dim) + " over " +
                                       Twine(members) + " ranks");
    layout.rows = product(shape.take_front(placement.dim));
    layout.full = product(shape.drop_front(placement.dim));
    layout.piece = layout.full / members;
    localShape[placement.dim] /= members;
    break;
  case Placement::Kind::Flat:
    if (placement.keep < 0 || placement.keep > rank || placement.piece < 0)
      return placementError(value, "cannot keep " + Twine(placement.keep) +
                                       " dimensions");
    layout.rows = product(shape.take_front(placement.keep));
    layout.full = product(shape.drop_front(placement.keep));
    layout.piece = placement.piece;
    if (divideCeil(static_cast<uint64_t>(layout.full), members) >
        static_cast<uint64_t>(layout.piece))
      return placementError(value, Twine(members) + " pieces of " +
                                       Twine(layout.piece) +
                                       " elements do not hold it");
    localShape.resize(placement.keep);
    localShape.push_back(placement.piece);
    break;
  }
  if (localShape != value.localShape)
    return placementError(value, "its local shape should be " +
                                     shapeText(localShape) + ", not " +
                                     shapeText(value.localShape));
  return layout;
}

void PieceLayout::forEachRow(
    int64_t rank, function_ref<void(int64_t, int64_t, int64_t)> body) const {
  runtime::PieceExtent extent =
      runtime::extentOfPiece(full, piece, runtime::indexInGroup(rank, digits));
  for (int64_t row = 0; extent.length > 0 && row < rows; ++row)
    body((row * full + extent.begin) * elementBytes, row * piece * elementBytes,
         extent.length * elementBytes);
}

void PieceLayout::cut(int64_t rank, ArrayRef<char> global,
                      MutableArrayRef<char> local) const {
  forEachRow(rank, [&](int64_t from, int64_t to, int64_t bytes) {
    copy(global.slice(from, bytes), local.begin() + to);
  });
}

void PieceLayout::paste(int64_t rank, ArrayRef<char> local,
                        MutableArrayRef<char> global) const {
  forEachRow(rank, [&](int64_t to, int64_t from, int64_t bytes) {
    copy(local.slice(from, bytes), global.begin() + to);
  });
}

std::vector<int64_t> PieceLayout::owners(int64_t world) const {
  std::vector<int64_t> result(runtime::groupSize(digits), -1);
  for (int64_t rank = world; rank-- > 0;)
    result[runtime::indexInGroup(rank, digits)] = rank;
  return result;
}

void PieceLayout::poisonPadding(int64_t rank,
                                MutableArrayRef<char> local) const {
  int64_t valid =
      runtime::extentOfPiece(full, piece, runtime::indexInGroup(rank, digits))
          .length *
      elementBytes;
  int64_t rowBytes = piece * elementBytes;
  for (int64_t row = 0; row < rows; ++row)
    fill(local.slice(row * rowBytes + valid, rowBytes - valid), '\xFF');
}
