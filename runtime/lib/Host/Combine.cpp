//===- Combine.cpp - Combines the members' elements -----------------------===//

#include "Combine.h"

#include "amsp-c/Step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

using namespace amsp::runtime;

namespace {
struct BFloat16 {
  uint16_t bits;
};

/// How elements are held while they are combined.
template <typename Storage> struct Codec {
  using Accumulator = Storage;
  static Accumulator load(Storage value) { return value; }
  static Storage store(Accumulator value) { return value; }
};

template <> struct Codec<BFloat16> {
  using Accumulator = float;
  static float load(BFloat16 value) {
    uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
    float result;
    std::memcpy(&result, &bits, sizeof(result));
    return result;
  }
  static BFloat16 store(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (std::isnan(value)) // rounding could turn a NaN into an infinity
      return {static_cast<uint16_t>((bits >> 16) | 0x40)};
    uint32_t roundToEven = 0x7FFF + ((bits >> 16) & 1);
    return {static_cast<uint16_t>((bits + roundToEven) >> 16)};
  }
};

template <> struct Codec<_Float16> {
  using Accumulator = float;
  static float load(_Float16 value) { return static_cast<float>(value); }
  static _Float16 store(float value) { return static_cast<_Float16>(value); }
};

} // namespace

template <typename T> static bool isNaN(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  return false;
}

namespace {
struct Sum {
  template <typename T> static T apply(T left, T right) {
    return static_cast<T>(left + right);
  }
};

// A NaN on either side gives a NaN, as in StableHLO.
struct Max {
  template <typename T> static T apply(T left, T right) {
    return isNaN(left) || left > right ? left : right;
  }
};

struct Min {
  template <typename T> static T apply(T left, T right) {
    return isNaN(left) || left < right ? left : right;
  }
};
} // namespace

template <typename Storage, typename Operation>
static void combine(std::byte *destination,
                    const std::vector<const std::byte *> &sources,
                    int64_t count) {
  using Accumulator = typename Codec<Storage>::Accumulator;
  constexpr int64_t tileSize = 1024; // stays in the first-level cache
  Accumulator tile[tileSize];
  auto *out = reinterpret_cast<Storage *>(destination);
  for (int64_t start = 0; start < count; start += tileSize) {
    int64_t length = std::min(tileSize, count - start);
    auto *first = reinterpret_cast<const Storage *>(sources.front()) + start;
    for (int64_t i = 0; i < length; ++i)
      tile[i] = Codec<Storage>::load(first[i]);
    for (size_t member = 1; member < sources.size(); ++member) {
      auto *next = reinterpret_cast<const Storage *>(sources[member]) + start;
      for (int64_t i = 0; i < length; ++i)
        tile[i] = Operation::apply(tile[i], Codec<Storage>::load(next[i]));
    }
    for (int64_t i = 0; i < length; ++i)
      out[start + i] = Codec<Storage>::store(tile[i]);
  }
}

/// Integer sums wrap around, so they are taken in the unsigned type.
template <typename Storage, typename SumStorage = Storage>
static CombineFunction select(int32_t reduction) {
  switch (reduction) {
  case AMSP_SUM:
    return combine<SumStorage, Sum>;
  case AMSP_MAX:
    return combine<Storage, Max>;
  case AMSP_MIN:
    return combine<Storage, Min>;
  default:
    return nullptr;
  }
}

CombineFunction amsp::runtime::combiner(int32_t dtype, int32_t reduction) {
  switch (dtype) {
  case AMSP_F64:
    return select<double>(reduction);
  case AMSP_F32:
    return select<float>(reduction);
  case AMSP_BF16:
    return select<BFloat16>(reduction);
  case AMSP_F16:
    return select<_Float16>(reduction);
  case AMSP_I64:
    return select<int64_t, uint64_t>(reduction);
  case AMSP_I32:
    return select<int32_t, uint32_t>(reduction);
  case AMSP_I16:
    return select<int16_t, uint16_t>(reduction);
  case AMSP_I8:
    return select<int8_t, uint8_t>(reduction);
  case AMSP_U64:
    return select<uint64_t>(reduction);
  case AMSP_U32:
    return select<uint32_t>(reduction);
  case AMSP_U16:
    return select<uint16_t>(reduction);
  case AMSP_U8:
    return select<uint8_t>(reduction);
  case AMSP_I1:
    return select<uint8_t>(reduction == AMSP_SUM ? int32_t{AMSP_MAX}
                                                 : reduction);
  default:
    return nullptr;
  }
}
