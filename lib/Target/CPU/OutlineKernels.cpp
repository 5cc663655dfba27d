//===- OutlineKernels.cpp - Moves computation into kernels ----------------===//

#include "BufferAliases.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace amsp {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

//===----------------------------------------------------------------------===//
// What becomes a kernel
//===----------------------------------------------------------------------===//

/// True for a loop nest or conditional that only computes: no buffer is made in
/// it, nothing of the runtime is called, no value leaves it.
static bool isPureNest(Operation *op) {
  if (!isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op) ||
      op->getNumResults() != 0)
    return false;
  WalkResult walk = op->walk([&](Operation *nested) {
    bool isHostOnly = isa<memref::AllocOp, CallOpInterface>(nested) ||
                      isa_and_nonnull<AMSPDialect>(nested->getDialect());
    return isHostOnly ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

static bool isKernel(Operation *op) {
  return isa<linalg::LinalgOp>(op) || isPureNest(op);
}

/// The memref type that a kernel sees: without its offset, which the launch
/// adds.
static Type getKernelType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return type;
  auto layout = dyn_cast<StridedLayoutAttr>(memref.getLayout());
  if (!layout)
    return type;
  auto atStart =
      StridedLayoutAttr::get(type.getContext(), 0, layout.getStrides());
  MemRefType plain =
      MemRefType::get(memref.getShape(), memref.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(plain.getStridesAndOffset(strides, offset)) &&
      ArrayRef(strides) == layout.getStrides())
    return plain;
  return MemRefType::get(memref.getShape(), memref.getElementType(), atStart);
}

//===----------------------------------------------------------------------===//
// Aliasing
//===----------------------------------------------------------------------===//

/// The operands of a kernel that `op` writes through; none if that is not
/// known.
static std::optional<llvm::SmallSetVector<Value, 4>>
getWrittenBuffers(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  if (!effects)
    return std::nullopt;
  llvm::SmallSetVector<Value, 4> written;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    if (!isa<MemoryEffects::Write>(effect.getEffect()))
      continue;
    if (!effect.getValue())
      return std::nullopt;
    written.insert(getRootBuffer(effect.getValue()));
  }
  return written;
}

/// True if no buffer that `op` writes overlaps another one that it uses.
/// Buffers with different roots are disjoint: the arena keeps those apart that
/// are live together, arguments are the runtime's.
static bool areOperandsDisjoint(Operation *op, ArrayRef<Value> operands) {
  auto written = getWrittenBuffers(op);
  if (!written)
    return false;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j) {
      if (!isa<MemRefType>(operands[i].getType()) ||
          !isa<MemRefType>(operands[j].getType()))
        continue;
      Value root = getRootBuffer(operands[i]);
      if (root == getRootBuffer(operands[j]) && written->contains(root))
        return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Outlining
//===----------------------------------------------------------------------===//

namespace {
class Outliner {
public:
  explicit Outliner(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}

  void outline(Operation *op);
  int64_t getNumKernels() const { return kernels.size(); }

private:
  /// What the kernel takes from around `op`: arguments, and cheap ops that it
  /// repeats.
  struct Captures {
    SmallVector<Value> arguments;
    SmallVector<Operation *> repeated; // in an order that defines before use
  };
  Captures getCaptures(Operation *op);
  void capture(Value value, bool repeatViews, Captures &captures,
               llvm::SetVector<Value> &seen);
  func::FuncOp build(Operation *op, const Captures &captures);
  func::FuncOp unify(func::FuncOp kernel);

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  llvm::StringMap<func::FuncOp> kernels; // by text
};
} // namespace

void Outliner::capture(Value value, bool repeatViews, Captures &captures,
                       llvm::SetVector<Value> &seen) {
  if (!seen.insert(value))
    return;
  Operation *definition = value.getDefiningOp();
  bool isRepeated =
      definition && (definition->hasTrait<OpTrait::ConstantLike>() ||
                     (repeatViews && getViewSource(definition)));
  if (!isRepeated) {
    captures.arguments.push_back(value);
    return;
  }
  for (Value operand : definition->getOperands())
    capture(operand, repeatViews, captures, seen);
  captures.repeated.push_back(definition);
}

Outliner::Captures Outliner::getCaptures(Operation *op) {
  Captures captures;
  llvm::SetVector<Value> used, seen;
  used.insert_range(op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  // A linalg op takes any layout, so a slice is passed as the address of its
  // first element; in a nest of loops the types of views depend on their
  // sources.
  bool repeatViews = !isa<linalg::LinalgOp>(op);
  for (Value value : used)
    capture(value, repeatViews, captures, seen);
  return captures;
}

func::FuncOp Outliner::build(Operation *op, const Captures &captures) {
  SmallVector<Type> types;
  for (Value argument : captures.arguments)
    types.push_back(getKernelType(argument.getType()));
  Location loc = op->getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.clearInsertionPoint();
  auto kernel = func::FuncOp::create(builder, loc, "kernel",
                                     builder.getFunctionType(types, {}));
  kernel.setPrivate();
  if (areOperandsDisjoint(op, captures.arguments))
    for (auto [index, type] : llvm::enumerate(types))
      if (isa<MemRefType>(type))
        kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
  Block *body = kernel.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(captures.arguments, body->getArguments());
  for (Operation *repeated : captures.repeated)
    builder.clone(*repeated, mapping);
  builder.clone(*op, mapping);
  func::ReturnOp::create(builder, loc);
  return kernel;
}

/// The kernel that has the same text as `kernel`, which is erased if another
/// one has.
func::FuncOp Outliner::unify(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  auto [entry, isNew] = kernels.try_emplace(text, kernel);
  if (!isNew) {
    kernel->erase();
    return entry->second;
  }
  kernel.setName(("kernel_" + Twine(kernels.size() - 1)).str());
  symbols.insert(kernel, module.getBody()->end());
  return kernel;
}

void Outliner::outline(Operation *op) {
  Captures captures = getCaptures(op);
  func::FuncOp kernel = unify(build(op, captures));
  builder.setInsertionPoint(op);
  LaunchOp::create(builder, op->getLoc(), kernel.getName(), captures.arguments);
  op->erase();
}

/// Constants are reached from any loop: their buffers are named at the start.
static void hoistGlobals(func::FuncOp step) {
  SmallVector<memref::GetGlobalOp> globals;
  step.walk([&](memref::GetGlobalOp op) { globals.push_back(op); });
  for (memref::GetGlobalOp op : llvm::reverse(globals))
    op->moveBefore(&step.getBody().front(), step.getBody().front().begin());
}

namespace {
struct OutlineKernels : amsp::impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>(kMainFunction);
    if (!step) {
      module.emitError("no function @main");
      return signalPassFailure();
    }
    hoistGlobals(step);
    SmallVector<Operation *> kernels;
    step.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isKernel(op))
        return WalkResult::advance();
      kernels.push_back(op);
      return WalkResult::skip();
    });
    Outliner outliner(module);
    for (Operation *op : kernels)
      outliner.outline(op);
    numLaunches = kernels.size();
    numKernels = outliner.getNumKernels();
  }
};
} // namespace
