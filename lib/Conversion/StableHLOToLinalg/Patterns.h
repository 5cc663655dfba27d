//===- Patterns.h - The groups of conversion patterns -----------*- C++ -*-===//

#ifndef AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_PATTERNS_H
#define AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_PATTERNS_H

#include "amsp/Dialect/StableHLO/IR/StableHLOWindow.h"
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
/// Sums of 16-bit floats, whichever op makes them, become sums of f32.
void populateNarrowSumPatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);
void populateReductionPatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);
void populateDotGeneralPatterns(const mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);
void populateGatherScatterPatterns(const mlir::TypeConverter &converter,
                                   mlir::RewritePatternSet &patterns);

/// Reductions over windows.
void populateWindowPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateScanPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
void populateConvolutionPatterns(const mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
void populateSortPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
void populateRandomPatterns(const mlir::TypeConverter &converter,
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

/// A generic op whose body is a StableHLO region that combines running values
/// with elements: those of `outputs` with those of as many `inputs` (more of
/// them only give loops their bounds). Fails, with an error, if the region has
/// no scalar form.
mlir::FailureOr<mlir::Operation *>
createReduction(mlir::ImplicitLocOpBuilder &builder,
                llvm::ArrayRef<mlir::Type> types, mlir::ValueRange inputs,
                mlir::ValueRange outputs, llvm::ArrayRef<mlir::AffineMap> maps,
                llvm::ArrayRef<mlir::utils::IteratorType> iterators,
                mlir::Block &combiner,
                mlir::ConversionPatternRewriter &rewriter);

/// The base of sliding windows with its padding and dilation, in StableHLO;
/// one window per dimension.
mlir::Value padForWindow(mlir::ImplicitLocOpBuilder &builder, mlir::Value base,
                         mlir::Value padding,
                         llvm::ArrayRef<stablehlo::WindowDimension> window);

} // namespace amsp

#endif // AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_PATTERNS_H
