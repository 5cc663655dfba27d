//===- VerifyBuffers.cpp - No buffer is used while in flight --------------===//

#include "BufferAliases.h"
#include "BufferEffects.h"
#include "MemoryRange.h"
#include "amsp/Communication/AsyncCollectives.h"
#include "amsp/Communication/GroupCheck.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"
#include "amsp/Target/DataTypes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace amsp {
#define GEN_PASS_DEF_VERIFYBUFFERS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
/// A collective between its start and its await.
struct InFlight {
  mutable CollectiveStartOp start; // accessors of ops are not const
  SmallVector<MemoryRange, 2> sources;
  SmallVector<MemoryRange, 2> destinations;
};

/// Walks a host program in the order in which it runs.
class Checker {
public:
  /// `bound`: of the bytes in flight, as the schedule was made; negative: none.
  Checker(ModuleOp module, ArrayRef<int64_t> levels, int64_t bound)
      : effects(module), levels(levels), bound(bound) {}

  LogicalResult check(Block &block);

private:
  LogicalResult checkOp(Operation &op);
  LogicalResult checkNested(Operation &op);
  LogicalResult start(CollectiveStartOp op);
  LogicalResult await(CollectiveAwaitOp op);
  LogicalResult checkDescription(CollectiveStartOp op);
  LogicalResult checkOwnBuffers(const InFlight &collective);
  LogicalResult checkAccess(Operation *op, const MemoryRange &range,
                            bool isWritten);
  LogicalResult checkBytesInFlight();

  BufferEffects effects;
  ArrayRef<int64_t> levels;
  int64_t bound;
  SmallVector<InFlight> inFlight; // of the enclosing blocks, then of this one
  int64_t lastId = -1;
};
} // namespace

static SmallVector<MemoryRange, 2> getRanges(ValueRange buffers) {
  return llvm::map_to_vector<2>(buffers, MemoryRange::of);
}

LogicalResult Checker::checkAccess(Operation *op, const MemoryRange &range,
                                   bool isWritten) {
  auto refuse = [&](const InFlight &collective, StringRef what) {
    InFlightDiagnostic diagnostic =
        op->emitOpError() << what << " collective "
                          << collective.start.getInfo().getId() << " ('"
                          << collective.start.getInfo().getName()
                          << "') while it is in flight";
    diagnostic.attachNote(collective.start.getLoc()) << "started here";
    return failure();
  };
  for (const InFlight &collective : inFlight) {
    for (const MemoryRange &destination : collective.destinations)
      if (range.overlaps(destination))
        return refuse(collective, "touches a destination of");
    if (!isWritten)
      continue;
    for (const MemoryRange &source : collective.sources)
      if (range.overlaps(source))
        return refuse(collective, "writes a source of");
  }
  return success();
}

/// Group and sides, as the runtime would refuse them.
LogicalResult Checker::checkDescription(CollectiveStartOp op) {
  CollectiveInfoAttr info = op.getInfo();
  std::string problem = checkGroup(info.getGroup().getDigits(), levels);
  if (!problem.empty())
    return op.emitOpError() << problem;
  int64_t members = info.getGroup().getSize();
  for (auto [full, piece] : llvm::zip_equal(info.getFull(), info.getPiece())) {
    bool isWhole = info.getKind() == CollectiveKind::AllReduce;
    bool isEqual = info.getKind() == CollectiveKind::AllToAll;
    if (isWhole   ? piece != full
        : isEqual ? piece * members != full
                  : piece < (full + members - 1) / members)
      return op.emitOpError() << "has pieces of " << piece << " for " << full
                              << " elements over " << members << " ranks";
  }
  if (info.getId() <= lastId)
    return op.emitOpError() << "has id " << info.getId() << " after " << lastId
                            << ": ids follow the program's order";
  lastId = info.getId();
  return success();
}

/// A destination may hold its own source (all_reduce: in place; all_gather of
/// one row: this rank's piece), and nothing else of the collective.
LogicalResult Checker::checkOwnBuffers(const InFlight &collective) {
  CollectiveInfoAttr info = collective.start.getInfo();
  for (auto [i, destination] : llvm::enumerate(collective.destinations))
    for (size_t j = 0; j < collective.sources.size(); ++j) {
      const MemoryRange &source = collective.sources[j];
      if (j > i && destination.overlaps(collective.destinations[j]))
        return collective.start->emitOpError(
            "has two destinations that share memory");
      bool isInPlace = i == j &&
                       (info.getKind() == CollectiveKind::AllGather ||
                        info.getKind() == CollectiveKind::AllReduce) &&
                       info.getRows()[i] == 1 && destination.contains(source);
      if (!isInPlace && destination.overlaps(source))
        return collective.start->emitOpError(
            "has a destination that shares memory with a source");
    }
  return success();
}

/// Of the full sides, padding included, as the manifest counts them.
static int64_t getPaddedBytes(CollectiveStartOp op) {
  CollectiveInfoAttr info = op.getInfo();
  bool isWhole = info.getKind() == CollectiveKind::AllReduce;
  int64_t members = isWhole ? 1 : info.getGroup().getSize();
  int64_t elements = 0;
  for (auto [rows, piece] : llvm::zip_equal(info.getRows(), info.getPiece()))
    elements += rows * piece * members;
  auto type = cast<MemRefType>(op.getSources().front().getType());
  return elements * getElementBytes(type.getElementType());
}

/// Called behind each start.
LogicalResult Checker::checkBytesInFlight() {
  if (bound < 0)
    return success();
  int64_t bytes = 0;
  for (const InFlight &collective : inFlight)
    bytes += getPaddedBytes(collective.start);
  if (bytes <= bound)
    return success();
  return inFlight.back().start->emitOpError("puts ")
         << bytes << " bytes in flight, the bound is " << bound;
}

LogicalResult Checker::start(CollectiveStartOp op) {
  if (failed(checkDescription(op)))
    return failure();
  InFlight collective{op, getRanges(op.getSources()),
                      getRanges(op.getDestinations())};
  if (failed(checkOwnBuffers(collective)))
    return failure();
  for (const MemoryRange &source : collective.sources)
    if (failed(checkAccess(op, source, /*isWritten=*/false)))
      return failure();
  for (const MemoryRange &destination : collective.destinations)
    if (failed(checkAccess(op, destination, /*isWritten=*/true)))
      return failure();
  inFlight.push_back(std::move(collective));
  return checkBytesInFlight();
}

LogicalResult Checker::await(CollectiveAwaitOp op) {
  auto *started = llvm::find_if(inFlight, [&](const InFlight &collective) {
    return collective.start.getInfo().getId() == op.getInfo().getId();
  });
  if (started == inFlight.end())
    return op.emitOpError()
           << "awaits collective " << op.getInfo().getId() << " ('"
           << op.getInfo().getName() << "'), which is not in flight";
  CollectiveStartOp start = started->start;
  if (start->getBlock() != op->getBlock())
    return op.emitOpError("is in another block than its start");
  if (start.getInfo() != op.getInfo() ||
      start.getSources() != op.getSources() ||
      start.getDestinations() != op.getDestinations())
    return op.emitOpError("differs from its start");
  inFlight.erase(started);
  return success();
}

/// Ranks must agree on whether and how often collectives run.
static LogicalResult checkControl(Operation &op) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  for (Value operand : op.getOperands()) {
    if (isa<MemRefType>(operand.getType()))
      continue;
    if (auto made = operand.getDefiningOp<RankNumberOp>())
      slice.insert(made);
    (void)getBackwardSlice(operand, &slice, options);
  }
  for (Operation *made : slice)
    if (isa<RankNumberOp>(made))
      return op.emitOpError("runs collectives depending on the rank's number");
  return success();
}

LogicalResult Checker::checkNested(Operation &op) {
  bool hasCollectives = op.walk([](CollectiveStartOp) {
                            return WalkResult::interrupt();
                          }).wasInterrupted();
  if (hasCollectives &&
      !isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(op))
    return op.emitOpError("runs collectives in its body, which is no loop or "
                          "branch");
  if (hasCollectives && failed(checkControl(op)))
    return failure();
  for (Region &region : op.getRegions())
    for (Block &block : region)
      if (failed(check(block)))
        return failure();
  return success();
}

LogicalResult Checker::checkOp(Operation &op) {
  if (auto collective = dyn_cast<CollectiveStartOp>(op))
    return start(collective);
  if (auto collective = dyn_cast<CollectiveAwaitOp>(op))
    return await(collective);
  if (op.getNumRegions() > 0 && !isa<MemoryEffectOpInterface>(op))
    return checkNested(op);
  if (getViewSource(&op) || inFlight.empty())
    return success();
  for (OpOperand &operand : op.getOpOperands())
    if (isa<MemRefType>(operand.get().getType()) &&
        failed(checkAccess(&op, MemoryRange::of(operand.get()),
                           effects.writes(operand))))
      return failure();
  return success();
}

LogicalResult Checker::check(Block &block) {
  size_t outside = inFlight.size();
  for (Operation &op : block)
    if (failed(checkOp(op)))
      return failure();
  if (inFlight.size() > outside)
    return inFlight.back().start->emitOpError("is not awaited in its block");
  return success();
}

namespace {
struct VerifyBuffers : amsp::impl::VerifyBuffersBase<VerifyBuffers> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>(kMainFunction);
    auto levels = module->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
    if (!step || !levels) {
      module.emitError("no function @main, or no amsp.levels");
      return signalPassFailure();
    }
    auto bound = step->getAttrOfType<IntegerAttr>(kPrefetchBytesAttr);
    Checker checker(module, levels, bound ? bound.getInt() : -1);
    for (Block &block : step.getBody())
      if (failed(checker.check(block)))
        return signalPassFailure();
  }
};
} // namespace
