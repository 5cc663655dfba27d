//===- BlockQuantization.h - int8 with a scale each block -------*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_BLOCKQUANTIZATION_H
#define AMSP_LIB_COMMUNICATION_BLOCKQUANTIZATION_H

#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace amsp {

/// Rows of blocks: `codes` are int8 of shape `rows x elements`, `scales` f32 of
/// shape `rows x blocks`.
struct QuantizedRows {
  mlir::Value codes, scales;
};

/// Symmetric quantization by blocks of a row: a block's scale is its largest
/// magnitude / 127, and a code the nearest integer to element / scale. So an
/// element is off by at most largest / 254, and a few roundings of f32. A block
/// with a NaN or an infinity becomes NaN as a whole.
class BlockQuantization {
public:
  BlockQuantization(HloBuilder hlo, int64_t block) : hlo(hlo), block(block) {}

  int64_t getBlocks(int64_t elements) const {
    return llvm::divideCeil(elements, block);
  }
  /// That a row's codes and scales take.
  int64_t getBytes(int64_t elements) const {
    return getBlocks(elements) * (block + 4);
  }
  /// `values`: `rows x elements` of floats. Rows are padded to whole blocks.
  QuantizedRows quantize(mlir::Value values);
  /// f32 of shape `rows x elements`.
  mlir::Value dequantize(const QuantizedRows &quantized, int64_t elements);
  /// The sum of f32 `rows x summands x elements` over the summands, one after
  /// the other: `rows x elements`.
  mlir::Value addUp(mlir::Value values);

private:
  mlir::Value getLargest(mlir::Value blocks);
  template <typename Combiner>
  mlir::Value reduce(mlir::Value values, int64_t dimension);
  mlir::Value spread(mlir::Value scales, llvm::ArrayRef<int64_t> shape);
  mlir::Value splat(float value, mlir::RankedTensorType type);

  HloBuilder hlo;
  int64_t block;
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_BLOCKQUANTIZATION_H
