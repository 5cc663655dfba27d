//===- LowerHost.cpp - The step as the C ABI's execute function -----------===//

#include "AdjacentBuffers.h"
#include "BufferAliases.h"
#include "GemmShape.h"
#include "HostAddresses.h"
#include "HostConstants.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/MemoryProfile.h"
#include "amsp/Target/CPU/Passes.h"
#include "amsp/Target/DataTypes.h"
#include "amsp/Target/Manifest.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace amsp {
#define GEN_PASS_DEF_LOWERHOST
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
/// Lowers one step.
class HostLowering {
public:
  HostLowering(ModuleOp module, func::FuncOp step)
      : module(module), step(step), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        constants(module) {}

  LogicalResult run();

private:
  void changeSignature();
  void declareRuntime();
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ArrayRef<Type> types);
  LogicalResult convertGlobals();

  LogicalResult lower(Operation *op);
  LogicalResult lower(LaunchOp op);
  LogicalResult lower(ContractOp op);
  LogicalResult lower(CollectiveStartOp op);
  LogicalResult lower(CollectiveAwaitOp op);
  LogicalResult lower(RankNumberOp op);
  LogicalResult lower(memref::CopyOp op);
  LogicalResult lower(memref::LoadOp op);
  LogicalResult lower(memref::StoreOp op);
  void eraseViews();

  FailureOr<Value> addressOf(Operation *op, Value memref) {
    return addresses->getAddress(builder, op->getLoc(), memref);
  }
  Value addressOf(Location loc, FlatSymbolRefAttr symbol) {
    return LLVM::AddressOfOp::create(builder, loc, pointer, symbol);
  }
  void allocateFrame();
  /// An array of addresses in the frame of `execute`, `first` places behind its
  /// start.
  FailureOr<Value> storeAddresses(Operation *op, ValueRange memrefs,
                                  int32_t first);

  ModuleOp module;
  func::FuncOp step;
  OpBuilder builder;
  LLVM::LLVMPointerType pointer;
  HostConstants constants;
  std::optional<HostAddresses> addresses;
  Value rank;
  Value frame; // of the most addresses that a collective takes
  LLVM::LLVMFuncOp rankNumber, collectiveStart, collectiveAwait, gemmRun;
  DenseMap<int64_t, FlatSymbolRefAttr> collectives; // by id
};
} // namespace

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp HostLowering::declare(StringRef name, Type result,
                                       ArrayRef<Type> types) {
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, types));
}

void HostLowering::declareRuntime() {
  builder.setInsertionPointToStart(module.getBody());
  auto none = LLVM::LLVMVoidType::get(module.getContext());
  rankNumber = declare("amsp_rank_number", builder.getI64Type(), {pointer});
  collectiveStart = declare("amsp_collective_start", none,
                            {pointer, pointer, pointer, pointer});
  collectiveAwait = declare("amsp_collective_await", none, {pointer, pointer});
  gemmRun = declare("amsp_gemm_run", none,
                    {pointer, pointer, pointer, pointer, pointer});
}

/// (arguments..., result buffers...) -> (rank, arena, arguments, results)
void HostLowering::changeSignature() {
  Block &body = step.getBody().front();
  unsigned numBuffers = body.getNumArguments();
  Location loc = step.getLoc();
  rank = body.addArgument(pointer, loc);
  Value arena = body.addArgument(pointer, loc);
  Value arguments = body.addArgument(pointer, loc);
  Value results = body.addArgument(pointer, loc);
  addresses.emplace(arena);
  for (unsigned i = 0; i < numBuffers; ++i) {
    auto result = step.getArgAttrOfType<IntegerAttr>(i, kResultBufferAttr);
    addresses->setSlot(body.getArgument(i), result ? results : arguments,
                       result ? result.getInt() : i);
  }
}

/// Constants of a step as LLVM's, so that host and kernels see addresses only.
LogicalResult HostLowering::convertGlobals() {
  LLVMTypeConverter converter(module.getContext());
  for (auto global :
       llvm::make_early_inc_range(module.getOps<memref::GlobalOp>())) {
    MemRefType type = global.getType();
    auto value = dyn_cast_or_null<ElementsAttr>(global.getInitialValueAttr());
    if (!value)
      return global.emitOpError("has no initial value");
    Type llvmType = converter.convertType(type.getElementType());
    for (int64_t size : llvm::reverse(type.getShape()))
      llvmType = LLVM::LLVMArrayType::get(llvmType, size);
    Attribute initial = value;
    if (type.getRank() == 0)
      initial = value.getSplatValue<Attribute>();
    builder.setInsertionPoint(global);
    auto converted = LLVM::GlobalOp::create(
        builder, global.getLoc(), llvmType, /*isConstant=*/true,
        LLVM::Linkage::Private, global.getSymName(), initial,
        /*alignment=*/64);
    (void)converted;
    global.erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult HostLowering::lower(LaunchOp op) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    if (!isa<MemRefType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> address = addressOf(op, operand);
    if (failed(address))
      return failure();
    operands.push_back(*address);
  }
  func::CallOp::create(builder, op.getLoc(), op.getKernel(), TypeRange(),
                       operands);
  op.erase();
  return success();
}

LogicalResult HostLowering::lower(ContractOp op) {
  std::optional<GemmShape> shape = matchGemm(op);
  if (!shape)
    return op.emitOpError("has strides that BLAS does not take");
  Type elementType =
      cast<MemRefType>(op.getOutput().getType()).getElementType();
  Value lhs = shape->swapOperands ? op.getRhs() : op.getLhs();
  Value rhs = shape->swapOperands ? op.getLhs() : op.getRhs();
  FailureOr<Value> a = addressOf(op, lhs), b = addressOf(op, rhs),
                   c = addressOf(op, op.getOutput());
  if (failed(a) || failed(b) || failed(c))
    return failure();
  Value gemm = addressOf(op.getLoc(), constants.addGemm(*shape, elementType));
  LLVM::CallOp::create(builder, op.getLoc(), gemmRun,
                       ValueRange{rank, gemm, *a, *b, *c});
  op.erase();
  return success();
}

/// The arrays of addresses of all collectives share one place, since a start
/// keeps none.
void HostLowering::allocateFrame() {
  int64_t size = 0;
  step.walk([&](CollectiveStartOp op) {
    size = std::max<int64_t>(size, op.getNumOperands());
  });
  if (size == 0)
    return;
  builder.setInsertionPointToStart(&step.getBody().front());
  Value count = LLVM::ConstantOp::create(builder, step.getLoc(),
                                         builder.getI64Type(), size);
  frame =
      LLVM::AllocaOp::create(builder, step.getLoc(), pointer, pointer, count);
}

FailureOr<Value> HostLowering::storeAddresses(Operation *op, ValueRange memrefs,
                                              int32_t first) {
  auto getSlot = [&](int32_t index) -> Value {
    return LLVM::GEPOp::create(builder, op->getLoc(), pointer, pointer, frame,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  for (auto [index, memref] : llvm::enumerate(memrefs)) {
    FailureOr<Value> address = addressOf(op, memref);
    if (failed(address))
      return failure();
    LLVM::StoreOp::create(builder, op->getLoc(), *address,
                          getSlot(first + static_cast<int32_t>(index)));
  }
  return first == 0 ? frame : getSlot(first);
}

LogicalResult HostLowering::lower(CollectiveStartOp op) {
  CollectiveInfoAttr info = op.getInfo();
  auto type = cast<MemRefType>(op.getSources()[0].getType());
  if (!getDataType(type.getElementType()))
    return op.emitOpError("cannot move elements of type ")
           << type.getElementType();
  FlatSymbolRefAttr description =
      constants.addCollective(info, type.getElementType(), isContiguous(op));
  if (!collectives.try_emplace(info.getId(), description).second)
    return op.emitOpError("has the id of another collective");
  FailureOr<Value> sources = storeAddresses(op, op.getSources(), 0);
  FailureOr<Value> destinations = storeAddresses(
      op, op.getDestinations(), static_cast<int32_t>(op.getSources().size()));
  if (failed(sources) || failed(destinations))
    return failure();
  Value collective = addressOf(op.getLoc(), description);
  LLVM::CallOp::create(builder, op.getLoc(), collectiveStart,
                       ValueRange{rank, collective, *sources, *destinations});
  op.erase();
  return success();
}

LogicalResult HostLowering::lower(CollectiveAwaitOp op) {
  FlatSymbolRefAttr description = collectives.lookup(op.getInfo().getId());
  if (!description)
    return op.emitOpError("has no start before it");
  Value collective = addressOf(op.getLoc(), description);
  LLVM::CallOp::create(builder, op.getLoc(), collectiveAwait,
                       ValueRange{rank, collective});
  op.erase();
  return success();
}

LogicalResult HostLowering::lower(RankNumberOp op) {
  Value number =
      LLVM::CallOp::create(builder, op.getLoc(), rankNumber, ValueRange{rank})
          .getResult();
  op.replaceAllUsesWith(
      arith::IndexCastOp::create(builder, op.getLoc(), op.getType(), number)
          .getResult());
  op.erase();
  return success();
}

LogicalResult HostLowering::lower(memref::CopyOp op) {
  for (Value buffer : {op.getSource(), op.getTarget()})
    if (!memref::isStaticShapeAndContiguousRowMajor(
            cast<MemRefType>(buffer.getType())))
      return op.emitOpError("is no plain block of bytes: amsp-normalize-loops "
                            "makes loops of such copies");
  FailureOr<Value> source = addressOf(op, op.getSource());
  FailureOr<Value> target = addressOf(op, op.getTarget());
  if (failed(source) || failed(target))
    return failure();
  int64_t bytes = getBufferBytes(cast<MemRefType>(op.getTarget().getType()));
  Value size = LLVM::ConstantOp::create(builder, op.getLoc(),
                                        builder.getI64Type(), bytes);
  LLVM::MemcpyOp::create(builder, op.getLoc(), *target, *source, size,
                         /*isVolatile=*/false);
  op.erase();
  return success();
}

LogicalResult HostLowering::lower(memref::LoadOp op) {
  FailureOr<Value> address = addresses->getElementAddress(
      builder, op.getLoc(), op.getMemref(), op.getIndices());
  if (failed(address))
    return op.emitOpError("has a layout that the host program cannot address");
  Type type = op.getType();
  Type stored = type.isIndex() ? builder.getI64Type() : type;
  Value value = LLVM::LoadOp::create(builder, op.getLoc(), stored, *address);
  if (type.isIndex())
    value = arith::IndexCastOp::create(builder, op.getLoc(), type, value);
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

LogicalResult HostLowering::lower(memref::StoreOp op) {
  FailureOr<Value> address = addresses->getElementAddress(
      builder, op.getLoc(), op.getMemref(), op.getIndices());
  if (failed(address))
    return op.emitOpError("has a layout that the host program cannot address");
  Value value = op.getValue();
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, op.getLoc(),
                                       builder.getI64Type(), value);
  LLVM::StoreOp::create(builder, op.getLoc(), value, *address);
  op.erase();
  return success();
}

LogicalResult HostLowering::lower(Operation *op) {
  builder.setInsertionPoint(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LaunchOp, ContractOp, CollectiveStartOp, CollectiveAwaitOp,
            RankNumberOp, memref::CopyOp, memref::LoadOp, memref::StoreOp>(
          [&](auto typed) { return lower(typed); })
      .Case([&](memref::GetGlobalOp global) {
        addresses->setSymbol(global, global.getNameAttr());
        return success();
      })
      .Default([](Operation *) { return success(); });
}

void HostLowering::eraseViews() {
  SmallVector<Operation *> views;
  step.walk([&](Operation *op) {
    if (getViewSource(op) || isa<ArenaViewOp, memref::GetGlobalOp>(op))
      views.push_back(op);
  });
  for (Operation *view : llvm::reverse(views))
    view->erase();
}

LogicalResult HostLowering::run() {
  auto arenaBytes = step->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
  auto text = module->getAttrOfType<StringAttr>(kManifestAttr);
  if (!arenaBytes || !text)
    return step.emitError("the arena is not planned or the manifest missing");
  llvm::Expected<llvm::json::Value> manifest = llvm::json::parse(text);
  if (!manifest)
    return module.emitError("manifest: ") << toString(manifest.takeError());
  MemoryProfile memory = getMemoryProfile(module, {});
  (*manifest->getAsObject())["arena_bytes"] = memory.arenaBytes;
  (*manifest->getAsObject())["memory_bytes"] = memory.getTotal();

  declareRuntime();
  changeSignature();
  allocateFrame();
  if (failed(convertGlobals()))
    return failure();
  SmallVector<Operation *> ops;
  step.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(lower(op)))
      return failure();
  eraseViews();
  Block &body = step.getBody().front();
  body.eraseArguments(0, body.getNumArguments() - 4);
  step.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
  step->removeAttr(step.getArgAttrsAttrName());
  step.setName(kExecuteFunction);
  module->setAttr(kManifestAttr, builder.getStringAttr(printManifest(
                                     std::move(*manifest->getAsObject()))));
  return success();
}

namespace {
struct LowerHost : amsp::impl::LowerHostBase<LowerHost> {
  using LowerHostBase::LowerHostBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>(kMainFunction);
    if (!step) {
      module.emitError("no function @main");
      return signalPassFailure();
    }
    if (failed(HostLowering(module, step).run()))
      signalPassFailure();
  }
};
} // namespace
