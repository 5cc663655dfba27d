//===- SoftmaxAlgebra.cpp - Values as sums of products of a softmax -------===//

#include "SoftmaxAlgebra.h"
#include <cmath>

using namespace amsp;

/// Factors are products of few constants of the program.
static constexpr double kTolerance = 1e-6;

/// More terms than any derivative of a softmax has.
static constexpr size_t kMostTerms = 8;

void SoftmaxExpression::add(const SoftmaxProduct &product, double factor) {
  double &sum = terms[product];
  double size = std::abs(sum) + std::abs(factor);
  sum += factor;
  if (std::abs(sum) <= size * kTolerance)
    terms.erase(product);
}

SoftmaxExpression SoftmaxExpression::exponential() {
  SoftmaxProduct product;
  product.probabilities = product.sums = 1;
  return SoftmaxExpression(product);
}

SoftmaxExpression SoftmaxExpression::probability() {
  SoftmaxProduct product;
  product.probabilities = 1;
  return SoftmaxExpression(product);
}

SoftmaxExpression SoftmaxExpression::gradient() {
  SoftmaxProduct product;
  product.hasGradient = true;
  return SoftmaxExpression(product);
}

SoftmaxExpression SoftmaxExpression::scoreGradient(double scale,
                                                   bool isMasked) {
  SoftmaxProduct own, row;
  own.probabilities = row.probabilities = row.rowProbabilities = 1;
  own.isMasked = row.isMasked = isMasked;
  own.hasGradient = row.hasRowSum = true;
  SoftmaxExpression result(own, scale);
  result.add(row, -scale);
  return result;
}

std::optional<SoftmaxExpression>
SoftmaxExpression::plus(const SoftmaxExpression &other, double factor) const {
  SoftmaxExpression result = *this;
  for (auto [product, own] : other.terms)
    result.add(product, factor * own);
  if (result.terms.size() > kMostTerms)
    return std::nullopt;
  return result;
}

std::optional<SoftmaxExpression>
SoftmaxExpression::times(const SoftmaxExpression &other) const {
  SoftmaxExpression result;
  for (auto [left, leftFactor] : terms) {
    for (auto [right, rightFactor] : other.terms) {
      if (left.isLinear() && right.isLinear())
        return std::nullopt;
      SoftmaxProduct product = left.isLinear() ? left : right;
      product.probabilities = left.probabilities + right.probabilities;
      product.sums = left.sums + right.sums;
      product.isMasked = left.isMasked || right.isMasked;
      result.add(product, leftFactor * rightFactor);
    }
  }
  if (result.terms.size() > kMostTerms)
    return std::nullopt;
  return result;
}

std::optional<SoftmaxExpression>
SoftmaxExpression::over(const SoftmaxExpression &other) const {
  if (other.terms.size() != 1)
    return std::nullopt;
  auto [product, factor] = *other.terms.begin();
  if (product.isLinear() || product.isMasked)
    return std::nullopt;
  SoftmaxProduct inverse;
  inverse.probabilities = -product.probabilities;
  inverse.sums = -product.sums;
  return times(SoftmaxExpression(inverse, 1 / factor));
}

SoftmaxExpression SoftmaxExpression::masked() const {
  SoftmaxExpression result;
  for (auto [product, factor] : terms) {
    SoftmaxProduct masked = product;
    masked.isMasked = true;
    result.add(masked, factor);
  }
  return result;
}

std::optional<SoftmaxExpression>
SoftmaxExpression::rowSum(int64_t elements) const {
  SoftmaxExpression result;
  for (auto [product, factor] : terms) {
    SoftmaxProduct sum = product;
    sum.probabilities = 0;
    sum.isMasked = false;
    if (product.hasGradient) {
      sum.hasGradient = false;
      sum.hasRowSum = true;
      sum.rowProbabilities = product.probabilities;
      sum.isRowMasked = product.isMasked;
      result.add(sum, factor);
      continue;
    }
    // The same in the whole row, or probabilities, whose sum is one.
    if (product.isMasked || product.probabilities < 0 ||
        product.probabilities > 1)
      return std::nullopt;
    bool isEqual = product.probabilities == 0;
    result.add(sum, isEqual ? factor * static_cast<double>(elements) : factor);
  }
  return result;
}

bool SoftmaxExpression::equals(const SoftmaxExpression &other) const {
  std::optional<SoftmaxExpression> difference = plus(other, -1);
  return difference && difference->terms.empty();
}
