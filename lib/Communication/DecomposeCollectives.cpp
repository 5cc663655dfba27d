//===- DecomposeCollectives.cpp - One collective per level ----------------===//

#include "CollectiveBuckets.h"
#include "CollectiveBuilder.h"
#include "Decisions.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Placement/Strategy.h"
#include "amsp/Planner/Decomposition.h"
#include "amsp/Target/DataTypes.h"
#include "amsp/Target/Manifest.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace amsp {
#define GEN_PASS_DEF_DECOMPOSECOLLECTIVES
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
/// Writes a collective as stages.
class StageBuilder {
public:
  StageBuilder(CollectiveOpInterface op, ArrayRef<CollectiveStage> stages)
      : op(op), stages(stages), builder(op) {
    for (const CollectiveStage &stage : stages)
      if (stage.kind == CollectiveKind::ReduceScatter)
        piecesLeft *= getGroupSize(stage.digits);
    pieces = piecesLeft;
  }

  void replace();

private:
  RankedTensorType getStageType(unsigned tensor, RankedTensorType from,
                                const CollectiveStage &stage) const;
  int64_t getPieceElements(unsigned tensor) const;

  mutable CollectiveOpInterface op; // accessors of ops are not const
  ArrayRef<CollectiveStage> stages;
  OpBuilder builder;
  /// Into which the stages scatter, and those behind the current one.
  int64_t pieces = 1, piecesLeft = 1;
};
} // namespace

/// Of the pieces (of a kept row) into which a tensor is scattered.
int64_t StageBuilder::getPieceElements(unsigned tensor) const {
  if (op.getKind() == CollectiveKind::AllReduce)
    return llvm::divideCeil(op.getFullType(tensor).getNumElements(), pieces);
  return op.getPieceType(tensor).getShape().back();
}

/// The type that a stage makes of a tensor of type `from`.
RankedTensorType
StageBuilder::getStageType(unsigned tensor, RankedTensorType from,
                           const CollectiveStage &stage) const {
  bool isGather = stage.kind == CollectiveKind::AllGather;
  if (stage.kind == CollectiveKind::AllReduce)
    return from;
  if (isGather && &stage == &stages.back())
    return op.getFullType(tensor);
  PartAttr part = op.getPart(tensor);
  int64_t members = getGroupSize(stage.digits);
  SmallVector<int64_t> shape(from.getShape());
  if (std::optional<int64_t> dim = part.getDim()) {
    shape[*dim] = isGather ? shape[*dim] * members : shape[*dim] / members;
  } else if (isGather) {
    shape.back() *= members;
  } else {
    shape.truncate(part.getKeep());
    shape.push_back(getPieceElements(tensor) * piecesLeft);
  }
  return RankedTensorType::get(shape, from.getElementType());
}

void StageBuilder::replace() {
  CollectiveTraits traits = CollectiveTraits::get(op);
  SmallVector<Attribute> parts(op.getParts().getValue());
  SmallVector<Value> values(op->getOperands());
  for (const CollectiveStage &stage : stages) {
    if (stage.kind == CollectiveKind::ReduceScatter)
      piecesLeft /= getGroupSize(stage.digits);
    SmallVector<Type> types;
    for (auto [index, value] : llvm::enumerate(values))
      types.push_back(
          getStageType(index, cast<RankedTensorType>(value.getType()), stage));
    traits.kind = stage.kind;
    traits.group = GroupAttr::get(op.getContext(), stage.digits);
    CollectiveOpInterface built =
        createCollective(builder, op.getLoc(), traits, values, types, parts);
    values = built->getResults();
  }
  op->replaceAllUsesWith(values);
  op->erase();
}

namespace {
struct DecomposeCollectives
    : amsp::impl::DecomposeCollectivesBase<DecomposeCollectives> {
  using Base::Base;

  void runOnOperation() override;

private:
  llvm::Expected<CollectiveModel> readModel();
  DenseMap<Operation *, int64_t> getDecidingElements();
};
} // namespace

/// The model of the cluster, which must be the program's.
llvm::Expected<CollectiveModel> DecomposeCollectives::readModel() {
  if (cluster.empty())
    return llvm::createStringError(getArgument() + " needs a cluster");
  llvm::Expected<Cluster> parsed = parseCluster(cluster);
  if (!parsed)
    return parsed.takeError();
  llvm::Expected<CollectiveModel> model = CollectiveModel::create(*parsed);
  if (!model)
    return model;
  auto levels = getOperation()->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
  SmallVector<int64_t> sizes = parsed->getSizes();
  if (levels && levels.asArrayRef() != ArrayRef(sizes))
    return llvm::createStringError(
        "the program is for levels " + formatFactors(levels.asArrayRef()) +
        ", cluster '" + parsed->name + "' has " + formatFactors(sizes));
  return model;
}

/// `reduce_scatter over [1:8], all_reduce over [8:4]: 12.345 us`.
static std::string describe(const Decomposition &decomposition) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(
      decomposition.stages, os, [&](const CollectiveStage &stage) {
        os << stringifyCollectiveKind(stage.kind) << " over [";
        llvm::interleaveComma(stage.digits, os, [&](const Digit &digit) {
          os << digit.stride << ":" << digit.size;
        });
        os << "]";
      });
  os << llvm::formatv(": {0:f3} us", decomposition.seconds * 1e6);
  return text;
}

/// The padded elements by which each collective is decided: where what becomes
/// one later is decided together, those of all.
DenseMap<Operation *, int64_t> DecomposeCollectives::getDecidingElements() {
  DenseMap<Operation *, int64_t> elements;
  auto getElements = [](CollectiveOpInterface op) {
    return describeCollective(op).getPaddedElements();
  };
  getOperation().walk([&](Operation *op) {
    if (isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(op))
      elements[op] = getElements(cast<CollectiveOpInterface>(op));
  });
  if (!together)
    return elements;
  getOperation().walk([&](Block *block) {
    for (const CollectiveBucket &bucket : collectBuckets(*block)) {
      // Of no unit, what waits decides whether they become one.
      if (!bucket.shared.unit)
        continue;
      int64_t all = 0;
      for (CollectiveOpInterface member : bucket.members)
        all += getElements(member);
      for (Operation *member : bucket.members)
        elements[member] = all;
    }
  });
  return elements;
}

void DecomposeCollectives::runOnOperation() {
  llvm::Expected<CollectiveModel> model = readModel();
  if (!model) {
    getOperation().emitError(llvm::toString(model.takeError()));
    return signalPassFailure();
  }
  DenseMap<Operation *, int64_t> decidedBy = getDecidingElements();
  SmallVector<CollectiveOpInterface> collectives;
  getOperation().walk([&](Operation *op) {
    if (isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(op))
      collectives.push_back(cast<CollectiveOpInterface>(op));
  });
  // Layers are alike: each question is asked once.
  using Question = std::tuple<unsigned, GroupAttr, int64_t, int64_t>;
  DenseMap<Question, Decomposition> known;
  for (CollectiveOpInterface op : collectives) {
    int64_t elements = decidedBy.lookup(op);
    int64_t width = getElementBytes(op.getElementType());
    auto [answer, isNew] = known.try_emplace(
        {static_cast<unsigned>(op.getKind()), op.getGroup(), elements, width});
    if (isNew)
      answer->second = decompose(op.getKind(), op.getGroup().getDigits(),
                                 elements, width, *model);
    const Decomposition &decomposition = answer->second;
    ArrayRef<CollectiveStage> stages = decomposition.stages;
    if (stages.size() == 1) {
      noteLeft(*this, op.getLoc(), "whole", [&] {
        return describeForRemark(op) + ": no parts are faster by 1 %";
      });
      continue;
    }
    noteDone(*this, op.getLoc(), "decomposed", [&] {
      return describeForRemark(op) + ": " + describe(decomposition);
    });
    StageBuilder(op, stages).replace();
    ++numDecomposed;
  }
}
