//===- Safetensors.cpp - Headers of safetensors files ---------------------===//

#include "amsp/Run/Safetensors.h"

#include "amsp/Runtime/DType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

static constexpr int64_t lengthBytes = sizeof(uint64_t);
/// The reference implementation refuses longer headers.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

static StringRef nameOf(amsp_dtype dtype) {
  static constexpr StringRef names[] = {"F64", "F32", "BF16", "F16", "I64",
                                        "I32", "I16", "I8",   "U64", "U32",
                                        "U16", "U8",  "BOOL"};
  static_assert(std::size(names) == runtime::numDTypes);
  return names[dtype];
}

static std::optional<amsp_dtype> parseDType(StringRef name) {
  for (int32_t dtype = 0; dtype < runtime::numDTypes; ++dtype)
    if (nameOf(static_cast<amsp_dtype>(dtype)) == name)
      return static_cast<amsp_dtype>(dtype);
  return std::nullopt;
}

int64_t SafetensorsEntry::bytes() const {
  int64_t result = runtime::bytesOf(dtype);
  for (int64_t size : shape)
    result *= size;
  return result;
}

std::string run::layOutSafetensors(SafetensorsHeader &header) {
  int64_t dataBytes = 0;
  json::Object object;
  if (!header.metadata.empty()) {
    json::Object metadata;
    for (const auto &[key, value] : header.metadata)
      metadata[key] = value;
    object["__metadata__"] = std::move(metadata);
  }
  for (SafetensorsEntry &entry : header.entries) {
    entry.offset = dataBytes;
    dataBytes += entry.bytes();
    object[entry.name] = json::Object{
        {"dtype", nameOf(entry.dtype)},
        {"shape", json::Array(entry.shape)},
        {"data_offsets", json::Array{entry.offset, dataBytes}},
    };
  }
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(object));
  // Aligned data can be mapped.
  text.resize(alignTo(text.size(), lengthBytes), ' ');
  std::string prefix(lengthBytes, '\0');
  support::endian::write64le(prefix.data(), text.size());
  prefix += text;
  for (SafetensorsEntry &entry : header.entries)
    entry.offset += static_cast<int64_t>(prefix.size());
  header.fileBytes = static_cast<int64_t>(prefix.size()) + dataBytes;
  return prefix;
}

static bool parseEntry(const json::Object &object, SafetensorsEntry &entry,
                       int64_t &end) {
  const json::Array *shape = object.getArray("shape");
  const json::Array *offsets = object.getArray("data_offsets");
  std::optional<amsp_dtype> dtype =
      parseDType(object.getString("dtype").value_or(""));
  if (!shape || !offsets || offsets->size() != 2 || !dtype)
    return false;
  entry.dtype = *dtype;
  int64_t bytes = runtime::bytesOf(*dtype);
  for (const json::Value &size : *shape) {
    std::optional<int64_t> number = size.getAsInteger();
    if (!number || *number < 0 || MulOverflow(bytes, *number, bytes))
      return false;
    entry.shape.push_back(*number);
  }
  std::optional<int64_t> begin = (*offsets)[0].getAsInteger();
  std::optional<int64_t> last = (*offsets)[1].getAsInteger();
  if (!begin || !last || *begin < 0 || *last < *begin)
    return false;
  entry.offset = *begin;
  end = *last;
  return true;
}

/// The text of a header; empty if the file is too short or too odd for one.
static std::string readHeaderText(StringRef path, int64_t fileBytes) {
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file) {
    consumeError(file.takeError());
    return "";
  }
  llvm::scope_exit close([&] { (void)sys::fs::closeFile(*file); });
  auto readAll = [&](MutableArrayRef<char> bytes, int64_t offset) {
    Expected<size_t> count = sys::fs::readNativeFileSlice(*file, bytes, offset);
    if (count)
      return *count == bytes.size();
    consumeError(count.takeError());
    return false;
  };
  char length[lengthBytes];
  if (!readAll(length, 0))
    return "";
  uint64_t bytes = support::endian::read64le(length);
  if (bytes > maxHeaderBytes ||
      static_cast<int64_t>(bytes) > fileBytes - lengthBytes)
    return "";
  std::string text(bytes, '\0');
  if (!readAll(MutableArrayRef<char>(text.data(), text.size()), lengthBytes))
    return "";
  return text;
}

Expected<SafetensorsHeader> run::readSafetensorsHeader(StringRef path) {
  uint64_t fileBytes = 0;
  if (std::error_code code = sys::fs::file_size(path, fileBytes))
    return createStringError(path + ": " + code.message());
  std::string text = readHeaderText(path, static_cast<int64_t>(fileBytes));
  auto bad = [&](const Twine &what) {
    return createStringError(path + ": " + what);
  };
  if (text.empty())
    return bad("is no safetensors file, or is cut short");
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return bad("its header: " + toString(parsed.takeError()));
  const json::Object *object = parsed->getAsObject();
  if (!object)
    return bad("its header is no JSON object");
  SafetensorsHeader header;
  int64_t dataBegin = lengthBytes + static_cast<int64_t>(text.size());
  header.fileBytes = dataBegin;
  for (const auto &[key, value] : *object) {
    const json::Object *fields = value.getAsObject();
    if (key == "__metadata__" && fields) {
      for (const auto &[name, content] : *fields)
        header.metadata[name.str()] = content.getAsString().value_or("").str();
      continue;
    }
    SafetensorsEntry entry{key.str(), AMSP_F32, {}, 0};
    int64_t end = 0;
    if (!fields || !parseEntry(*fields, entry, end) ||
        end - entry.offset != entry.bytes())
      return bad("its header does not describe tensor '" + key + "'");
    entry.offset += dataBegin;
    header.fileBytes = std::max(header.fileBytes, dataBegin + end);
    header.entries.push_back(std::move(entry));
  }
  if (header.fileBytes > static_cast<int64_t>(fileBytes))
    return bad("is cut short: " + Twine(fileBytes) + " bytes of " +
               Twine(header.fileBytes));
  // Objects have no order of their own.
  llvm::sort(header.entries, [](const auto &left, const auto &right) {
    return std::tie(left.offset, left.name) <
           std::tie(right.offset, right.name);
  });
  return header;
}
