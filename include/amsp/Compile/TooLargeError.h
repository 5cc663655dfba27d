//===- TooLargeError.h - A step that fits under no strategy -----*- C++ -*-===//

#ifndef AMSP_COMPILE_TOOLARGEERROR_H
#define AMSP_COMPILE_TOOLARGEERROR_H

#include "llvm/Support/Error.h"

namespace amsp {

/// The step fits under no strategy.
class TooLargeError : public llvm::ErrorInfo<TooLargeError> {
public:
  // NOLINTNEXTLINE(readability-identifier-naming)
  static char ID;

  /// `leastBytes`: of a rank, under the smallest plan that was found.
  TooLargeError(std::string text, double leastBytes)
      : text(std::move(text)), leastBytes(leastBytes) {}

  double getLeastBytes() const { return leastBytes; }
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string text;
  double leastBytes;
};

} // namespace amsp

#endif // AMSP_COMPILE_TOOLARGEERROR_H
