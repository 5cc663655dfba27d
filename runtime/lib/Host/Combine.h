//===- Combine.h - Combines the members' elements ---------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_COMBINE_H
#define AMSP_RUNTIME_HOST_COMBINE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace amsp::runtime {

/// destination[i] = sources[0][i] op sources[1][i] op …, strictly in this
/// order. 16-bit floats are combined in f32 and rounded once. The destination
/// may be one of the sources.
using CombineFunction = void (*)(std::byte *destination,
                                 const std::vector<const std::byte *> &sources,
                                 int64_t count);

/// Null where `dtype` or `reduction` is none of Step.h's. On i1, sum and max
/// are or, min is and.
CombineFunction combiner(int32_t dtype, int32_t reduction);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_COMBINE_H
