//===- CountedLoop.cpp - Loops that run a known number of times -----------===//

#include "amsp/Placement/CountedLoop.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

static std::optional<int64_t> getConstant(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) ||
      !splat.getElementType().isInteger())
    return std::nullopt;
  return splat.getSplatValue<APInt>().getSExtValue();
}

std::optional<CountedLoop> amsp::getCountedLoop(WhileOp loop) {
  auto compare = loop.getCond()
                     .front()
                     .getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &loop.getCond().front())
    return std::nullopt;
  unsigned index = counter.getArgNumber();
  auto next = loop.getBody()
                  .front()
                  .getTerminator()
                  ->getOperand(index)
                  .getDefiningOp<stablehlo::AddOp>();
  if (!next || next.getLhs() != loop.getBody().getArgument(index))
    return std::nullopt;
  std::optional<int64_t> first = getConstant(loop.getOperand()[index]);
  std::optional<int64_t> limit = getConstant(compare.getRhs());
  std::optional<int64_t> step = getConstant(next.getRhs());
  if (!first || !limit || !step || *step < 1)
    return std::nullopt;
  int64_t trips =
      std::max<int64_t>(0, llvm::divideCeil(*limit - *first, *step));
  return CountedLoop{index, *first, *step, trips};
}

std::optional<int64_t> amsp::getLoopTripCount(WhileOp loop) {
  if (std::optional<CountedLoop> counted = getCountedLoop(loop))
    return counted->trips;
  return std::nullopt;
}

int64_t amsp::getTripCount(Operation *op) {
  int64_t count = 1;
  for (auto loop = op->getParentOfType<WhileOp>(); loop;
       loop = loop->getParentOfType<WhileOp>())
    count *= getLoopTripCount(loop).value_or(kUnknownTripCount);
  return count;
}
