//===- CollectivesToStableHLO.cpp - Emission as plain StableHLO -----------===//

#include "HloBuilder.h"
#include "StepArguments.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_COLLECTIVESTOSTABLEHLO
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// The index of a rank in its group.
static int64_t getGroupIndex(int64_t rank, ArrayRef<Digit> digits) {
  int64_t index = 0;
  for (const Digit &digit : digits)
    index = index * digit.size + rank / digit.stride % digit.size;
  return index;
}

/// Lists the ranks of every group, in the order of their indices.
static DenseIntElementsAttr getReplicaGroups(GroupAttr group, int64_t world) {
  ArrayRef<Digit> digits = group.getDigits();
  int64_t members = group.getSize();
  // A group is known by what is left of its ranks without the digits.
  llvm::MapVector<int64_t, SmallVector<int64_t>> groups;
  for (int64_t rank = 0; rank < world; ++rank) {
    int64_t rest = rank;
    for (const Digit &digit : digits)
      rest -= rank / digit.stride % digit.size * digit.stride;
    SmallVector<int64_t> &ranks = groups[rest];
    ranks.resize(members);
    ranks[getGroupIndex(rank, digits)] = rank;
  }
  SmallVector<int64_t> listed;
  for (auto &[rest, ranks] : groups)
    llvm::append_range(listed, ranks);
  auto type =
      RankedTensorType::get({static_cast<int64_t>(groups.size()), members},
                            IntegerType::get(group.getContext(), 64));
  return DenseIntElementsAttr::get(type, listed);
}

/// Fills the region of a reducing collective.
static void buildCombiner(OpBuilder &builder, Location loc, Region &region,
                          Reduction reduction, Type element) {
  OpBuilder::InsertionGuard guard(builder);
  auto scalar = RankedTensorType::get({}, element);
  Block *block = builder.createBlock(&region, {}, {scalar, scalar}, {loc, loc});
  Value lhs = block->getArgument(0), rhs = block->getArgument(1), combined;
  switch (reduction) {
  case Reduction::Sum:
    combined = stablehlo::AddOp::create(builder, loc, lhs, rhs);
    break;
  case Reduction::Max:
    combined = stablehlo::MaxOp::create(builder, loc, lhs, rhs);
    break;
  case Reduction::Min:
    combined = stablehlo::MinOp::create(builder, loc, lhs, rhs);
    break;
  }
  stablehlo::ReturnOp::create(builder, loc, combined);
}

namespace {
template <typename OpTy> struct CollectivePattern : OpRewritePattern<OpTy> {
  CollectivePattern(MLIRContext *context, int64_t world)
      : OpRewritePattern<OpTy>(context), world(world) {}
  int64_t world;
};

struct EmitAllGather : CollectivePattern<AllGatherOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(AllGatherOp op,
                                PatternRewriter &rewriter) const override {
    HloBuilder hlo = {rewriter, op.getLoc()};
    RankedTensorType piece = getTensorType(op.getOperand());
    RankedTensorType full = getTensorType(op.getResult());
    int64_t dim = op.getDim().value_or(op.getKeep());
    SmallVector<int64_t> shape(piece.getShape());
    shape[dim] *= op.getGroup().getSize();
    Value gathered =
        stablehlo::AllGatherOp::create(
            rewriter, op.getLoc(),
            TypeRange(RankedTensorType::get(shape, piece.getElementType())),
            ValueRange(op.getOperand()), dim,
            getReplicaGroups(op.getGroup(), world),
            stablehlo::ChannelHandleAttr(), /*use_global_device_ids=*/false)
            ->getResult(0);
    if (!op.getDim())
      gathered =
          hlo.truncateLast(gathered, flattenShape(full, op.getKeep()).back());
    rewriter.replaceOp(op, hlo.reshape(gathered, full.getShape()));
    return success();
  }
};

struct EmitReduceScatter : CollectivePattern<ReduceScatterOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(ReduceScatterOp op,
                                PatternRewriter &rewriter) const override {
    HloBuilder hlo = {rewriter, op.getLoc()};
    RankedTensorType piece = getTensorType(op.getResult());
    int64_t dim = op.getDim().value_or(op.getKeep());
    Value full = op.getOperand();
    if (!op.getDim()) {
      full = hlo.reshape(full, flattenShape(getTensorType(full), op.getKeep()));
      full =
          hlo.padLast(full, piece.getShape().back() * op.getGroup().getSize());
    }
    auto scatter = stablehlo::ReduceScatterOp::create(
        rewriter, op.getLoc(), piece, full, dim,
        getReplicaGroups(op.getGroup(), world), stablehlo::ChannelHandleAttr(),
        /*use_global_device_ids=*/false);
    buildCombiner(rewriter, op.getLoc(), scatter.getComputation(),
                  op.getReduction(), piece.getElementType());
    rewriter.replaceOp(op, scatter);
    return success();
  }
};

struct EmitAllReduce : CollectivePattern<AllReduceOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = getTensorType(op.getResult());
    auto reduce = stablehlo::AllReduceOp::create(
        rewriter, op.getLoc(), TypeRange(type), ValueRange(op.getOperand()),
        getReplicaGroups(op.getGroup(), world), stablehlo::ChannelHandleAttr(),
        /*use_global_device_ids=*/false);
    buildCombiner(rewriter, op.getLoc(), reduce.getComputation(),
                  op.getReduction(), type.getElementType());
    rewriter.replaceOp(op, reduce);
    return success();
  }
};

struct EmitGroupIndex : CollectivePattern<GroupIndexOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(GroupIndexOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    HloBuilder hlo = {rewriter, loc};
    auto idType = RankedTensorType::get({}, rewriter.getIntegerType(32, false));
    Value rank = stablehlo::ReplicaIdOp::create(rewriter, loc, idType);
    rank = stablehlo::ConvertOp::create(rewriter, loc, rank,
                                        rewriter.getI32Type());
    Value index = hlo.constant(0);
    for (const Digit &digit : op.getGroup().getDigits()) {
      Value coordinate = stablehlo::DivOp::create(rewriter, loc, rank,
                                                  hlo.constant(digit.stride));
      coordinate = stablehlo::RemOp::create(rewriter, loc, coordinate,
                                            hlo.constant(digit.size));
      index = stablehlo::AddOp::create(
          rewriter, loc, hlo.multiply(index, digit.size), coordinate);
    }
    rewriter.replaceOp(op, index);
    return success();
  }
};

struct CollectivesToStableHLO
    : amsp::impl::CollectivesToStableHLOBase<CollectivesToStableHLO> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = getStep(module);
    if (failed(step))
      return signalPassFailure();
    auto levels = module->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
    if (!levels) {
      module.emitError("not a rank's program: no amsp.levels");
      return signalPassFailure();
    }
    int64_t world = llvm::product_of(levels.asArrayRef());
    RewritePatternSet patterns(&getContext());
    patterns
        .add<EmitAllGather, EmitAllReduce, EmitGroupIndex, EmitReduceScatter>(
            &getContext(), world);
    walkAndApplyPatterns(module, std::move(patterns));
    removeAttributes(module, *step);
    module->setAttr("mhlo.num_replicas",
                    Builder(&getContext()).getI32IntegerAttr(world));
  }

private:
  static void removeAttributes(ModuleOp module, func::FuncOp step) {
    auto isOurs = [](NamedAttribute attr) {
      return attr.getName().strref().starts_with("amsp.");
    };
    for (NamedAttribute attr : llvm::make_early_inc_range(module->getAttrs()))
      if (isOurs(attr))
        module->removeAttr(attr.getName());
    for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i)
      for (NamedAttribute attr :
           mlir::function_interface_impl::getArgAttrs(step, i))
        if (isOurs(attr))
          step.removeArgAttr(i, attr.getName());
    for (unsigned i = 0, e = step.getNumResults(); i < e; ++i)
      for (NamedAttribute attr :
           mlir::function_interface_impl::getResultAttrs(step, i))
        if (isOurs(attr))
          step.removeResultAttr(i, attr.getName());
  }
};
} // namespace
