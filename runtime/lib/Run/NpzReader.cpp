//===- NpzReader.cpp - Reads archives of numpy arrays ---------------------===//

#include "amsp/Run/Npz.h"

#include "llvm/ADT/STLExtras.h"

#include <zip.h>

using namespace amsp::run;
using namespace llvm;

static constexpr StringLiteral extension = ".npy";

NpzEntry::NpzEntry(std::string context, zip_file *file)
    : context(std::move(context)), file(file) {}

NpzEntry::~NpzEntry() { zip_fclose(file); }

Error NpzEntry::readHeader() {
  Expected<NpyHeader> header = readNpyHeader(
      [this](MutableArrayRef<char> bytes) { return read(bytes); });
  if (!header) {
    std::string message = toString(header.takeError());
    return createStringError(StringRef(message).starts_with(context)
                                 ? message
                                 : context + ": " + message);
  }
  npyHeader = std::move(*header);
  return Error::success();
}

Error NpzEntry::read(MutableArrayRef<char> bytes) {
  while (!bytes.empty()) {
    zip_int64_t count = zip_fread(file, bytes.data(), bytes.size());
    if (count < 0)
      return createStringError(context + ": " + zip_file_strerror(file));
    if (count == 0)
      return createStringError(context + ": the array ends too early");
    bytes = bytes.drop_front(count);
  }
  return Error::success();
}

Error NpzEntry::finish() {
  char extra;
  // Only at its end does libzip compare the checksum.
  zip_int64_t count = zip_fread(file, &extra, 1);
  if (count < 0)
    return createStringError(context + ": " + zip_file_strerror(file));
  if (count > 0)
    return createStringError(context +
                             ": there is more data than the shape needs");
  return Error::success();
}

NpzReader::NpzReader(std::string path, zip_t *archive)
    : filePath(std::move(path)), archive(archive) {
  zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    StringRef name = zip_get_name(archive, i, 0);
    name.consume_back(extension);
    arrayNames.push_back(name.str());
  }
}

NpzReader::~NpzReader() { zip_discard(archive); }

Expected<std::unique_ptr<NpzReader>> NpzReader::open(StringRef path) {
  int code = 0;
  zip_t *archive = zip_open(path.str().c_str(), ZIP_RDONLY, &code);
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string message = zip_error_strerror(&error);
    zip_error_fini(&error);
    return createStringError(path +
                             ": cannot be read as an npz file: " + message);
  }
  return std::unique_ptr<NpzReader>(new NpzReader(path.str(), archive));
}

Expected<std::unique_ptr<NpzEntry>> NpzReader::entry(StringRef name) const {
  std::string context = filePath + ": " + name.str();
  auto found = llvm::find(arrayNames, name);
  if (found == arrayNames.end())
    return createStringError(context + " is missing");
  zip_file *file = zip_fopen_index(archive, found - arrayNames.begin(), 0);
  if (!file)
    return createStringError(context + ": " + zip_strerror(archive));
  auto entry = std::make_unique<NpzEntry>(context, file);
  if (Error error = entry->readHeader())
    return std::move(error);
  return entry;
}
