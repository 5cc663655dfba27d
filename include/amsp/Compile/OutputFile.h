//===- OutputFile.h - Files that appear complete or not at all --*- C++ -*-===//

#ifndef AMSP_COMPILE_OUTPUTFILE_H
#define AMSP_COMPILE_OUTPUTFILE_H

#include "llvm/Support/FileSystem.h"

namespace amsp {

/// A file that is written beside its place and moved there once it is complete.
class OutputFile {
public:
  /// Fails if the file cannot be written, before work is spent on its content.
  static llvm::Expected<OutputFile> create(llvm::StringRef path);
  OutputFile(OutputFile &&) = default;
  OutputFile &operator=(OutputFile &&) = default;
  ~OutputFile();

  /// Where another program may write the content.
  llvm::StringRef getTemporaryPath() const { return file->TmpName; }
  llvm::Error write(llvm::StringRef content);
  /// Moves the file to its place.
  llvm::Error commit(bool isExecutable = false);

private:
  OutputFile(std::string path, llvm::sys::fs::TempFile file)
      : path(std::move(path)), file(std::move(file)) {}

  std::string path;
  std::optional<llvm::sys::fs::TempFile> file;
};

} // namespace amsp

#endif // AMSP_COMPILE_OUTPUTFILE_H
