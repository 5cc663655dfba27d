//===- OutputFile.cpp - Files that appear complete or not at all ----------===//

#include "amsp/Compile/OutputFile.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace amsp;

Expected<OutputFile> OutputFile::create(StringRef path) {
  if (sys::fs::is_directory(path))
    return createStringError("output '" + path + "' is a directory");
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".%%%%%%.tmp");
  if (!file)
    return createStringError("output '" + path + "' cannot be written: " +
                             toString(file.takeError()));
  return OutputFile(path.str(), std::move(*file));
}

OutputFile::~OutputFile() {
  if (file)
    consumeError(file->discard());
}

Error OutputFile::write(StringRef content) {
  raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << content;
  stream.flush();
  if (std::error_code error = stream.error()) {
    stream.clear_error();
    return createStringError(error,
                             "output '" + path + "': " + error.message());
  }
  return Error::success();
}

Error OutputFile::commit(bool isExecutable) {
  using namespace sys::fs;
  perms mode = all_read | owner_write | (isExecutable ? all_exe : no_perms);
  std::error_code ignored = setPermissions(file->TmpName, mode);
  (void)ignored;
  Error error = file->keep(path);
  file.reset();
  return error;
}
