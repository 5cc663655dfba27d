//===- DataTypes.cpp - Element types at the C ABI -------------------------===//

#include "amsp/Target/DataTypes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

std::optional<amsp_dtype> amsp::getDataType(Type type) {
  if (type.isF64())
    return AMSP_F64;
  if (type.isF32())
    return AMSP_F32;
  if (type.isBF16())
    return AMSP_BF16;
  if (type.isF16())
    return AMSP_F16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 64:
    return isUnsigned ? AMSP_U64 : AMSP_I64;
  case 32:
    return isUnsigned ? AMSP_U32 : AMSP_I32;
  case 16:
    return isUnsigned ? AMSP_U16 : AMSP_I16;
  case 8:
    return isUnsigned ? AMSP_U8 : AMSP_I8;
  case 1:
    return AMSP_I1;
  default:
    return std::nullopt;
  }
}

StringRef amsp::getDataTypeName(amsp_dtype dtype) {
  switch (dtype) {
  case AMSP_F64:
    return "f64";
  case AMSP_F32:
    return "f32";
  case AMSP_BF16:
    return "bf16";
  case AMSP_F16:
    return "f16";
  case AMSP_I64:
    return "i64";
  case AMSP_I32:
    return "i32";
  case AMSP_I16:
    return "i16";
  case AMSP_I8:
    return "i8";
  case AMSP_U64:
    return "u64";
  case AMSP_U32:
    return "u32";
  case AMSP_U16:
    return "u16";
  case AMSP_U8:
    return "u8";
  case AMSP_I1:
    return "i1";
  }
  llvm_unreachable("unknown data type");
}

int64_t amsp::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}
