//===- PieceLayout.h - Cuts values into pieces and back ---------*- C++ -*-===//

#ifndef AMSP_RUN_PIECELAYOUT_H
#define AMSP_RUN_PIECELAYOUT_H

#include "amsp/Run/Manifest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace amsp::run {

/// Every placement, in one form: the global value is `rows` rows of `full`
/// elements, of which member i of a group owns `piece` elements from
/// i * piece on (see amsp_collective_operand).
struct PieceLayout {
  int64_t rows = 1;
  int64_t full = 1;
  int64_t piece = 1;
  int64_t elementBytes = 1;
  runtime::Digits digits;

  /// Fails where the placement does not fit the value's shapes.
  static llvm::Expected<PieceLayout> of(const Value &value);

  int64_t globalBytes() const { return rows * full * elementBytes; }
  int64_t localBytes() const { return rows * piece * elementBytes; }

  /// Calls `body(offset in the global value, offset in the local one, length)`,
  /// in bytes, for each row's part of a rank's piece; padding is left out.
  void
  forEachRow(int64_t rank,
             llvm::function_ref<void(int64_t, int64_t, int64_t)> body) const;

  /// Copies a rank's piece out of the global value; padding stays as it is.
  void cut(int64_t rank, llvm::ArrayRef<char> global,
           llvm::MutableArrayRef<char> local) const;

  /// Puts the rank's piece in its place in the global value.
  void paste(int64_t rank, llvm::ArrayRef<char> local,
             llvm::MutableArrayRef<char> global) const;

  /// The lowest ranks that hold each piece, in the order of the index.
  std::vector<int64_t> owners(int64_t world) const;

  /// Fills a rank's padding with 0xFF, so that a use of it shows.
  void poisonPadding(int64_t rank, llvm::MutableArrayRef<char> local) const;
};

} // namespace amsp::run

#endif // AMSP_RUN_PIECELAYOUT_H
