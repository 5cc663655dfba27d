//===- DType.cpp - Element types ------------------------------------------===//

#include "amsp/Runtime/DType.h"

#include <array>

using namespace amsp;

namespace {
struct DTypeInfo {
  std::string_view name;
  int64_t bytes;
};
} // namespace

// In the order of amsp_dtype.
static constexpr std::array<DTypeInfo, runtime::numDTypes> infos = {{
    {"f64", 8},
    {"f32", 4},
    {"bf16", 2},
    {"f16", 2},
    {"i64", 8},
    {"i32", 4},
    {"i16", 2},
    {"i8", 1},
    {"u64", 8},
    {"u32", 4},
    {"u16", 2},
    {"u8", 1},
    {"i1", 1},
}};

int64_t runtime::bytesOf(int32_t dtype) {
  return dtype >= 0 && dtype < numDTypes ? infos[dtype].bytes : 0;
}

std::string_view runtime::nameOf(int32_t dtype) {
  return dtype >= 0 && dtype < numDTypes ? infos[dtype].name
                                         : std::string_view();
}

std::optional<amsp_dtype> runtime::parseDType(std::string_view name) {
  for (int32_t dtype = 0; dtype < numDTypes; ++dtype)
    if (infos[dtype].name == name)
      return static_cast<amsp_dtype>(dtype);
  return std::nullopt;
}
