//===- SplitHost.cpp - A long execute function in parts -------------------===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace amsp {
#define GEN_PASS_DEF_SPLITHOST
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

static int64_t countOps(Operation *op) {
  int64_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// True for what is allocated on the stack, and for the size of it.
static bool staysInFrame(Operation &op) {
  return isa<LLVM::AllocaOp>(op) ||
         llvm::any_of(op.getUsers(), llvm::IsaPred<LLVM::AllocaOp>);
}

/// The ops of `block` in runs of `maxOps` or a little more, but for those that
/// stay.
static std::vector<SmallVector<Operation *>> findParts(Block &block,
                                                       int64_t maxOps) {
  std::vector<SmallVector<Operation *>> parts(1);
  int64_t size = 0;
  for (Operation &op : block.without_terminator()) {
    if (staysInFrame(op))
      continue;
    if (size >= maxOps) {
      parts.emplace_back();
      size = 0;
    }
    parts.back().push_back(&op);
    size += countOps(&op);
  }
  return parts;
}

static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// Gives the part that `body` is constants of its own, and as arguments what
/// else it reads from outside. Returns the operands of its call.
static SmallVector<Value> closeOver(Region &body) {
  Block &block = body.front();
  SmallVector<OpOperand *> outer;
  block.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!body.isAncestor(operand.get().getParentRegion()))
        outer.push_back(&operand);
  });
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  SmallVector<Value> operands;
  llvm::DenseMap<Value, Value> known;
  for (OpOperand *operand : outer) {
    Value value = operand->get();
    Value &inner = known[value];
    if (!inner && isConstant(value)) {
      inner = builder.clone(*value.getDefiningOp())->getResult(0);
    } else if (!inner) {
      inner = block.addArgument(value.getType(), value.getLoc());
      operands.push_back(value);
    }
    operand->set(inner);
  }
  return operands;
}

/// What is read behind the part.
static SmallVector<Value> getResults(Region &body) {
  SmallVector<Value> results;
  for (Operation &op : body.front())
    for (Value result : op.getResults())
      if (!isConstant(result) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !body.isAncestor(user->getParentRegion());
          }))
        results.push_back(result);
  return results;
}

/// Moves `ops` into a function of their own, in front of `step`.
static void outline(func::FuncOp step, ArrayRef<Operation *> ops,
                    StringRef name) {
  Location loc = step.getLoc();
  OpBuilder builder(step);
  auto part =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  part.setPrivate();
  part->setAttr("passthrough",
                builder.getStrArrayAttr({"noinline", "optnone"}));
  Region &body = part.getBody();
  Block &block = body.emplaceBlock();
  Operation *next = ops.back()->getNextNode();
  for (Operation *op : ops)
    op->moveBefore(&block, block.end());
  SmallVector<Value> operands = closeOver(body), results = getResults(body);
  builder.setInsertionPointToEnd(&block);
  func::ReturnOp::create(builder, loc, results);
  part.setType(builder.getFunctionType(block.getArgumentTypes(),
                                       ValueRange(results).getTypes()));
  builder.setInsertionPoint(next);
  auto call = func::CallOp::create(builder, loc, part, operands);
  for (auto [inner, outer] : llvm::zip_equal(results, call.getResults()))
    inner.replaceUsesWithIf(outer, [&](OpOperand &use) {
      return !body.isAncestor(use.getOwner()->getParentRegion());
    });
}

namespace {
struct SplitHost : amsp::impl::SplitHostBase<SplitHost> {
  using SplitHostBase::SplitHostBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>(kExecuteFunction);
    if (!step || !step.getBody().hasOneBlock()) {
      getOperation().emitError("no function @")
          << kExecuteFunction << " of one block";
      return signalPassFailure();
    }
    auto parts = findParts(step.getBody().front(), maxOps);
    if (parts.size() < 2)
      return;
    for (auto [index, ops] : llvm::enumerate(parts))
      outline(step, ops, (kExecuteFunction + Twine('_') + Twine(index)).str());
    numParts = parts.size();
  }
};
} // namespace
