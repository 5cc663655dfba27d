//===- CheckpointWriter.cpp - Saves the state of a run --------------------===//
//
// Files of a new generation are written beside those of the last checkpoint.
// The index, renamed over the last one, is what makes them the checkpoint.
//
//===----------------------------------------------------------------------===//

#include "CheckpointIndex.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

static std::string joinPath(StringRef directory, StringRef name) {
  SmallString<128> path(directory);
  sys::path::append(path, name);
  return path.str().str();
}

static Error writeError(const Twine &path, int code) {
  return createStringError(
      path + ": cannot be written: " + std::generic_category().message(code));
}

static Error writeAt(int descriptor, StringRef path, ArrayRef<char> bytes,
                     int64_t offset) {
  while (!bytes.empty()) {
    ssize_t count = pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return writeError(path, errno);
    bytes = bytes.drop_front(count);
    offset += count;
  }
  return Error::success();
}

static Error syncDirectory(StringRef directory) {
  int descriptor =
      open(directory.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return writeError(directory, errno);
  int code = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  // Some file systems have nothing to sync here.
  return code == 0 || code == EINVAL ? Error::success()
                                     : writeError(directory, code);
}

/// The generation that a directory holds; 0 if it has no checkpoint.
static Expected<int64_t> getGeneration(StringRef directory) {
  if (sys::fs::exists(joinPath(directory, CheckpointIndex::fileName))) {
    Expected<CheckpointIndex> index = CheckpointIndex::read(directory);
    if (!index)
      return index.takeError();
    return index->generation;
  }
  std::error_code code;
  for (sys::fs::directory_iterator entry(directory, code), end;
       !code && entry != end; entry.increment(code))
    if (!isCheckpointFileName(sys::path::filename(entry->path())))
      return createStringError(directory +
                               ": holds other files than a checkpoint's");
  if (code)
    return createStringError(directory + ": " + code.message());
  return 0;
}

Error CheckpointWriter::check(StringRef directory) {
  if (sys::fs::exists(directory)) {
    if (!sys::fs::is_directory(directory))
      return createStringError(directory + ": is no directory");
    return getGeneration(directory).takeError();
  }
  StringRef parent = sys::path::parent_path(directory);
  if (parent.empty() || sys::fs::is_directory(parent))
    return Error::success();
  return createStringError(directory + ": there is no directory " + parent);
}

Expected<std::unique_ptr<CheckpointWriter>>
CheckpointWriter::create(StringRef directory,
                         const std::vector<CheckpointTensor> &tensors,
                         RunPosition position, int64_t maxFileBytes) {
  if (std::error_code code = sys::fs::create_directory(directory))
    return createStringError(directory + ": cannot be made: " + code.message());
  Expected<int64_t> held = getGeneration(directory);
  if (!held)
    return held.takeError();
  std::unique_ptr<CheckpointWriter> writer(new CheckpointWriter(directory));
  writer->position = position;
  writer->generation = *held + 1;
  writer->tensors = tensors;
  std::vector<SafetensorsHeader> headers(1);
  int64_t bytes = 0;
  for (const CheckpointTensor &tensor : tensors) {
    SafetensorsEntry entry{tensor.name, tensor.dtype, tensor.shape, 0};
    if (bytes > 0 && bytes + entry.bytes() > maxFileBytes) {
      headers.emplace_back();
      bytes = 0;
    }
    bytes += entry.bytes();
    headers.back().entries.push_back(std::move(entry));
  }
  for (auto [number, header] : enumerate(headers))
    if (Error error = writer->addFile(
            checkpointFileName(writer->generation, number + 1, headers.size()),
            std::move(header)))
      return std::move(error);
  return writer;
}

Error CheckpointWriter::addFile(StringRef name, SafetensorsHeader header) {
  std::string path = joinPath(directory, name);
  header.metadata = {{"format", checkpointFormat.str()},
                     {"generation", std::to_string(generation)},
                     {"steps", std::to_string(position.steps)}};
  std::string prefix = layOutSafetensors(header);
  int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return writeError(path, errno);
  files.push_back({name.str(), descriptor});
  for (const SafetensorsEntry &entry : header.entries)
    places.push_back({files.size() - 1, entry.offset});
  // A full disk shows now, not after half of the state.
  if (int code = posix_fallocate(descriptor, 0, header.fileBytes))
    return writeError(path, code);
  return writeAt(descriptor, path, prefix, 0);
}

Error CheckpointWriter::write(size_t tensor, int64_t offset,
                              ArrayRef<char> bytes) {
  const Place &place = places[tensor];
  const File &file = files[place.file];
  return writeAt(file.descriptor, joinPath(directory, file.name), bytes,
                 place.offset + offset);
}

Error CheckpointWriter::writeIndex() {
  CheckpointIndex index;
  index.generation = generation;
  index.position = position;
  for (auto [tensor, place] : zip_equal(tensors, places)) {
    index.fileOfTensor[tensor.name] = files[place.file].name;
    index.totalBytes +=
        SafetensorsEntry{tensor.name, tensor.dtype, tensor.shape, 0}.bytes();
  }
  std::string path = joinPath(directory, CheckpointIndex::fileName);
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".%%%%%%.tmp");
  if (!file)
    return createStringError(
        path + ": cannot be written: " + toString(file.takeError()));
  Error error = writeAt(file->FD, path, index.print(), 0);
  if (!error && fsync(file->FD) != 0)
    error = writeError(path, errno);
  if (error)
    return joinErrors(std::move(error), file->discard());
  (void)sys::fs::setPermissions(file->TmpName,
                                sys::fs::all_read | sys::fs::owner_write);
  if (Error error = file->keep(path))
    return error;
  return syncDirectory(directory);
}

Error CheckpointWriter::finish() {
  for (File &file : files) {
    int code = fsync(file.descriptor) == 0 ? 0 : errno;
    if (close(std::exchange(file.descriptor, -1)) != 0 && code == 0)
      code = errno;
    if (code)
      return writeError(joinPath(directory, file.name), code);
  }
  if (Error error = syncDirectory(directory))
    return error;
  if (Error error = writeIndex())
    return error;
  isFinished = true;
  removeOtherFiles(/*keepsOwn=*/true);
  return Error::success();
}

/// Files of other generations, or of this one where it was not finished.
void CheckpointWriter::removeOtherFiles(bool keepsOwn) {
  std::error_code code;
  std::vector<std::string> unwanted;
  for (sys::fs::directory_iterator entry(directory, code), end;
       !code && entry != end; entry.increment(code)) {
    StringRef name = sys::path::filename(entry->path());
    bool isOwn =
        any_of(files, [&](const File &file) { return file.name == name; });
    if (isCheckpointFileName(name) && isOwn != keepsOwn)
      unwanted.push_back(entry->path());
  }
  for (const std::string &path : unwanted)
    (void)sys::fs::remove(path);
}

CheckpointWriter::~CheckpointWriter() {
  for (File &file : files)
    if (file.descriptor >= 0)
      close(file.descriptor);
  if (!isFinished)
    removeOtherFiles(/*keepsOwn=*/false);
}
