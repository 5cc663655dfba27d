//===- CheckpointIndex.h - The index of a checkpoint ------------*- C++ -*-===//

#ifndef AMSP_LIB_RUN_CHECKPOINTINDEX_H
#define AMSP_LIB_RUN_CHECKPOINTINDEX_H

#include "amsp/Run/Checkpoint.h"

namespace amsp::run {

inline constexpr llvm::StringLiteral checkpointFormat = "amsp-checkpoint";

/// The file that makes a directory a checkpoint: which tensor is where.
struct CheckpointIndex {
  static constexpr llvm::StringLiteral fileName =
      "model.safetensors.index.json";

  /// Counts the checkpoints that the directory has held; part of the names of
  /// its files.
  int64_t generation = 0;
  RunPosition position;
  int64_t totalBytes = 0;
  std::map<std::string, std::string> fileOfTensor;

  static llvm::Expected<CheckpointIndex> read(llvm::StringRef directory);
  std::string print() const;
  /// The files that it names, in order, each once.
  std::vector<std::string> files() const;
};

/// `state-g3-00001-of-00002.safetensors`
std::string checkpointFileName(int64_t generation, size_t number, size_t count);
/// Whether a checkpoint of some generation may have a file of this name.
bool isCheckpointFileName(llvm::StringRef name);

} // namespace amsp::run

#endif // AMSP_LIB_RUN_CHECKPOINTINDEX_H
