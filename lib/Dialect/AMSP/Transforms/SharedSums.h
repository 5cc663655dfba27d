//===- SharedSums.h - Sums of what several attentions give ------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SHAREDSUMS_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SHAREDSUMS_H

#include "mlir/IR/Operation.h"

namespace amsp {

/// Gradients of a bias that layers share are added before they are summed over
/// the rows. Here each is summed by itself, and the sums are added: the same
/// but for rounding, and each is a gradient of one layer's attention. Only
/// where each summand is contracted, too, as the gradient of scores is.
void splitSharedSums(mlir::Operation *root);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SHAREDSUMS_H
