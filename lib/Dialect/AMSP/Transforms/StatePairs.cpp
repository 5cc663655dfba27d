//===- StatePairs.cpp - State arguments and their new values --------------===//

#include "StatePairs.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace amsp;

namespace {
/// How well each result is explained as the new value of each argument.
class PairScores {
public:
  PairScores(func::FuncOp step, function_ref<bool(unsigned)> isCandidate);

  int get(unsigned argument, unsigned result) const {
    return scores[argument * numResults + result];
  }

private:
  static constexpr int kElementwise = 3, kDepends = 1;

  llvm::BitVector getArguments(Value value) const {
    auto it = reaching.find(value);
    return it == reaching.end() ? llvm::BitVector(numArguments) : it->second;
  }
  void findReaching(Block &body);

  unsigned numArguments, numResults;
  /// The arguments that a value depends on.
  DenseMap<Value, llvm::BitVector> reaching;
  std::vector<int8_t> scores;
};
} // namespace

void PairScores::findReaching(Block &body) {
  for (BlockArgument argument : body.getArguments()) {
    llvm::BitVector self(numArguments);
    self.set(argument.getArgNumber());
    reaching[argument] = std::move(self);
  }
  for (Operation &op : body.without_terminator()) {
    llvm::SetVector<Value> inputs(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), inputs);
    llvm::BitVector arguments(numArguments);
    for (Value input : inputs)
      arguments |= getArguments(input);
    if (arguments.none())
      continue;
    for (Value result : op.getResults())
      reaching[result] = arguments;
  }
}

static bool isFloatScalar(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 0 && isa<FloatType>(tensor.getElementType());
}

/// The floats that flow into a float scalar, itself first, along edges from a
/// value to one that its op takes.
static llvm::SetVector<Value>
getFloatSources(Value value, function_ref<bool(Value, Value)> isFollowed) {
  auto isFloat = [](Value source) {
    auto type = cast<RankedTensorType>(source.getType());
    return type.getNumElements() == 1 && isa<FloatType>(type.getElementType());
  };
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (size_t i = 0; i < sources.size(); ++i) {
    Value source = sources[i];
    for (Value producer : getFlatProducers(source))
      if (isFloat(producer) && isFollowed(source, producer))
        sources.insert(producer);
  }
  return sources;
}

static bool isMadeOfSums(Value value) {
  auto all = [](Value, Value) { return true; };
  return llvm::any_of(getFloatSources(value, all), [](Value source) {
    return isa_and_nonnull<stablehlo::ReduceOp, stablehlo::DotGeneralOp>(
        source.getDefiningOp());
  });
}

/// True if the scalar is computed elementwise from its old value: an average, a
/// scale that grows. What weighs a sum over data (a loss) is not its old value.
static bool isNewScalar(Value value, BlockArgument old) {
  auto isFollowed = [](Value product, Value factor) {
    Operation *op = product.getDefiningOp();
    if (!isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(op))
      return true;
    return llvm::none_of(op->getOperands(), [&](Value other) {
      return other != factor && isMadeOfSums(other);
    });
  };
  return getFloatSources(value, isFollowed).contains(old);
}

PairScores::PairScores(func::FuncOp step,
                       function_ref<bool(unsigned)> isCandidate)
    : numArguments(step.getNumArguments()), numResults(step.getNumResults()),
      scores(static_cast<size_t>(numArguments) * numResults) {
  Block &body = step.getBody().front();
  findReaching(body);
  for (auto [result, value] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    llvm::SetVector<Value> sources = getFlatSources(value);
    llvm::BitVector arguments = getArguments(value);
    for (unsigned argument : arguments.set_bits()) {
      BlockArgument candidate = body.getArgument(argument);
      if (candidate.getType() != value.getType() || !isCandidate(argument))
        continue;
      bool isElementwise = sources.contains(candidate);
      int score = isElementwise ? kElementwise : kDepends;
      if (isFloatScalar(value.getType()) &&
          !(isElementwise && isNewScalar(value, candidate)))
        score = 0;
      scores[argument * numResults + result] = static_cast<int8_t>(score);
    }
  }
}

SmallVector<StatePair>
amsp::findStatePairs(func::FuncOp step,
                     function_ref<bool(unsigned)> isCandidate) {
  PairScores scores(step, isCandidate);
  size_t numArguments = step.getNumArguments();
  size_t numResults = step.getNumResults();
  size_t stride = numResults + 1;
  // The best total of the arguments from one on and the results from one on.
  std::vector<int> best((numArguments + 1) * stride);
  auto at = [&](size_t argument, size_t result) -> int & {
    return best[argument * stride + result];
  };
  auto getPaired = [&](size_t argument, size_t result) {
    int score = scores.get(argument, result);
    return score ? score + at(argument + 1, result + 1) : 0;
  };
  for (size_t argument = numArguments; argument-- > 0;)
    for (size_t result = numResults; result-- > 0;)
      at(argument, result) =
          std::max({at(argument + 1, result), at(argument, result + 1),
                    getPaired(argument, result)});
  SmallVector<StatePair> pairs;
  size_t argument = 0, result = 0;
  while (argument < numArguments && result < numResults) {
    int total = at(argument, result);
    if (total && getPaired(argument, result) == total)
      pairs.emplace_back(argument++, result++);
    else if (at(argument + 1, result) == total)
      ++argument;
    else
      ++result;
  }
  return pairs;
}

SmallVector<unsigned> amsp::findPossibleResults(func::FuncOp step,
                                                ArrayRef<StatePair> pairs,
                                                unsigned argument) {
  Type type = step.getArgumentTypes()[argument];
  SmallVector<unsigned> found;
  if (!isFloatScalar(type))
    return found;
  unsigned begin = 0, end = step.getNumResults();
  for (auto [state, result] : pairs) {
    if (state < argument)
      begin = std::max(begin, result + 1);
    else
      end = std::min(end, result);
  }
  for (unsigned result = begin; result < end; ++result)
    if (step.getResultTypes()[result] == type)
      found.push_back(result);
  return found;
}
