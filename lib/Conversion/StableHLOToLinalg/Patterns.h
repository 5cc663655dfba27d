//===- Patterns.h - The groups of conversion patterns -----------*- C++ -*-===//

#ifndef AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_PATTERNS_H
#define AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_PATTERNS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace amsp {

/// Elementwise ops become linalg.generic ops.
void populateElementwisePatterns(const mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
/// Constants and ops that only move elements.
void populateDataMovementPatterns(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);
/// Slices, pads and concatenations, static and dynamic.
void populateSlicePatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);
void populateReductionPatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);
void populateDotGeneralPatterns(const mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);
void populateGatherScatterPatterns(const mlir::TypeConverter &converter,
                                   mlir::RewritePatternSet &patterns);

//===--- Shared by the patterns -------------------------------------------===//

/// An uninitialised tensor.
mlir::Value createEmpty(mlir::ImplicitLocOpBuilder &builder,
                        mlir::RankedTensorType type);

/// A tensor with all elements equal to a scalar.
mlir::Value createFill(mlir::ImplicitLocOpBuilder &builder,
                       mlir::RankedTensorType type, mlir::Value scalar);

/// The element of a tensor of rank 0; that of a constant is a constant.
mlir::Value extractScalar(mlir::ImplicitLocOpBuilder &builder,
                          mlir::Value tensor);

/// A generic op with only parallel loops over a new tensor of type `type`.
mlir::Value createParallelGeneric(
    mlir::ImplicitLocOpBuilder &builder, mlir::RankedTensorType type,
    mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> inputMaps,
    llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                   mlir::ValueRange)>
        body);

} // namespace amsp

#endif // AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_PATTERNS_H
