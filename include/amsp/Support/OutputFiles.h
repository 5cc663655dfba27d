//===- OutputFiles.h - Files that appear together or not at all -*- C++ -*-===//

#ifndef AMSP_SUPPORT_OUTPUTFILES_H
#define AMSP_SUPPORT_OUTPUTFILES_H

#include "amsp/Support/OutputFile.h"
#include <string>
#include <vector>

namespace amsp {

/// All that a tool writes. None is moved to its place before each is complete.
class OutputFiles {
public:
  /// Fails if the file cannot be written, or is one of the others, before work
  /// is spent on its content.
  llvm::Error create(llvm::StringRef path);
  /// The content of a file that was created.
  llvm::Error write(llvm::StringRef path, llvm::StringRef content);
  /// Without it, nothing is left. What is copied (into devices and pipes), and
  /// may fail, comes first.
  llvm::Error commit();

private:
  struct Entry {
    std::string path;
    OutputFile file;
    bool isWritten = false;
  };
  std::vector<Entry> entries;
};

} // namespace amsp

#endif // AMSP_SUPPORT_OUTPUTFILES_H
