//===- YamlFile.h - Files that people write ---------------------*- C++ -*-===//
//
// What readers of YAML share: errors that name the line, and numbers within
// bounds. For the .cpp files of readers, as it includes YAMLTraits.h.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_SUPPORT_YAMLFILE_H
#define AMSP_SUPPORT_YAMLFILE_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLTraits.h"

namespace amsp {

/// Reads a document with mapping traits. The error is `NAME:LINE: …` of what is
/// wrong first, or `NAME: no WHAT` for a file without a document. `context` is
/// for the traits.
template <typename Document>
llvm::Expected<Document> parseYaml(llvm::StringRef content,
                                   llvm::StringRef name, llvm::StringRef what,
                                   void *context = nullptr) {
  std::string message;
  auto keepFirst = [](const llvm::SMDiagnostic &diagnostic, void *of) {
    auto &message = *static_cast<std::string *>(of);
    if (message.empty())
      message =
          (diagnostic.getFilename() + ":" +
           llvm::Twine(diagnostic.getLineNo()) + ": " + diagnostic.getMessage())
              .str();
  };
  llvm::yaml::Input input(llvm::MemoryBufferRef(content, name), context,
                          keepFirst, &message);
  Document document;
  input >> document;
  if (!input.error())
    return document;
  if (message.empty())
    message = (name + ": no " + what).str();
  return llvm::createStringError(llvm::Twine(message));
}

/// A number of a file, of which `Unit` gives what it may be: `least`, `most`
/// and the `error` for any other.
template <typename Unit> struct Measured {
  double value = 0;
};

/// A key that may be missing; `value` stays then.
template <typename Unit, typename Value>
void mapOptionalMeasure(llvm::yaml::IO &io, const char *key, Value &value) {
  std::optional<Measured<Unit>> number;
  io.mapOptional(key, number);
  if (number)
    value = number->value;
}

/// A key that must be there.
template <typename Unit>
void mapMeasure(llvm::yaml::IO &io, const char *key, double &value) {
  Measured<Unit> number;
  io.mapRequired(key, number);
  value = number.value;
}

} // namespace amsp

template <typename Unit> struct llvm::yaml::ScalarTraits<amsp::Measured<Unit>> {
  static void output(const amsp::Measured<Unit> &number, void *,
                     raw_ostream &os) {
    os << number.value;
  }
  static StringRef input(StringRef text, void *, amsp::Measured<Unit> &number) {
    // The comparison is false for what is no number.
    bool isGood = to_float(text, number.value) && number.value >= Unit::least &&
                  number.value <= Unit::most;
    return isGood ? StringRef() : StringRef(Unit::error);
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

#endif // AMSP_SUPPORT_YAMLFILE_H
