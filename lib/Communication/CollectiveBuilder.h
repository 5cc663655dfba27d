//===- CollectiveBuilder.h - Builds a collective of any kind ----*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_COLLECTIVEBUILDER_H
#define AMSP_LIB_COMMUNICATION_COLLECTIVEBUILDER_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/IR/Builders.h"

namespace amsp {

/// What a collective is besides its tensors.
struct CollectiveTraits {
  CollectiveKind kind;
  std::optional<Reduction> reduction; // none where nothing is combined
  GroupAttr group;
  mlir::IntegerAttr window; // of gathers, or null

  static CollectiveTraits get(CollectiveOpInterface op);
};

/// `parts`: one #amsp.part for each operand.
CollectiveOpInterface createCollective(mlir::OpBuilder &builder,
                                       mlir::Location loc,
                                       const CollectiveTraits &traits,
                                       mlir::ValueRange operands,
                                       mlir::TypeRange results,
                                       llvm::ArrayRef<mlir::Attribute> parts);

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_COLLECTIVEBUILDER_H
