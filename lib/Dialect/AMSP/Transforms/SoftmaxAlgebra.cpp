//===- SoftmaxAlgebra.cpp - Values as sums of products of a softmax -------===//

#include "SoftmaxAlgebra.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace amsp;

static constexpr double kTolerance = 1e-6;

/// More terms than any derivative of a softmax has.
static constexpr size_t kMostTerms = 8;

bool amsp::areEqualFactors(double first, double second) {
  double size = std::abs(first) + std::abs(second);
  return std::abs(first - second) <= size * kTolerance;
}

void SoftmaxExpression::add(const SoftmaxProduct &product, double factor) {
  double &sum = terms[product];
  bool isNothing = areEqualFactors(sum, -factor);
  sum += factor;
  if (isNothing)
    terms.erase(product);
}

SoftmaxExpression SoftmaxExpression::exponential() {
  SoftmaxProduct product;
  product.probabilities = product.sums = 1;
  return SoftmaxExpression(product);
}

SoftmaxExpression SoftmaxExpression::predicate(unsigned predicates) {
  SoftmaxProduct product;
  product.predicates = predicates;
  return SoftmaxExpression(product);
}

SoftmaxExpression SoftmaxExpression::weight(unsigned kept) {
  SoftmaxProduct product;
  product.probabilities = 1;
  product.predicates = kept;
  return SoftmaxExpression(product);
}

SoftmaxExpression SoftmaxExpression::gradient() {
  SoftmaxProduct product;
  product.hasGradient = true;
  return SoftmaxExpression(product);
}

SoftmaxExpression SoftmaxExpression::scoreGradient(unsigned mask,
                                                   unsigned kept) {
  SoftmaxProduct own, row;
  own.probabilities = row.probabilities = row.rowProbabilities = 1;
  own.predicates = mask | kept;
  row.predicates = mask;
  row.rowPredicates = kept;
  own.hasGradient = row.hasRowSum = true;
  SoftmaxExpression result(own);
  result.add(row, -1);
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
      product.predicates = left.predicates | right.predicates;
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
  if (product.isLinear() || product.predicates != kNoPredicate)
    return std::nullopt;
  SoftmaxProduct inverse;
  inverse.probabilities = -product.probabilities;
  inverse.sums = -product.sums;
  return times(SoftmaxExpression(inverse, 1 / factor));
}

std::optional<SoftmaxExpression>
SoftmaxExpression::rowSum(int64_t elements) const {
  SoftmaxExpression result;
  for (auto [product, factor] : terms) {
    SoftmaxProduct sum = product;
    sum.probabilities = 0;
    sum.predicates = kNoPredicate;
    if (product.hasGradient) {
      sum.hasGradient = false;
      sum.hasRowSum = true;
      sum.rowProbabilities = product.probabilities;
      sum.rowPredicates = product.predicates;
      result.add(sum, factor);
      continue;
    }
    // The same in the whole row, or probabilities, whose sum is one.
    if (product.predicates != kNoPredicate || product.probabilities < 0 ||
        product.probabilities > 1)
      return std::nullopt;
    bool isEqual = product.probabilities == 0;
    result.add(sum, isEqual ? factor * static_cast<double>(elements) : factor);
  }
  return result;
}

std::optional<double>
SoftmaxExpression::getMultiple(const SoftmaxExpression &other) const {
  if (terms.size() != other.terms.size() || terms.empty())
    return std::nullopt;
  double multiple = terms.begin()->second / other.terms.begin()->second;
  for (auto [own, others] : llvm::zip_equal(terms, other.terms))
    if (own.first < others.first || others.first < own.first ||
        !areEqualFactors(own.second, multiple * others.second))
      return std::nullopt;
  return multiple;
}

unsigned SoftmaxExpression::getKept() const {
  for (auto [product, factor] : terms)
    if (product.hasRowSum)
      return product.rowPredicates;
  return terms.empty() ? kNoPredicate : terms.begin()->first.predicates;
}
