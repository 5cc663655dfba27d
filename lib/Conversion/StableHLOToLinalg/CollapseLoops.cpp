//===- CollapseLoops.cpp - Contiguous loops become one --------------------===//

#include "FusionHeuristics.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;
using namespace amsp;

/// Whether all operands and results are whole tensors: reshaping a slice of one
/// would mean a copy.
static bool touchesWholeTensors(linalg::LinalgOp op) {
  auto isSlice = [](Value value) {
    return isa_and_nonnull<tensor::ExtractSliceOp>(value.getDefiningOp());
  };
  auto isInserted = [](Operation *user) {
    return isa<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(user);
  };
  return llvm::none_of(op->getOperands(), isSlice) &&
         llvm::none_of(op->getUsers(), isInserted);
}

/// Groups of adjacent loops of one kind that appear together, in order, in
/// every operand that has one of them.
static SmallVector<ReassociationIndices>
findContiguousLoops(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || !touchesWholeTensors(op) || op.hasIndexSemantics())
    return {};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0, end = op.getNumLoops(); loop < end; ++loop) {
    if (!groups.empty() && iterators[loop] == iterators[loop - 1]) {
      ReassociationIndices extended = groups.back();
      extended.push_back(loop);
      if (llvm::all_of(maps, [&](AffineMap map) {
            return linalg::isDimSequencePreserved(map, extended);
          })) {
        groups.back() = extended;
        continue;
      }
    }
    groups.push_back({loop});
  }
  llvm::erase_if(groups, [](const ReassociationIndices &group) {
    return group.size() == 1;
  });
  return groups;
}

LogicalResult amsp::collapseContiguousLoops(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  linalg::populateCollapseDimensions(patterns, findContiguousLoops);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                       root->getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns,
                                                     root->getContext());
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, root->getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(root, std::move(patterns), config);
}
