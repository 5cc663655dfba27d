//===- OutputFiles.cpp - Files that appear together or not at all ---------===//

#include "amsp/Support/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace amsp;

Error OutputFiles::create(StringRef path, bool isExecutable) {
  for (const Entry &entry : entries)
    if (entry.path == path && entry.file.isRegularFile())
      return createStringError("output '" + path + "' is given twice");
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  entries.push_back({path.str(), std::move(*file), isExecutable});
  return Error::success();
}

OutputFiles::Entry &OutputFiles::take(StringRef path) {
  auto entry = find_if(entries, [&](const Entry &entry) {
    return entry.path == path && !entry.isWritten;
  });
  assert(entry != entries.end() && "a file that was not created");
  entry->isWritten = true;
  return *entry;
}

Error OutputFiles::write(StringRef path, StringRef content) {
  return take(path).file.write(content);
}

StringRef OutputFiles::getTemporaryPath(StringRef path) {
  return take(path).file.getTemporaryPath();
}

Error OutputFiles::commit() {
  for (bool isRegular : {false, true})
    for (Entry &entry : entries)
      if (entry.file.isRegularFile() == isRegular)
        if (Error error = entry.file.commit(entry.isExecutable))
          return error;
  entries.clear();
  return Error::success();
}
