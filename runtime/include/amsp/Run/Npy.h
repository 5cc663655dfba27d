//===- Npy.h - Headers of numpy's array format ------------------*- C++ -*-===//

#ifndef AMSP_RUN_NPY_H
#define AMSP_RUN_NPY_H

#include "amsp-c/Step.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace amsp::run {

struct NpyHeader {
  std::string descr; // numpy's type text: `<f4`
  std::vector<int64_t> shape;
};

/// numpy's type text for an element type: bfloat16 travels as its bits.
llvm::StringRef npyDescr(amsp_dtype dtype);

/// The name of a type text for messages: `float32` for `<f4`.
std::string numpyTypeName(llvm::StringRef descr);

/// `(2, 3)`, as numpy prints shapes.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Reads a header of format version 1, 2 or 3 through `read`, which fills its
/// argument; leaves the stream at the first byte of the data. Arrays in
/// Fortran order, of other byte orders or of structured types are refused.
llvm::Expected<NpyHeader> readNpyHeader(
    const std::function<llvm::Error(llvm::MutableArrayRef<char>)> &read);

/// A header of version 1, padded so that the data is aligned to 64 bytes.
std::string writeNpyHeader(llvm::StringRef descr,
                           llvm::ArrayRef<int64_t> shape);

} // namespace amsp::run

#endif // AMSP_RUN_NPY_H
