//===- HostConstants.h - Constant data of a compiled step -------*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_HOSTCONSTANTS_H
#define AMSP_LIB_TARGET_CPU_HOSTCONSTANTS_H

#include "GemmShape.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace amsp {

/// A field of a struct in constant data: a number, or the address of a global
/// (null without a name).
struct ConstantField {
  mlir::Type type;
  int64_t number = 0;
  mlir::FlatSymbolRefAttr address = {};
};

/// Makes the globals that Step.h's structs are, at the end of a module.
class HostConstants {
public:
  explicit HostConstants(mlir::ModuleOp module);

  mlir::FlatSymbolRefAttr addCollective(CollectiveInfoAttr info,
                                        mlir::Type elementType,
                                        bool contiguous);
  /// Equal calls share a description.
  mlir::FlatSymbolRefAttr addGemm(const GemmShape &shape,
                                  mlir::Type elementType);
  /// The exported `amsp_step`.
  void addStep(llvm::StringRef manifest, llvm::StringRef execute);

  mlir::FlatSymbolRefAttr addText(llvm::StringRef name, llvm::StringRef text);

private:
  /// Null for an empty list.
  mlir::FlatSymbolRefAttr addNumbers(const llvm::Twine &name,
                                     llvm::ArrayRef<int64_t> values);
  mlir::FlatSymbolRefAttr addStruct(llvm::StringRef name,
                                    llvm::ArrayRef<ConstantField> fields,
                                    bool isExported = false);
  ConstantField i32(int64_t value) { return {builder.getI32Type(), value}; }
  ConstantField i64(int64_t value) { return {builder.getI64Type(), value}; }
  ConstantField address(mlir::FlatSymbolRefAttr symbol) {
    return {pointer, 0, symbol};
  }

  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::LLVM::LLVMPointerType pointer;
  llvm::StringMap<mlir::FlatSymbolRefAttr> gemms; // by shape
};

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_HOSTCONSTANTS_H
