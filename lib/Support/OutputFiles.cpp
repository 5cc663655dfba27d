//===- OutputFiles.cpp - Files that appear together or not at all ---------===//

#include "amsp/Support/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace amsp;

Error OutputFiles::create(StringRef path) {
  for (const Entry &entry : entries)
    if (entry.path == path && entry.file.isRegularFile())
      return createStringError("output '" + path + "' is given twice");
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  entries.push_back({path.str(), std::move(*file)});
  return Error::success();
}

Error OutputFiles::write(StringRef path, StringRef content) {
  auto entry = find_if(entries, [&](const Entry &entry) {
    return entry.path == path && !entry.isWritten;
  });
  assert(entry != entries.end() && "a file that was not created");
  entry->isWritten = true;
  return entry->file.write(content);
}

Error OutputFiles::commit() {
  for (bool isRegular : {false, true})
    for (Entry &entry : entries)
      if (entry.file.isRegularFile() == isRegular)
        if (Error error = entry.file.commit())
          return error;
  entries.clear();
  return Error::success();
}
