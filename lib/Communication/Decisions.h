//===- Decisions.h - What a pass decided, for who asks ----------*- C++ -*-===//
//
// Passes say what they did, and what they left alone, as remarks of MLIR's
// engine: a category for each pass, its name on the command line. `amsp-opt
// --remarks-filter` and `amsp-compile --remarks` print them.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_LIB_COMMUNICATION_DECISIONS_H
#define AMSP_LIB_COMMUNICATION_DECISIONS_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

namespace amsp {

/// `text` is called only if the remark is asked for. `name`, a word, says what
/// was done.
inline void noteDone(const mlir::Pass &pass, mlir::Location loc,
                     llvm::StringRef name,
                     llvm::function_ref<std::string()> text) {
  using namespace mlir::remark;
  if (auto remark =
          passed(loc, RemarkOpts::name(name).category(pass.getArgument())))
    remark << llvm::StringRef(text());
}

/// The same of what was left alone, and why.
inline void noteLeft(const mlir::Pass &pass, mlir::Location loc,
                     llvm::StringRef name,
                     llvm::function_ref<std::string()> text) {
  using namespace mlir::remark;
  if (auto remark =
          missed(loc, RemarkOpts::name(name).category(pass.getArgument())))
    remark << llvm::StringRef(text());
}

/// `all_gather of 3 tensors, 4096 bytes, for 'h.0'`: the bytes of the full
/// sides, padding included.
std::string describeForRemark(CollectiveOpInterface op);

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_DECISIONS_H
