//===- Safetensors.h - Headers of safetensors files -------------*- C++ -*-===//
//
// A file is the header's length (8 bytes, little-endian), the header (JSON) and
// the tensors' data, one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUN_SAFETENSORS_H
#define AMSP_RUN_SAFETENSORS_H

#include "amsp-c/Step.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace amsp::run {

struct SafetensorsEntry {
  std::string name;
  amsp_dtype dtype = AMSP_F32;
  std::vector<int64_t> shape;
  /// From the file's first byte.
  int64_t offset = 0;

  int64_t bytes() const;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  int64_t fileBytes = 0;
};

/// Lays the entries one after the other, sets their offsets and `fileBytes`,
/// and returns the bytes before the data.
std::string layOutSafetensors(SafetensorsHeader &header);

/// Reads the header of a file and checks it against the file's size. Errors
/// name the file.
llvm::Expected<SafetensorsHeader> readSafetensorsHeader(llvm::StringRef path);

} // namespace amsp::run

#endif // AMSP_RUN_SAFETENSORS_H
