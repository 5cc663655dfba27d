//===- HostAddresses.h - Addresses of a step's buffers ----------*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_HOSTADDRESSES_H
#define AMSP_LIB_TARGET_CPU_HOSTADDRESSES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

namespace amsp {

/// Turns memrefs of the host program into addresses: a base and an offset,
/// which is constant but for slices at places known at run time. All of it is
/// computed anew at each use: in a step of many layers, what lives from its
/// start on is more than any register allocator takes.
class HostAddresses {
public:
  /// `arena`: address of the arena.
  explicit HostAddresses(mlir::Value arena) : arena{arena, 0, {}} {}

  /// `memref` begins at the address in element `index` of `array`.
  void setSlot(mlir::Value memref, mlir::Value array, int32_t index) {
    bases[memref] = {array, index, {}, /*isSlot=*/true};
  }
  /// `memref` begins at the address of `symbol`.
  void setSymbol(mlir::Value memref, mlir::FlatSymbolRefAttr symbol) {
    bases[memref] = {mlir::Value(), 0, symbol};
  }

  /// The address of the first element of `memref`.
  mlir::FailureOr<mlir::Value>
  getAddress(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref);

  /// The address of the element at `indices`.
  mlir::FailureOr<mlir::Value> getElementAddress(mlir::OpBuilder &builder,
                                                 mlir::Location loc,
                                                 mlir::Value memref,
                                                 mlir::ValueRange indices);

private:
  struct Base {
    mlir::Value pointer;
    int32_t index = 0;
    mlir::FlatSymbolRefAttr symbol; // in place of a pointer
    bool isSlot = false;            // `pointer` is of an array of addresses
  };
  struct Address {
    Base base;
    int64_t elements = 0; // constant part of the offset
    /// index * stride, summed: the part known at run time.
    llvm::SmallVector<std::pair<mlir::Value, int64_t>> dynamic;
    int64_t arenaBytes = 0;
  };
  mlir::FailureOr<Address> resolve(mlir::Value memref);
  mlir::LogicalResult addOffsets(Address &address, mlir::MemRefType type,
                                 llvm::ArrayRef<mlir::OpFoldResult> offsets);
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                          const Address &address, mlir::Type elementType);

  static mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                                 const Base &base);

  Base arena;
  llvm::DenseMap<mlir::Value, Base> bases;
};

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_HOSTADDRESSES_H
