//===- StepAttributes.h - Many attributes of a step's arguments -*- C++ -*-===//

#ifndef AMSP_PLACEMENT_STEPATTRIBUTES_H
#define AMSP_PLACEMENT_STEPATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// Attributes of a step's arguments and results, set together: setting one by
/// one makes a new list of all of them each time. `write` at the end.
class StepAttributes {
public:
  explicit StepAttributes(mlir::func::FuncOp step)
      : step(step), arguments(step.getNumArguments()),
        results(step.getNumResults()) {
    for (auto [index, attributes] : llvm::enumerate(arguments))
      attributes.assign(
          mlir::function_interface_impl::getArgAttrs(step, index));
    for (auto [index, attributes] : llvm::enumerate(results))
      attributes.assign(
          mlir::function_interface_impl::getResultAttrs(step, index));
  }

  mlir::NamedAttrList &ofArgument(unsigned index) { return arguments[index]; }
  mlir::NamedAttrList &ofResult(unsigned index) { return results[index]; }

  void write() {
    step.setAllArgAttrs(makeDictionaries(arguments));
    step.setAllResultAttrs(makeDictionaries(results));
  }

private:
  llvm::SmallVector<mlir::DictionaryAttr>
  makeDictionaries(llvm::ArrayRef<mlir::NamedAttrList> lists) {
    return llvm::map_to_vector(lists, [&](const mlir::NamedAttrList &list) {
      return list.getDictionary(step.getContext());
    });
  }

  mlir::func::FuncOp step;
  llvm::SmallVector<mlir::NamedAttrList> arguments, results;
};

} // namespace amsp

#endif // AMSP_PLACEMENT_STEPATTRIBUTES_H
