//===- Npz.h - Archives of numpy arrays -------------------------*- C++ -*-===//

#ifndef AMSP_RUN_NPZ_H
#define AMSP_RUN_NPZ_H

#include "amsp/Run/Npy.h"

#include <memory>

struct zip;
struct zip_file;

namespace amsp::run {

/// One array of an open archive: its header has been read, its data not yet.
class NpzEntry {
public:
  NpzEntry(std::string context, zip_file *file);
  ~NpzEntry();
  NpzEntry(const NpzEntry &) = delete;
  NpzEntry &operator=(const NpzEntry &) = delete;

  llvm::Error readHeader();
  const NpyHeader &header() const { return npyHeader; }

  /// Reads the next bytes of the data. Fails where the archive is damaged.
  llvm::Error read(llvm::MutableArrayRef<char> bytes);

  /// Fails where data is left, and checks the archive's checksum.
  llvm::Error finish();

private:
  const std::string context; // `in.npz: arg0`
  zip_file *file;
  NpyHeader npyHeader;
};

/// Reads what np.savez and np.savez_compressed write.
class NpzReader {
public:
  static llvm::Expected<std::unique_ptr<NpzReader>> open(llvm::StringRef path);
  ~NpzReader();

  const std::string &path() const { return filePath; }
  /// Names of the arrays, in the archive's order.
  const std::vector<std::string> &names() const { return arrayNames; }
  llvm::Expected<std::unique_ptr<NpzEntry>> entry(llvm::StringRef name) const;

private:
  NpzReader(std::string path, zip *archive);

  std::string filePath;
  zip *archive;
  std::vector<std::string> arrayNames;
};

/// Writes an archive that np.load reads. The file appears, complete, when
/// finish() succeeds, and not at all otherwise.
class NpzWriter {
public:
  /// Fills the data of an array; false where it cannot be had.
  using Fill = std::function<bool(llvm::MutableArrayRef<char>)>;

  static llvm::Expected<std::unique_ptr<NpzWriter>>
  create(llvm::StringRef path);
  ~NpzWriter();

  /// Adds an array. `fill` is called in finish(), when its turn to be written
  /// comes; its data is freed before the next array's is made.
  llvm::Error add(llvm::StringRef name, amsp_dtype dtype,
                  llvm::ArrayRef<int64_t> shape, Fill fill);
  llvm::Error finish();

private:
  NpzWriter(std::string path, zip *archive);

  std::string filePath;
  zip *archive;
};

} // namespace amsp::run

#endif // AMSP_RUN_NPZ_H
