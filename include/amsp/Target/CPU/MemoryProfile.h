//===- MemoryProfile.h - What a rank's memory holds in a step ---*- C++ -*-===//

#ifndef AMSP_TARGET_CPU_MEMORYPROFILE_H
#define AMSP_TARGET_CPU_MEMORYPROFILE_H

#include "amsp/Target/Manifest.h"

namespace amsp {

/// What a buffer of the arena is for.
enum class BufferUse {
  /// Parameters from the first use in a step to the last.
  Kept,
  /// Parameters at a use.
  Gathered,
  /// Gradients on their way: summed over the rank's rows, reduced, accumulated.
  Gradients,
  /// Other sources and destinations of collectives.
  Communication,
  /// All else.
  Activations,
};
constexpr size_t kNumBufferUses = 5;
/// `kept`, `gathered`, ...
llvm::StringRef stringifyBufferUse(BufferUse use);

/// Bytes by use.
using BytesByUse = std::array<int64_t, kNumBufferUses>;

/// Exact memory of a rank, in bytes.
struct MemoryProfile {
  /// Arguments that are state; other arguments; results that are no new state.
  int64_t stateBytes = 0, inputBytes = 0, resultBytes = 0;
  int64_t arenaBytes = 0;
  /// Live in the arena when most is. What the arena is larger is lost between
  /// buffers.
  BytesByUse peak = {};
  /// Live in the arena after each change, over the program; loops once.
  std::vector<BytesByUse> overTime;

  int64_t getTotal() const {
    return stateBytes + inputBytes + resultBytes + arenaBytes;
  }
};

/// What the profile needs of a collective: it is asked before lowering.
struct CollectivePurpose {
  bool isGather = false, isKept = false, ofParameter = false;
};
llvm::SmallVector<CollectivePurpose>
getPurposes(llvm::ArrayRef<CollectiveRecord> records);

/// The profile of a module behind `amsp-bufferize`. `purposes`: by id; without
/// them, what buffers are for is not told apart.
MemoryProfile getMemoryProfile(mlir::ModuleOp module,
                               llvm::ArrayRef<CollectivePurpose> purposes);

} // namespace amsp

#endif // AMSP_TARGET_CPU_MEMORYPROFILE_H
