//===- StepLibrary.h - A compiled step, loaded ------------------*- C++ -*-===//

#ifndef AMSP_RUN_STEPLIBRARY_H
#define AMSP_RUN_STEPLIBRARY_H

#include "amsp/Run/Manifest.h"

namespace amsp::run {

/// A loaded STEP.so. It stays loaded until the process ends: traces and
/// messages refer to its data.
struct StepLibrary {
  const amsp_step *step = nullptr;
  Manifest manifest;

  static llvm::Expected<StepLibrary> load(llvm::StringRef path);
};

} // namespace amsp::run

#endif // AMSP_RUN_STEPLIBRARY_H
