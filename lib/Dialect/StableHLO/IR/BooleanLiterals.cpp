//===- BooleanLiterals.cpp - Large constants of i1 ------------------------===//

#include "amsp/Dialect/StableHLO/IR/BooleanLiterals.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

/// The elements of the type that `text` begins with, if it is a static tensor
/// of i1.
static std::optional<int64_t> getBooleanElements(StringRef text) {
  if (!text.consume_front("tensor<"))
    return std::nullopt;
  int64_t elements = 1;
  while (!text.starts_with("i1>")) {
    int64_t size = 0;
    if (text.consumeInteger(10, size) || !text.consume_front("x"))
      return std::nullopt;
    elements *= size;
  }
  return elements;
}

/// A bit for each byte, the lowest first; nothing if the text has not two
/// digits for each element, the second 0 or 1.
static std::optional<std::string> packDigits(StringRef digits,
                                             int64_t elements) {
  if (static_cast<int64_t>(digits.size()) != 2 * elements)
    return std::nullopt;
  SmallVector<uint8_t> bytes((elements + 7) / 8, 0);
  for (int64_t i = 0; i < elements; ++i) {
    if (digits[2 * i] != '0' ||
        (digits[2 * i + 1] != '0' && digits[2 * i + 1] != '1'))
      return std::nullopt;
    if (digits[2 * i + 1] == '1')
      bytes[i / 8] |= 1 << (i % 8);
  }
  return llvm::toHex(bytes);
}

std::unique_ptr<llvm::MemoryBuffer> amsp::stablehlo::packBooleanLiterals(
    std::unique_ptr<llvm::MemoryBuffer> module) {
  StringRef text = module->getBuffer(), opening = "dense<\"0x",
            closing = "\"> : ";
  std::string packed;
  size_t copied = 0;
  for (size_t at = text.find(opening); at != StringRef::npos;
       at = text.find(opening, at + 1)) {
    size_t first = at + opening.size(), last = text.find('"', first);
    StringRef behind = text.substr(last);
    if (!behind.consume_front(closing))
      continue;
    std::optional<int64_t> elements = getBooleanElements(behind);
    if (!elements)
      continue;
    std::optional<std::string> digits =
        packDigits(text.slice(first, last), *elements);
    if (!digits)
      continue;
    packed += text.slice(copied, first);
    packed += *digits;
    copied = last;
  }
  if (copied == 0)
    return module;
  packed += text.substr(copied);
  return llvm::MemoryBuffer::getMemBufferCopy(packed,
                                              module->getBufferIdentifier());
}
