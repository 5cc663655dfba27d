//===- SoftmaxAlgebra.h - Values as sums of products of a softmax -*- C++ -*-=//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SOFTMAXALGEBRA_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SOFTMAXALGEBRA_H

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace amsp {

/// A product, for one element of a row of scores, of powers of the element's
/// probability `p`, of the row's sum of exponentials, of the mask (1 or 0), and
/// at most one of: the gradient `dp` of the probability, or the row's sum of
/// `p^a mask^b dp`.
struct SoftmaxProduct {
  int probabilities = 0;
  int sums = 0;
  bool isMasked = false;
  bool hasGradient = false;
  bool hasRowSum = false;
  // Of the row's sum.
  int rowProbabilities = 0;
  bool isRowMasked = false;

  bool isLinear() const { return hasGradient || hasRowSum; }
  bool operator<(const SoftmaxProduct &other) const {
    return getKey() < other.getKey();
  }

private:
  std::tuple<int, int, bool, bool, bool, int, bool> getKey() const {
    return {probabilities,    sums,       isMasked, hasGradient, hasRowSum,
            rowProbabilities, isRowMasked};
  }
};

/// A sum of such products with factors: what elementwise arithmetic and sums of
/// rows make of a softmax and of the gradient of its result, exactly. An
/// operation gives nothing where its result has no such form.
class SoftmaxExpression {
public:
  SoftmaxExpression() = default;
  explicit SoftmaxExpression(const SoftmaxProduct &product, double factor = 1) {
    add(product, factor);
  }
  static SoftmaxExpression constant(double value) {
    return SoftmaxExpression(SoftmaxProduct(), value);
  }
  /// The exponential of a score less the row's maximum.
  static SoftmaxExpression exponential();
  static SoftmaxExpression probability();
  /// The gradient of the probability.
  static SoftmaxExpression gradient();
  /// The gradient of the score: `scale p (dp - rowsum(p dp))`, and zero where
  /// a mask, if there is one, leaves out.
  static SoftmaxExpression scoreGradient(double scale, bool isMasked);

  std::optional<SoftmaxExpression> plus(const SoftmaxExpression &other,
                                        double factor = 1) const;
  std::optional<SoftmaxExpression> times(const SoftmaxExpression &other) const;
  /// The divisor is one product that does not depend on gradients or masks.
  std::optional<SoftmaxExpression> over(const SoftmaxExpression &other) const;
  SoftmaxExpression masked() const;
  /// The sum of a row of so many elements.
  std::optional<SoftmaxExpression> rowSum(int64_t elements) const;

  /// Equal but for rounding of the factors.
  bool equals(const SoftmaxExpression &other) const;

private:
  void add(const SoftmaxProduct &product, double factor);

  std::map<SoftmaxProduct, double> terms;
};

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SOFTMAXALGEBRA_H
