//===- DType.h - Element types ----------------------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_DTYPE_H
#define AMSP_RUNTIME_DTYPE_H

#include "amsp-c/Step.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace amsp::runtime {

inline constexpr int32_t numDTypes = AMSP_I1 + 1;

/// Size of an element, or 0 where `dtype` is no amsp_dtype.
int64_t bytesOf(int32_t dtype);

/// The manifest's name (`f32`), or an empty string.
std::string_view nameOf(int32_t dtype);

std::optional<amsp_dtype> parseDType(std::string_view name);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_DTYPE_H
