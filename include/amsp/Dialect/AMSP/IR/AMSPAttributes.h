//===- AMSPAttributes.h - Groups, placements, roles -------------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPATTRIBUTES_H
#define AMSP_DIALECT_AMSP_IR_AMSPATTRIBUTES_H

#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"

namespace amsp {

/// `size` ranks, `stride` apart in global rank numbers.
struct Digit {
  int64_t stride;
  int64_t size;

  bool operator==(const Digit &other) const {
    return stride == other.stride && size == other.size;
  }
  bool operator!=(const Digit &other) const { return !(*this == other); }
};

inline llvm::hash_code hash_value(const Digit &digit) {
  return llvm::hash_combine(digit.stride, digit.size);
}

/// `[stride:size, ...]`
mlir::FailureOr<llvm::SmallVector<Digit>> parseDigits(mlir::AsmParser &parser);
void printDigits(mlir::AsmPrinter &printer, llvm::ArrayRef<Digit> digits);

/// Number of ranks that the digits span.
int64_t getGroupSize(llvm::ArrayRef<Digit> digits);

} // namespace amsp

#include "amsp/Dialect/AMSP/IR/AMSPEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h.inc"

#endif // AMSP_DIALECT_AMSP_IR_AMSPATTRIBUTES_H
