//===- YamlScalar.h - Texts as YAML -----------------------------*- C++ -*-===//

#ifndef AMSP_SUPPORT_YAMLSCALAR_H
#define AMSP_SUPPORT_YAMLSCALAR_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace amsp {

/// The text as a scalar of one line, key or value, in block or flow: as it is,
/// or in the quotes that it needs to be read back the same.
std::string quoteYaml(llvm::StringRef text);

} // namespace amsp

#endif // AMSP_SUPPORT_YAMLSCALAR_H
