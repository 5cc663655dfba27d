//===- Checkpoint.h - The state of a run, in a directory --------*- C++ -*-===//
//
// A directory of safetensors files with an index (docs/formats.md). It holds
// global values without padding, so that any world and strategy reads it.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUN_CHECKPOINT_H
#define AMSP_RUN_CHECKPOINT_H

#include "amsp/Run/Safetensors.h"

#include <memory>

namespace amsp::run {

/// How far a run has come.
struct RunPosition {
  int64_t steps = 0;
  /// Files of --batches that were consumed.
  int64_t batches = 0;
};

struct CheckpointTensor {
  std::string name;
  amsp_dtype dtype = AMSP_F32;
  std::vector<int64_t> shape;
};

/// Writes a checkpoint beside the one that the directory holds; finish()
/// makes it the directory's, in one rename, and removes the one before. So
/// whoever is killed, the directory holds one whole checkpoint.
class CheckpointWriter {
public:
  /// Fails where a checkpoint cannot be saved: the directory's parent is
  /// missing, or it holds other files. Writes nothing.
  static llvm::Error check(llvm::StringRef directory);
  /// Makes the directory if it is missing, and reserves the space on disk.
  /// Tensors share files up to `maxFileBytes`.
  static llvm::Expected<std::unique_ptr<CheckpointWriter>>
  create(llvm::StringRef directory,
         const std::vector<CheckpointTensor> &tensors, RunPosition position,
         int64_t maxFileBytes = 4'000'000'000);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter &) = delete;
  CheckpointWriter &operator=(const CheckpointWriter &) = delete;

  /// Writes bytes of a tensor (by its number), from `offset` on.
  llvm::Error write(size_t tensor, int64_t offset, llvm::ArrayRef<char> bytes);
  llvm::Error finish();

private:
  struct File {
    std::string name;
    int descriptor = -1;
  };
  struct Place {
    size_t file;
    int64_t offset;
  };

  CheckpointWriter(llvm::StringRef directory) : directory(directory) {}
  llvm::Error addFile(llvm::StringRef name, SafetensorsHeader header);
  llvm::Error writeIndex();
  void removeOtherFiles(bool keepsOwn);

  std::string directory;
  RunPosition position;
  int64_t generation = 1;
  std::vector<CheckpointTensor> tensors;
  std::vector<File> files;
  std::vector<Place> places; // of the tensors
  bool isFinished = false;
};

/// A checkpoint, opened. All files have been checked to be there, whole, and of
/// one checkpoint.
class CheckpointReader {
public:
  static llvm::Expected<std::unique_ptr<CheckpointReader>>
  open(llvm::StringRef directory);
  ~CheckpointReader();
  CheckpointReader(const CheckpointReader &) = delete;
  CheckpointReader &operator=(const CheckpointReader &) = delete;

  const std::string &path() const { return directory; }
  RunPosition position() const { return at; }
  /// Null if there is none of this name.
  const SafetensorsEntry *find(llvm::StringRef name) const;
  /// Reads bytes of a tensor, from `offset` on.
  llvm::Error read(llvm::StringRef name, int64_t offset,
                   llvm::MutableArrayRef<char> bytes) const;

private:
  struct Located {
    SafetensorsEntry entry;
    size_t file;
  };

  CheckpointReader(llvm::StringRef directory) : directory(directory) {}
  llvm::Error addFile(llvm::StringRef name, int64_t generation);

  std::string directory;
  RunPosition at;
  std::vector<int> descriptors;
  std::map<std::string, Located> tensors;
};

} // namespace amsp::run

#endif // AMSP_RUN_CHECKPOINT_H
