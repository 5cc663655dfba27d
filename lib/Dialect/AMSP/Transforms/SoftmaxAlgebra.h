//===- SoftmaxAlgebra.h - Values as sums of products of a softmax -*- C++ -*-=//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SOFTMAXALGEBRA_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SOFTMAXALGEBRA_H

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace amsp {

/// Factors are products of few constants of the program: equal but for their
/// rounding.
bool areEqualFactors(double first, double second);

/// Predicates of which products are zero where they do not hold: a set of bits,
/// as a predicate times itself is itself. Those of dropout, and others that
/// weights are selected by, follow that of the scores.
enum SoftmaxPredicates : unsigned {
  kNoPredicate = 0,
  kMask = 1, // of the scores
};

/// A product, for one element of a row of scores, of powers of the element's
/// probability `p`, of the row's sum of exponentials, of predicates (1 or 0),
/// and at most one of: the gradient `dp` of the weight, which is contracted
/// with values, or the row's sum of `p^a predicates dp`.
struct SoftmaxProduct {
  int probabilities = 0;
  int sums = 0;
  unsigned predicates = kNoPredicate;
  bool hasGradient = false;
  bool hasRowSum = false;
  // Of the row's sum.
  int rowProbabilities = 0;
  unsigned rowPredicates = kNoPredicate;

  bool isLinear() const { return hasGradient || hasRowSum; }
  bool operator<(const SoftmaxProduct &other) const {
    return getKey() < other.getKey();
  }

private:
  std::tuple<int, int, unsigned, bool, bool, int, unsigned> getKey() const {
    return {probabilities,    sums,         predicates, hasGradient, hasRowSum,
            rowProbabilities, rowPredicates};
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
  static SoftmaxExpression predicate(unsigned predicates);
  /// What is contracted with values: the probability, where all the predicates
  /// hold.
  static SoftmaxExpression weight(unsigned kept);
  /// The gradient of the weight.
  static SoftmaxExpression gradient();
  /// The gradient of the score but for its scale, for the weight's derivative
  /// `z`, which is one where all of `kept` hold: `p (z dp - rowsum(p z dp))`,
  /// and zero where a mask leaves out.
  static SoftmaxExpression scoreGradient(unsigned mask, unsigned kept);

  std::optional<SoftmaxExpression> plus(const SoftmaxExpression &other,
                                        double factor = 1) const;
  std::optional<SoftmaxExpression> times(const SoftmaxExpression &other) const;
  /// The divisor is one product that does not depend on gradients or
  /// predicates.
  std::optional<SoftmaxExpression> over(const SoftmaxExpression &other) const;
  /// The sum of a row of so many elements.
  std::optional<SoftmaxExpression> rowSum(int64_t elements) const;

  /// The number of which this is the other's multiple, but for rounding of the
  /// factors.
  std::optional<double> getMultiple(const SoftmaxExpression &other) const;

  /// The predicates of the weights, if this is a weight's multiple or that of a
  /// score's gradient.
  unsigned getKept() const;

private:
  void add(const SoftmaxProduct &product, double factor);

  std::map<SoftmaxProduct, double> terms;
};

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SOFTMAXALGEBRA_H
