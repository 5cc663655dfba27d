//===- TensorBytes.h - The size of a tensor or buffer -----------*- C++ -*-===//

#ifndef AMSP_TARGET_TENSORBYTES_H
#define AMSP_TARGET_TENSORBYTES_H

#include "amsp/Target/DataTypes.h"

namespace amsp {

/// Bytes of all elements of a tensor or buffer of static shape.
inline int64_t getTensorBytes(mlir::ShapedType type) {
  return type.getNumElements() * getElementBytes(type.getElementType());
}

} // namespace amsp

#endif // AMSP_TARGET_TENSORBYTES_H
