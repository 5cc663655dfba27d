//===- SimplifyCollectives.cpp - Fewer and smaller collectives ------------===//

#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Placement/Digits.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_SIMPLIFYCOLLECTIVES
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

// All patterns are for collectives of one tensor: fusion comes later.

static bool isSingle(Operation *op) { return op->getNumOperands() == 1; }

static std::optional<int64_t> toSigned(std::optional<uint64_t> number) {
  if (!number)
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

static PartAttr getPart(CollectiveOpInterface op) { return op.getPart(0); }

/// The part for a value of the same origin, with no pieces.
static ArrayAttr withoutPieces(PartAttr part) {
  MLIRContext *context = part.getContext();
  return ArrayAttr::get(context,
                        PartAttr::get(context, std::nullopt, 0,
                                      part.getParameter(), part.getUnit()));
}

/// The rank's piece of a value, cut as a collective cuts it.
static Value createSlice(OpBuilder &builder, Location loc, Type piece,
                         Value value, GroupAttr group, PartAttr part) {
  IntegerAttr dim;
  if (part.getDim())
    dim = builder.getI64IntegerAttr(*part.getDim());
  return LocalSliceOp::create(builder, loc, piece, value, group, dim,
                              builder.getI64IntegerAttr(part.getKeep()));
}

static unsigned getWidth(Type type) {
  return cast<RankedTensorType>(type).getElementTypeBitWidth();
}

/// A conversion between floating-point types that loses nothing.
static bool isWidening(stablehlo::ConvertOp convert) {
  Type from = getTensorType(convert.getOperand()).getElementType();
  Type to = getTensorType(convert.getResult()).getElementType();
  return isa<FloatType>(from) && isa<FloatType>(to) &&
         llvm::APFloatBase::isRepresentableBy(
             cast<FloatType>(from).getFloatSemantics(),
             cast<FloatType>(to).getFloatSemantics()) &&
         getWidth(convert.getOperand().getType()) < getWidth(convert.getType());
}

namespace {
/// A pattern that counts its rewrites in one of the pass's statistics.
template <typename OpTy> struct CountingPattern : OpRewritePattern<OpTy> {
  CountingPattern(MLIRContext *context, PassStatistic &count)
      : OpRewritePattern<OpTy>(context), count(count) {}
  PassStatistic &count;
};

/// One list of digits for each set of ranks: an all_reduce has no order.
struct SortAllReduce : OpRewritePattern<AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Digit> sorted = sortByRank(op.getGroup().getDigits());
    if (sorted.empty()) {
      rewriter.replaceOp(op, op.getOperands());
      return success();
    }
    if (ArrayRef(sorted) == op.getGroup().getDigits())
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.setGroupAttr(GroupAttr::get(getContext(), sorted)); });
    return success();
  }
};

/// Over one rank there is nothing to combine.
struct ScatterOverOneRank : OpRewritePattern<ReduceScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceScatterOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op) || op.getGroup().getSize() != 1)
      return failure();
    auto collective = cast<CollectiveOpInterface>(*op);
    rewriter.replaceOp(
        op, createSlice(rewriter, op.getLoc(), collective.getPieceType(0),
                        op->getOperand(0), op.getGroup(), getPart(collective)));
    return success();
  }
};

/// A sum of which each rank only takes its piece is scattered, and the piece
/// combined over the other digits.
struct ScatterSlicedSum : CountingPattern<AllReduceOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op) || op->use_empty())
      return failure();
    auto first = dyn_cast<LocalSliceOp>(*op->user_begin());
    bool areAlike =
        first && llvm::all_of(op->getUsers(), [&](Operation *user) {
          return isa<LocalSliceOp>(user) &&
                 user->getAttrDictionary() == first->getAttrDictionary() &&
                 user->getResultTypes() == first->getResultTypes();
        });
    if (!areAlike || first.getGroup().getSize() == 1)
      return failure();
    std::optional<SmallVector<Digit>> rest =
        removeDigits(op.getGroup().getDigits(), first.getGroup().getDigits());
    if (!rest)
      return failure();
    PartAttr part = getPart(cast<CollectiveOpInterface>(*op));
    auto scatteredPart =
        PartAttr::get(getContext(), toSigned(first.getDim()), first.getKeep(),
                      part.getParameter(), part.getUnit());
    Value piece = ReduceScatterOp::create(
                      rewriter, op.getLoc(), first->getResultTypes(),
                      op.getOperands(), op.getReductionAttr(), first.getGroup(),
                      rewriter.getArrayAttr(scatteredPart))
                      .getResult(0);
    if (!rest->empty())
      piece = AllReduceOp::create(rewriter, op.getLoc(), TypeRange(piece),
                                  piece, op.getReductionAttr(),
                                  GroupAttr::get(getContext(), *rest),
                                  withoutPieces(part))
                  .getResult(0);
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      rewriter.replaceOp(user, piece);
    rewriter.eraseOp(op);
    ++count;
    return success();
  }
};

/// A value that is scattered, perhaps combined over other digits, and gathered
/// again is combined on all ranks at once; who wants the piece takes it.
struct GatherOfScattered : CountingPattern<AllGatherOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(AllGatherOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op))
      return failure();
    Value piece = op->getOperand(0), scattered = piece;
    SmallVector<Digit> digits(op.getGroup().getDigits());
    auto reduce = piece.getDefiningOp<AllReduceOp>();
    if (reduce) {
      if (!isSingle(reduce) || !reduce->getOperand(0).hasOneUse())
        return failure();
      llvm::append_range(digits, reduce.getGroup().getDigits());
      scattered = reduce->getOperand(0);
    }
    auto scatter = scattered.getDefiningOp<ReduceScatterOp>();
    if (!scatter || !isSingle(scatter) || scatter.getGroup() != op.getGroup() ||
        (reduce && reduce.getReduction() != scatter.getReduction()))
      return failure();
    PartAttr part = getPart(cast<CollectiveOpInterface>(*scatter));
    PartAttr gathered = getPart(cast<CollectiveOpInterface>(*op));
    if (part.getDim() != gathered.getDim() ||
        part.getKeep() != gathered.getKeep() ||
        getTensorType(op->getResult(0)).getNumElements() !=
            getTensorType(scatter->getOperand(0)).getNumElements())
      return failure();
    rewriter.setInsertionPoint(scatter);
    Value whole =
        AllReduceOp::create(rewriter, op.getLoc(), scatter->getOperandTypes(),
                            scatter->getOperands(), scatter.getReductionAttr(),
                            GroupAttr::get(getContext(), sortByRank(digits)),
                            withoutPieces(part))
            .getResult(0);
    Value slice = createSlice(rewriter, op.getLoc(), piece.getType(), whole,
                              op.getGroup(), part);
    HloBuilder hlo = {rewriter, op.getLoc()};
    rewriter.replaceOp(
        op, hlo.reshape(whole, getTensorType(op->getResult(0)).getShape()));
    rewriter.replaceOp(piece.getDefiningOp(), slice);
    ++count;
    return success();
  }
};

/// What only widens on its way to a gather, a maximum or a minimum widens
/// behind it. A sum would have other bits.
template <typename OpTy> struct WidenLater : CountingPattern<OpTy> {
  using CountingPattern<OpTy>::CountingPattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op))
      return failure();
    auto collective = cast<CollectiveOpInterface>(*op);
    auto convert =
        op->getOperand(0).template getDefiningOp<stablehlo::ConvertOp>();
    if (collective.getCombiner() == Reduction::Sum || !convert ||
        !isWidening(convert))
      return failure();
    Type narrow = getTensorType(convert.getOperand()).getElementType();
    RankedTensorType type = collective.getResultType(0);
    Operation *moved = rewriter.clone(*op);
    moved->setOperand(0, convert.getOperand());
    moved->getResult(0).setType(type.clone(narrow));
    rewriter.replaceOpWithNewOp<stablehlo::ConvertOp>(op, type,
                                                      moved->getResult(0));
    ++this->count;
    return success();
  }
};

/// What is only read narrower than it is gathered is gathered so.
struct NarrowEarlier : CountingPattern<stablehlo::ConvertOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(stablehlo::ConvertOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getTensorType(op.getOperand()).getElementType();
    Type to = getTensorType(op.getResult()).getElementType();
    if (!isa<FloatType>(from) || !isa<FloatType>(to) ||
        getWidth(op.getType()) >= getWidth(op.getOperand().getType()))
      return failure();
    // Changes of shape do not touch elements.
    SmallVector<Operation *> chain;
    Value value = op.getOperand();
    while (isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
                           stablehlo::SliceOp, stablehlo::TransposeOp>(
               value.getDefiningOp()) &&
           value.hasOneUse()) {
      chain.push_back(value.getDefiningOp());
      value = chain.back()->getOperand(0);
    }
    auto gather = value.getDefiningOp<AllGatherOp>();
    if (!gather || !isSingle(gather) || !value.hasOneUse())
      return failure();
    chain.push_back(gather);
    rewriter.setInsertionPoint(gather);
    Value piece = gather->getOperand(0);
    Value narrow = stablehlo::ConvertOp::create(
        rewriter, op.getLoc(), getTensorType(piece).clone(to), piece);
    for (Operation *link : llvm::reverse(chain)) {
      rewriter.setInsertionPoint(link);
      Operation *copy = rewriter.clone(*link);
      copy->setOperand(0, narrow);
      narrow = copy->getResult(0);
      narrow.setType(getTensorType(narrow).clone(to));
    }
    rewriter.replaceOp(op, narrow);
    ++count;
    return success();
  }
};

struct SimplifyCollectives
    : amsp::impl::SimplifyCollectivesBase<SimplifyCollectives> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MLIRContext *context = &getContext();
    patterns.add<ScatterOverOneRank, SortAllReduce>(context);
    patterns.add<ScatterSlicedSum>(context, numScattered);
    patterns.add<GatherOfScattered>(context, numReduced);
    patterns.add<NarrowEarlier, WidenLater<AllGatherOp>,
                 WidenLater<AllReduceOp>, WidenLater<ReduceScatterOp>>(
        context, numNarrowed);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.enableFolding(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
