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
  llvm::Error create(llvm::StringRef path, bool isExecutable = false);
  /// The content of a file that was created.
  llvm::Error write(llvm::StringRef path, llvm::StringRef content);
  /// Where another program may write the content of a file that was created.
  llvm::StringRef getTemporaryPath(llvm::StringRef path);
  /// Without it, nothing is left. What is copied (into devices and pipes), and
  /// may fail, comes first.
  llvm::Error commit();

private:
  struct Entry {
    std::string path;
    OutputFile file;
    bool isExecutable;
    bool isWritten = false;
  };
  /// The first of the name without content: a device may be there twice.
  Entry &take(llvm::StringRef path);

  std::vector<Entry> entries;
};

} // namespace amsp

#endif // AMSP_SUPPORT_OUTPUTFILES_H
