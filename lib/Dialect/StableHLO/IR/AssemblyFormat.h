//===- AssemblyFormat.h - Custom directives of the ops' text ----*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_STABLEHLO_IR_ASSEMBLYFORMAT_H
#define AMSP_LIB_DIALECT_STABLEHLO_IR_ASSEMBLYFORMAT_H

#include "amsp/Dialect/StableHLO/IR/StableHLOAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace amsp::stablehlo {

/// One type if operands and result all have it, else a function type.
mlir::ParseResult parseTypesOrSignature(mlir::OpAsmParser &parser,
                                        mlir::Type &operand,
                                        mlir::Type &result);
void printTypesOrSignature(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::Type operand, mlir::Type result);
mlir::ParseResult parseTypesOrSignature(mlir::OpAsmParser &parser,
                                        mlir::Type &first, mlir::Type &second,
                                        mlir::Type &third, mlir::Type &result);
void printTypesOrSignature(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::Type first, mlir::Type second,
                           mlir::Type third, mlir::Type result);

/// The complex result type; the operands' type follows from it.
mlir::ParseResult parseComplexType(mlir::OpAsmParser &parser, mlir::Type &lhs,
                                   mlir::Type &rhs, mlir::Type &result);
void printComplexType(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// `e8m7`: the bits of exponent and mantissa.
mlir::ParseResult parseNumberFormat(mlir::OpAsmParser &parser,
                                    mlir::IntegerAttr &exponentBits,
                                    mlir::IntegerAttr &mantissaBits);
void printNumberFormat(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       mlir::IntegerAttr exponentBits,
                       mlir::IntegerAttr mantissaBits);

/// `[0:4, 1:5:2]`: start, limit and, unless it is 1, stride.
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser,
                                   mlir::DenseI64ArrayAttr &starts,
                                   mlir::DenseI64ArrayAttr &limits,
                                   mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::DenseI64ArrayAttr starts,
                      mlir::DenseI64ArrayAttr limits,
                      mlir::DenseI64ArrayAttr strides);

/// `%a, %b,`: operands with a comma after the last, since a keyword follows.
mlir::ParseResult parseOperandsBeforeKeyword(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands);
void printOperandsBeforeKeyword(mlir::OpAsmPrinter &printer,
                                mlir::Operation *op,
                                mlir::OperandRange operands);

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1],
/// precision = [DEFAULT, DEFAULT], algorithm = <...>`; only the contracting
/// dimensions are always there.
mlir::ParseResult parseDotOptions(mlir::OpAsmParser &parser,
                                  DotDimensionNumbersAttr &dimensionNumbers,
                                  mlir::ArrayAttr &precisionConfig,
                                  DotAlgorithmAttr &algorithm);
void printDotOptions(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     DotDimensionNumbersAttr dimensionNumbers,
                     mlir::ArrayAttr precisionConfig,
                     DotAlgorithmAttr algorithm);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: what each dimension is.
mlir::ParseResult parseConvolutionDimensions(mlir::OpAsmParser &parser,
                                             ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(mlir::OpAsmPrinter &printer,
                                mlir::Operation *op,
                                ConvDimensionNumbersAttr numbers);

/// `stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1],
/// rhs_dilate = [1, 1], reverse = [false, false]`, each of them optional.
mlir::ParseResult parseWindowAttributes(mlir::OpAsmParser &parser,
                                        mlir::DenseI64ArrayAttr &strides,
                                        mlir::DenseIntElementsAttr &padding,
                                        mlir::DenseI64ArrayAttr &lhsDilation,
                                        mlir::DenseI64ArrayAttr &rhsDilation,
                                        mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding,
                           mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation,
                           mlir::DenseBoolArrayAttr reversal);

/// `@name`, or a string where that is no symbol's name.
mlir::ParseResult parseCallTarget(mlir::OpAsmParser &parser,
                                  mlir::StringAttr &target);
void printCallTarget(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::StringAttr target);

} // namespace amsp::stablehlo

#endif // AMSP_LIB_DIALECT_STABLEHLO_IR_ASSEMBLYFORMAT_H
