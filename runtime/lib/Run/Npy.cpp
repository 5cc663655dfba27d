//===- Npy.cpp - Headers of numpy's array format --------------------------===//

#include "amsp/Run/Npy.h"

#include "amsp/Runtime/DType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

// In the order of amsp_dtype.
static constexpr StringLiteral descrs[runtime::numDTypes] = {
    "<f8", "<f4", "<u2", "<f2", "<i8", "<i4", "<i2",
    "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"};

static constexpr StringLiteral magic = "\x93NUMPY";

/// Headers are small; a larger one is damage.
static constexpr uint32_t maxHeaderBytes = 1 << 20;

StringRef run::npyDescr(amsp_dtype dtype) { return descrs[dtype]; }

std::string run::numpyTypeName(StringRef descr) {
  if (descr == "|b1")
    return "bool";
  static constexpr std::pair<char, StringLiteral> kinds[] = {
      {'f', "float"}, {'i', "int"}, {'u', "uint"}, {'c', "complex"}};
  unsigned bytes;
  if (descr.size() < 3 || descr.drop_front(2).getAsInteger(10, bytes))
    return descr.str();
  for (auto [letter, name] : kinds)
    if (descr[1] == letter)
      return (name + Twine(bytes * 8)).str();
  return descr.str();
}

std::string run::shapeText(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [index, size] : enumerate(shape))
    text += (index ? ", " : "") + std::to_string(size);
  return text + (shape.size() == 1 ? ",)" : ")");
}

namespace {
/// Reads the dictionary of a header, a Python literal of known form.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}
  Error parse(NpyHeader &header);

private:
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  Expected<StringRef> parseString();
  Error parseEntry(StringRef key, NpyHeader &header);
  Error parseShape(std::vector<int64_t> &shape);
  static Error damaged() {
    return createStringError("its npy header cannot be read");
  }

  StringRef rest;
  bool hasDescr = false, hasShape = false;
};
} // namespace

Expected<StringRef> HeaderParser::parseString() {
  rest = rest.ltrim();
  if (!rest.starts_with("'") && !rest.starts_with("\""))
    return damaged();
  size_t end = rest.find(rest.front(), 1);
  if (end == StringRef::npos)
    return damaged();
  StringRef text = rest.slice(1, end);
  rest = rest.drop_front(end + 1);
  return text;
}

Error HeaderParser::parseShape(std::vector<int64_t> &shape) {
  if (!consume("("))
    return damaged();
  int64_t bytesSoFar = 16; // of the largest element; guards against overflow
  while (!consume(")")) {
    int64_t size;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, size) || size < 0 ||
        MulOverflow(bytesSoFar, std::max<int64_t>(size, 1), bytesSoFar))
      return damaged();
    shape.push_back(size);
    if (!consume(",") && !rest.ltrim().starts_with(")"))
      return damaged();
  }
  return Error::success();
}

Error HeaderParser::parseEntry(StringRef key, NpyHeader &header) {
  if (key == "descr") {
    hasDescr = true;
    if (rest.ltrim().starts_with("["))
      return createStringError("arrays of structured types are not supported");
    Expected<StringRef> descr = parseString();
    if (!descr)
      return descr.takeError();
    header.descr = descr->str();
    if (descr->starts_with(">"))
      return createStringError("arrays in big-endian byte order are not "
                               "supported");
    return Error::success();
  }
  if (key == "fortran_order") {
    if (consume("True"))
      return createStringError("arrays in Fortran order are not supported; "
                               "save numpy.ascontiguousarray of it");
    return consume("False") ? Error::success() : damaged();
  }
  if (key == "shape") {
    hasShape = true;
    return parseShape(header.shape);
  }
  return damaged();
}

Error HeaderParser::parse(NpyHeader &header) {
  if (!consume("{"))
    return damaged();
  while (!consume("}")) {
    Expected<StringRef> key = parseString();
    if (!key)
      return key.takeError();
    if (!consume(":"))
      return damaged();
    if (Error error = parseEntry(*key, header))
      return error;
    if (!consume(",") && !rest.ltrim().starts_with("}"))
      return damaged();
  }
  return hasDescr && hasShape ? Error::success() : damaged();
}

Expected<NpyHeader>
run::readNpyHeader(const std::function<Error(MutableArrayRef<char>)> &read) {
  char start[8]; // magic, major and minor version
  if (Error error = read(start))
    return std::move(error);
  if (!StringRef(start, 8).starts_with(magic))
    return createStringError("it is not an npy array");
  int major = static_cast<unsigned char>(start[6]);
  if (major < 1 || major > 3)
    return createStringError("its npy format version is " + Twine(major) +
                             ", known are 1 to 3");
  char length[4] = {};
  if (Error error = read({length, size_t(major == 1 ? 2 : 4)}))
    return std::move(error);
  uint32_t headerBytes = support::endian::read32le(length);
  if (headerBytes > maxHeaderBytes)
    return createStringError("its npy header cannot be read");
  std::string text(headerBytes, '\0');
  if (Error error = read({text.data(), text.size()}))
    return std::move(error);
  NpyHeader header;
  if (Error error = HeaderParser(text).parse(header))
    return std::move(error);
  return header;
}

std::string run::writeNpyHeader(StringRef descr, ArrayRef<int64_t> shape) {
  std::string text = "{'descr': '" + descr.str() +
                     "', 'fortran_order': False, 'shape': " + shapeText(shape) +
                     ", }";
  constexpr size_t alignment = 64, prefix = 10;
  size_t total = alignTo(prefix + text.size() + 1, alignment);
  text.resize(total - prefix - 1, ' ');
  text += '\n';
  std::string header = magic.str() + std::string("\x01\x00", 2);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}
