//===- OutputFile.h - Files that appear complete or not at all --*- C++ -*-===//

#ifndef AMSP_SUPPORT_OUTPUTFILE_H
#define AMSP_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FileSystem.h"

namespace amsp {

/// A file that is written beside its place and moved there once it is complete.
/// What is no regular file (/dev/null, a pipe) is not replaced: the content is
/// copied into it.
class OutputFile {
public:
  /// Fails if the file cannot be written, before work is spent on its content.
  static llvm::Expected<OutputFile> create(llvm::StringRef path);
  OutputFile(OutputFile &&) = default;
  OutputFile &operator=(OutputFile &&) = default;
  ~OutputFile();

  /// Where another program may write the content.
  llvm::StringRef getTemporaryPath() const { return file->TmpName; }
  /// False if the content is copied into what is there.
  bool isRegularFile() const { return isRegular; }
  llvm::Error write(llvm::StringRef content);
  /// Moves the file to its place. Without it, nothing is left.
  llvm::Error commit(bool isExecutable = false);

private:
  OutputFile(std::string path, bool isRegular, llvm::sys::fs::TempFile file)
      : path(std::move(path)), isRegular(isRegular), file(std::move(file)) {}

  std::string path;
  bool isRegular;
  std::optional<llvm::sys::fs::TempFile> file;
};

/// Fails if a file to be written exists and is one of those that are read, by
/// whatever path or link. Names that are empty, or of no files, are passed
/// over.
llvm::Error verifyOutputs(llvm::ArrayRef<llvm::StringRef> outputs,
                          llvm::ArrayRef<llvm::StringRef> inputs);

} // namespace amsp

#endif // AMSP_SUPPORT_OUTPUTFILE_H
