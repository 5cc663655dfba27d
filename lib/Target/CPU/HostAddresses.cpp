//===- HostAddresses.cpp - Addresses of a step's buffers ------------------===//

#include "HostAddresses.h"
#include "BufferAliases.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Target/DataTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace amsp;

/// Adds sum(offset * stride) of a memref of this type.
LogicalResult HostAddresses::addOffsets(Address &address, MemRefType type,
                                        ArrayRef<OpFoldResult> offsets) {
  SmallVector<int64_t> strides;
  int64_t base;
  if (failed(type.getStridesAndOffset(strides, base)))
    return failure();
  for (auto [offset, stride] : llvm::zip_equal(offsets, strides)) {
    if (std::optional<int64_t> constant = getConstantIntValue(offset)) {
      if (*constant == 0)
        continue;
      if (stride == ShapedType::kDynamic)
        return failure();
      address.elements += *constant * stride;
      continue;
    }
    if (stride == ShapedType::kDynamic)
      return failure();
    address.dynamic.emplace_back(cast<Value>(offset), stride);
  }
  return success();
}

FailureOr<HostAddresses::Address> HostAddresses::resolve(Value memref) {
  Address address;
  if (auto base = bases.find(memref); base != bases.end()) {
    address.base = base->second;
    return address;
  }
  Operation *op = memref.getDefiningOp();
  if (!op)
    return emitError(memref.getLoc(), "a buffer chosen at run time");
  if (auto view = dyn_cast<ArenaViewOp>(op)) {
    address.base = arena;
    address.arenaBytes = view.getOffset();
    return address;
  }
  Value source = getViewSource(op);
  if (!source)
    return op->emitOpError("is no buffer that the host program knows");
  FailureOr<Address> resolved = resolve(source);
  if (failed(resolved))
    return failure();
  LogicalResult added = success();
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    added = addOffsets(*resolved, view.getSourceType(), view.getMixedOffsets());
  else if (isa<memref::ReinterpretCastOp>(op))
    added = failure(); // its offset counts from the root, not from the source
  if (failed(added))
    return op->emitOpError("has a layout that the host program cannot address");
  return resolved;
}

Value HostAddresses::materialize(OpBuilder &builder, Location loc,
                                 const Base &base) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (base.symbol)
    return LLVM::AddressOfOp::create(builder, loc, pointer, base.symbol);
  if (!base.isSlot)
    return base.pointer;
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, base.pointer,
                                   ArrayRef<LLVM::GEPArg>{base.index});
  return LLVM::LoadOp::create(builder, loc, pointer, slot);
}

Value HostAddresses::materialize(OpBuilder &builder, Location loc,
                                 const Address &address, Type elementType) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  int64_t width = getElementBytes(elementType);
  Value result = materialize(builder, loc, address.base);
  int64_t bytes = address.arenaBytes + address.elements * width;
  if (bytes != 0) {
    // As a value: a constant GEP index has 32 bits.
    Value offset =
        LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), bytes);
    result = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                                 result, ArrayRef<LLVM::GEPArg>{offset});
  }
  for (auto [index, stride] : address.dynamic) {
    Value number = index;
    if (!index.getType().isInteger(64))
      number =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
    Value scale = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                           stride * width);
    Value offset = LLVM::MulOp::create(builder, loc, number, scale);
    result = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                                 result, ArrayRef<LLVM::GEPArg>{offset});
  }
  return result;
}

FailureOr<Value> HostAddresses::getAddress(OpBuilder &builder, Location loc,
                                           Value memref) {
  FailureOr<Address> address = resolve(memref);
  if (failed(address))
    return failure();
  return materialize(builder, loc, *address,
                     cast<MemRefType>(memref.getType()).getElementType());
}

FailureOr<Value> HostAddresses::getElementAddress(OpBuilder &builder,
                                                  Location loc, Value memref,
                                                  ValueRange indices) {
  auto type = cast<MemRefType>(memref.getType());
  FailureOr<Address> address = resolve(memref);
  if (failed(address) ||
      failed(addOffsets(*address, type, getAsOpFoldResult(indices))))
    return failure();
  return materialize(builder, loc, *address, type.getElementType());
}
