//===- CollectivesToStableHLO.cpp - Emission as plain StableHLO -----------===//

#include "StepArguments.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"
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

static Value emitAllGather(HloBuilder hlo, Value piece, RankedTensorType full,
                           PartAttr part, DenseIntElementsAttr groups) {
  int64_t dim = part.getDim().value_or(part.getKeep());
  RankedTensorType type = getTensorType(piece);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= groups.getType().getDimSize(1);
  Value gathered =
      stablehlo::AllGatherOp::create(
          hlo.builder, hlo.loc,
          TypeRange(RankedTensorType::get(shape, type.getElementType())),
          ValueRange(piece), dim, groups, stablehlo::ChannelHandleAttr(),
          /*use_global_device_ids=*/false)
          ->getResult(0);
  if (!part.getDim())
    gathered =
        hlo.truncateLast(gathered, flattenShape(full, part.getKeep()).back());
  return hlo.reshape(gathered, full.getShape());
}

static Value emitReduceScatter(HloBuilder hlo, Value full,
                               RankedTensorType piece, PartAttr part,
                               Reduction reduction,
                               DenseIntElementsAttr groups) {
  int64_t dim = part.getDim().value_or(part.getKeep());
  if (!part.getDim()) {
    full = hlo.reshape(full, flattenShape(getTensorType(full), part.getKeep()));
    full = hlo.padLast(full, piece.getShape().back() *
                                 groups.getType().getDimSize(1));
  }
  auto scatter = stablehlo::ReduceScatterOp::create(
      hlo.builder, hlo.loc, piece, full, dim, groups,
      stablehlo::ChannelHandleAttr(), /*use_global_device_ids=*/false);
  buildCombiner(hlo.builder, hlo.loc, scatter.getComputation(), reduction,
                piece.getElementType());
  return scatter;
}

static Value emitAllReduce(HloBuilder hlo, Value value, Reduction reduction,
                           DenseIntElementsAttr groups) {
  RankedTensorType type = getTensorType(value);
  auto reduce = stablehlo::AllReduceOp::create(
      hlo.builder, hlo.loc, TypeRange(type), ValueRange(value), groups,
      stablehlo::ChannelHandleAttr(), /*use_global_device_ids=*/false);
  buildCombiner(hlo.builder, hlo.loc, reduce.getComputation(), reduction,
                type.getElementType());
  return reduce->getResult(0);
}

/// Pieces are cut along the dimension along which they are joined.
static Value emitAllToAll(HloBuilder hlo, Value full, PartAttr part,
                          DenseIntElementsAttr groups) {
  RankedTensorType type = getTensorType(full);
  int64_t dim = part.getDim().value_or(part.getKeep());
  if (!part.getDim())
    full = hlo.reshape(full, flattenShape(type, part.getKeep()));
  Value exchanged =
      stablehlo::AllToAllOp::create(hlo.builder, hlo.loc,
                                    TypeRange(full.getType()), ValueRange(full),
                                    dim, dim, groups.getType().getDimSize(1),
                                    groups, stablehlo::ChannelHandleAttr())
          ->getResult(0);
  return hlo.reshape(exchanged, type.getShape());
}

namespace {
/// One collective of StableHLO for each tensor.
struct EmitCollective : OpInterfaceRewritePattern<CollectiveOpInterface> {
  EmitCollective(MLIRContext *context, int64_t world)
      : OpInterfaceRewritePattern(context), world(world) {}

  LogicalResult matchAndRewrite(CollectiveOpInterface op,
                                PatternRewriter &rewriter) const override {
    HloBuilder hlo = {rewriter, op.getLoc()};
    DenseIntElementsAttr groups = getReplicaGroups(op.getGroup(), world);
    SmallVector<Value> results;
    for (auto [index, value] : llvm::enumerate(op->getOperands())) {
      PartAttr part = op.getPart(index);
      switch (op.getKind()) {
      case CollectiveKind::AllGather:
        results.push_back(
            emitAllGather(hlo, value, op.getFullType(index), part, groups));
        break;
      case CollectiveKind::ReduceScatter:
        results.push_back(emitReduceScatter(hlo, value, op.getPieceType(index),
                                            part, *op.getCombiner(), groups));
        break;
      case CollectiveKind::AllReduce:
        results.push_back(emitAllReduce(hlo, value, *op.getCombiner(), groups));
        break;
      case CollectiveKind::AllToAll:
        results.push_back(emitAllToAll(hlo, value, part, groups));
        break;
      }
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  int64_t world;
};

/// The collective is where its start was.
struct EmitAwait : OpRewritePattern<AwaitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AwaitOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getPending());
    return success();
  }
};

/// They are of use to our own fusion only.
struct EraseIterationBoundary
    : OpRewritePattern<stablehlo::OptimizationBarrierOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::OptimizationBarrierOp op,
                                PatternRewriter &rewriter) const override {
    if (!isIterationBoundary(op))
      return failure();
    rewriter.replaceOp(op, op.getOperands());
    return success();
  }
};

struct EmitGroupIndex : OpRewritePattern<GroupIndexOp> {
  using OpRewritePattern::OpRewritePattern;

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
    patterns.add<EmitCollective>(&getContext(), world);
    patterns.add<EmitAwait, EmitGroupIndex, EraseIterationBoundary>(
        &getContext());
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
    for (NamedAttribute attr : llvm::make_early_inc_range(step->getAttrs()))
      if (isOurs(attr))
        step->removeAttr(attr.getName());
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
