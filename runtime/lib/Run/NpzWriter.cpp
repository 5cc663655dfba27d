//===- NpzWriter.cpp - Writes archives of numpy arrays --------------------===//
//
// libzip asks for the data of an entry when it writes it, and writes a
// temporary file that it renames at the end. So arrays are made one at a time,
// and no half-written file is left.
//
//===----------------------------------------------------------------------===//

#include "amsp/Run/Npz.h"

#include "amsp/Runtime/DType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <zip.h>

using namespace amsp::run;
using namespace llvm;

namespace {
/// An array on its way into the archive; libzip owns it.
struct PendingArray {
  std::string header;
  size_t dataBytes;
  NpzWriter::Fill fill;
  std::string content; // header and data while the entry is being written
  size_t position = 0;
  zip_error_t error;
};
} // namespace

static zip_int64_t reportStat(PendingArray &array, void *data) {
  auto *stat = static_cast<zip_stat_t *>(data);
  zip_stat_init(stat);
  stat->size = stat->comp_size = array.header.size() + array.dataBytes;
  stat->comp_method = ZIP_CM_STORE;
  stat->valid = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  return sizeof(*stat);
}

static zip_int64_t serve(void *user, void *data, zip_uint64_t length,
                         zip_source_cmd_t command) {
  auto &array = *static_cast<PendingArray *>(user);
  switch (command) {
  case ZIP_SOURCE_OPEN:
    array.content.assign(array.header);
    array.content.resize(array.header.size() + array.dataBytes);
    if (!array.fill(
            MutableArrayRef<char>(array.content.data(), array.content.size())
                .drop_front(array.header.size()))) {
      zip_error_set(&array.error, ZIP_ER_READ, 0);
      return -1;
    }
    array.position = 0;
    return 0;
  case ZIP_SOURCE_READ: {
    size_t count =
        std::min<size_t>(length, array.content.size() - array.position);
    std::copy_n(array.content.data() + array.position, count,
                static_cast<char *>(data));
    array.position += count;
    return static_cast<zip_int64_t>(count);
  }
  case ZIP_SOURCE_CLOSE:
    std::string().swap(array.content); // the next array needs the memory
    return 0;
  case ZIP_SOURCE_STAT:
    return reportStat(array, data);
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&array.error, data, length);
  case ZIP_SOURCE_FREE:
    zip_error_fini(&array.error);
    delete &array;
    return 0;
  case ZIP_SOURCE_SUPPORTS:
    return zip_source_make_command_bitmap(
        ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
        ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
  default:
    zip_error_set(&array.error, ZIP_ER_OPNOTSUPP, 0);
    return -1;
  }
}

NpzWriter::NpzWriter(std::string path, zip_t *archive)
    : filePath(std::move(path)), archive(archive) {}

NpzWriter::~NpzWriter() {
  if (archive)
    zip_discard(archive);
}

Expected<std::unique_ptr<NpzWriter>> NpzWriter::create(StringRef path) {
  StringRef directory = sys::path::parent_path(path);
  if (!directory.empty() && !sys::fs::is_directory(directory))
    return createStringError(path + ": there is no directory " + directory);
  int code = 0;
  zip_t *archive =
      zip_open(path.str().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string message = zip_error_strerror(&error);
    zip_error_fini(&error);
    return createStringError(path + ": cannot be written: " + message);
  }
  return std::unique_ptr<NpzWriter>(new NpzWriter(path.str(), archive));
}

Error NpzWriter::add(StringRef name, amsp_dtype dtype, ArrayRef<int64_t> shape,
                     Fill fill) {
  size_t bytes = runtime::bytesOf(dtype);
  for (int64_t size : shape)
    bytes *= size;
  auto *array = new PendingArray{writeNpyHeader(npyDescr(dtype), shape),
                                 bytes,
                                 std::move(fill),
                                 {},
                                 0,
                                 {}};
  zip_error_init(&array->error);
  zip_source_t *source = zip_source_function(archive, serve, array);
  zip_int64_t index = source
                          ? zip_file_add(archive, (name + ".npy").str().c_str(),
                                         source, ZIP_FL_ENC_UTF_8)
                          : -1;
  if (index < 0) {
    std::string message = zip_strerror(archive);
    if (source)
      zip_source_free(source);
    return createStringError(filePath + ": cannot be written: " + message);
  }
  // Stored, and of one date (1980-01-01), so that equal results make equal
  // files.
  zip_set_file_compression(archive, index, ZIP_CM_STORE, 0);
  zip_file_set_dostime(archive, index, 0, (1 << 5) | 1, 0);
  return Error::success();
}

Error NpzWriter::finish() {
  if (zip_close(archive) < 0)
    return createStringError(filePath +
                             ": cannot be written: " + zip_strerror(archive));
  archive = nullptr;
  return Error::success();
}
