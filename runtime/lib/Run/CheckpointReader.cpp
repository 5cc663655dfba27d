//===- CheckpointReader.cpp - Reads the state of a run --------------------===//

#include "CheckpointIndex.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

Expected<std::unique_ptr<CheckpointReader>>
CheckpointReader::open(StringRef directory) {
  Expected<CheckpointIndex> index = CheckpointIndex::read(directory);
  if (!index)
    return index.takeError();
  std::unique_ptr<CheckpointReader> reader(new CheckpointReader(directory));
  reader->at = index->position;
  for (const std::string &file : index->files())
    if (Error error = reader->addFile(file, index->generation))
      return std::move(error);
  for (const auto &[tensor, file] : index->fileOfTensor)
    if (!reader->find(tensor))
      return createStringError(directory + ": " + file + ": has no tensor '" +
                               tensor + "', which the index places there");
  return reader;
}

Error CheckpointReader::addFile(StringRef name, int64_t generation) {
  SmallString<128> path(directory);
  sys::path::append(path, sys::path::filename(name));
  Expected<SafetensorsHeader> header = readSafetensorsHeader(path);
  if (!header)
    return header.takeError();
  if (header->metadata["generation"] != std::to_string(generation) ||
      header->metadata["format"] != checkpointFormat)
    return createStringError(path + ": belongs to another checkpoint");
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return createStringError(path + ": " + toString(file.takeError()));
  descriptors.push_back(*file);
  for (SafetensorsEntry &entry : header->entries) {
    std::string tensor = entry.name;
    tensors[tensor] = {std::move(entry), descriptors.size() - 1};
  }
  return Error::success();
}

const SafetensorsEntry *CheckpointReader::find(StringRef name) const {
  auto found = tensors.find(name.str());
  return found == tensors.end() ? nullptr : &found->second.entry;
}

Error CheckpointReader::read(StringRef name, int64_t offset,
                             MutableArrayRef<char> bytes) const {
  const Located &located = tensors.at(name.str());
  offset += located.entry.offset;
  while (!bytes.empty()) {
    Expected<size_t> count =
        sys::fs::readNativeFileSlice(descriptors[located.file], bytes, offset);
    if (!count)
      return createStringError(directory + ": tensor '" + name +
                               "': " + toString(count.takeError()));
    if (*count == 0)
      return createStringError(directory + ": tensor '" + name +
                               "' is cut short");
    bytes = bytes.drop_front(*count);
    offset += static_cast<int64_t>(*count);
  }
  return Error::success();
}

CheckpointReader::~CheckpointReader() {
  for (int descriptor : descriptors)
    close(descriptor);
}
