//===- ScoreAxes.h - What the dimensions of values are to scores -*- C++ -*-==//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SCOREAXES_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SCOREAXES_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace amsp {

/// A number for each dimension that the values around an attention share, or
/// that is yet to be found out. Dimensions of size 1 are none.
using Axis = int;
inline constexpr Axis kNoAxis = -1;

/// A value and the axes of its dimensions.
struct PlacedValue {
  mlir::Value value;
  llvm::SmallVector<Axis> axes;

  explicit operator bool() const { return static_cast<bool>(value); }
};

/// The axes: known ones, and those yet to be found out, which turn out to be
/// known ones where values meet elementwise.
class ScoreAxes {
public:
  /// A new axis; none for size 1.
  Axis create(int64_t size, bool isKnown);
  /// The known axis, or the one in whose place others are looked up.
  Axis resolve(Axis axis) const;
  bool isKnown(Axis axis) const { return known[resolve(axis)]; }
  /// Says that an axis is none of those known so far.
  void setKnown(Axis axis) { known[axis] = true; }
  int64_t getSize(Axis axis) const { return sizes[axis]; }
  /// Says that two are one; false if that cannot be.
  bool unify(Axis first, Axis second);
  bool unify(llvm::ArrayRef<Axis> first, llvm::ArrayRef<Axis> second);
  /// Resolves all; nothing if one is not known.
  std::optional<llvm::SmallVector<Axis>>
  resolveAll(llvm::ArrayRef<Axis> axes) const;

  /// New, unknown axes for a value's dimensions.
  llvm::SmallVector<Axis> createAll(mlir::Value value);

  /// The axes of the result of an op that only moves elements of its operand:
  /// a convert, transpose, broadcast, or a reshape that adds and drops
  /// dimensions of size 1. Nothing for other ops.
  std::optional<llvm::SmallVector<Axis>> move(mlir::Operation *op,
                                              llvm::ArrayRef<Axis> operand);
  /// The reverse, where each element of the result is one of the operand's.
  std::optional<llvm::SmallVector<Axis>> moveBack(mlir::Operation *op,
                                                  llvm::ArrayRef<Axis> result);

  /// The value that broadcasts, transposes and such reshapes make this one of.
  PlacedValue peel(PlacedValue value);

private:
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<bool> known;
  llvm::SmallVector<Axis> parent;
};

/// The number that all elements of a value are equal to, through broadcasts,
/// reshapes and converts, each of which rounds.
std::optional<double> getSplatNumber(mlir::Value value);

/// A predicate, and the number that a factor is where it holds; elsewhere the
/// factor is zero.
struct PredicateFactor {
  PlacedValue predicate;
  double number = 1;
};

/// Reads a predicate that was made a number, and scaled; the number is rounded
/// as each op rounds it.
std::optional<PredicateFactor> getPredicateFactor(ScoreAxes &axes,
                                                  PlacedValue value);

/// True if a predicate leaves out, of the axes `query` and `key`, what is of a
/// higher index along `key`, and nothing else.
bool isCausal(ScoreAxes &axes, const PlacedValue &mask, Axis query, Axis key);

/// What a conjunction consists of, without what always holds.
llvm::SmallVector<PlacedValue> getConjuncts(ScoreAxes &axes,
                                            const PlacedValue &mask);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SCOREAXES_H
