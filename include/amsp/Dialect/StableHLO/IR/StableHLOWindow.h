//===- StableHLOWindow.h - Sliding windows ----------------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOWINDOW_H
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOWINDOW_H

#include <cstdint>

namespace amsp::stablehlo {

/// A window that slides along one dimension.
struct WindowDimension {
  int64_t size = 1;
  /// Distance of the windows.
  int64_t stride = 1;
  /// Elements added (or, if negative, cut off) before and behind the dilated
  /// base.
  int64_t low = 0, high = 0;
  /// Distances of the base's elements, and of those in a window.
  int64_t baseDilation = 1, dilation = 1;
  bool isReversed = false;

  /// Every element is a window of its own.
  bool isTrivial() const {
    return size == 1 && stride == 1 && low == 0 && high == 0 &&
           baseDilation == 1;
  }
  /// Size of a base of `base` elements with dilation and padding.
  int64_t getPaddedSize(int64_t base) const {
    return low + high + (base == 0 ? 0 : (base - 1) * baseDilation + 1);
  }
  /// Number of windows over a base of `base` elements.
  int64_t getCount(int64_t base) const {
    int64_t padded = getPaddedSize(base);
    int64_t extent = size == 0 ? 0 : (size - 1) * dilation + 1;
    return padded <= 0 || extent > padded ? 0 : (padded - extent) / stride + 1;
  }
};

} // namespace amsp::stablehlo

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOWINDOW_H
