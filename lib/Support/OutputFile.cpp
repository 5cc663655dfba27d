//===- OutputFile.cpp - Files that appear complete or not at all ----------===//

#include "amsp/Support/OutputFile.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace llvm;
using namespace amsp;

Expected<OutputFile> OutputFile::create(StringRef path) {
  if (sys::fs::is_directory(path))
    return createStringError("output '" + path + "' is a directory");
  // A write past the limit on a file's size then fails, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  bool isRegular = !sys::fs::exists(path) || sys::fs::is_regular_file(path);
  SmallString<128> model(path);
  if (!isRegular) {
    sys::path::system_temp_directory(/*erasedOnReboot=*/true, model);
    sys::path::append(model, "amsp");
  }
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(model + ".%%%%%%.tmp");
  if (!file)
    return createStringError("output '" + path + "' cannot be written: " +
                             toString(file.takeError()));
  return OutputFile(path.str(), isRegular, std::move(*file));
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
  if (!isRegular) {
    int device = -1;
    std::error_code error =
        openFileForWrite(path, device, CD_OpenExisting, OF_None);
    if (!error) {
      error = copy_file(file->TmpName, device);
      sys::Process::SafelyCloseFileDescriptor(device);
    }
    return error ? createStringError(error, "output '" + path +
                                                "': " + error.message())
                 : Error::success();
  }
  perms mode = all_read | owner_write | (isExecutable ? all_exe : no_perms);
  std::error_code ignored = setPermissions(file->TmpName, mode);
  (void)ignored;
  Error error = file->keep(path);
  file.reset();
  return error;
}

Error amsp::verifyOutputs(ArrayRef<StringRef> outputs,
                          ArrayRef<StringRef> inputs) {
  for (StringRef output : outputs) {
    if (!sys::fs::is_regular_file(output))
      continue;
    for (StringRef input : inputs)
      if (sys::fs::equivalent(output, input))
        return createStringError("output '" + output + "' is the input '" +
                                 input + "': it would be overwritten");
  }
  return Error::success();
}
