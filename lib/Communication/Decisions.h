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

/// Says `text`, which is called only if the remark is asked for.
inline void note(mlir::remark::detail::InFlightRemark remark,
                 llvm::function_ref<std::string()> text) {
  if (remark)
    remark << llvm::StringRef(text());
}

/// What was done; `name` is a word for it.
inline void noteDone(const mlir::Pass &pass, mlir::Location loc,
                     llvm::StringRef name,
                     llvm::function_ref<std::string()> text) {
  using namespace mlir::remark;
  note(passed(loc, RemarkOpts::name(name).category(pass.getArgument())), text);
}

/// The same of what was left alone, and why.
inline void noteLeft(const mlir::Pass &pass, mlir::Location loc,
                     llvm::StringRef name,
                     llvm::function_ref<std::string()> text) {
  using namespace mlir::remark;
  note(missed(loc, RemarkOpts::name(name).category(pass.getArgument())), text);
}

/// `all_gather of 3 tensors, 4096 bytes, for 'h.0'`: the bytes of the full
/// sides, padding included.
std::string describeForRemark(CollectiveOpInterface op);

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_DECISIONS_H
