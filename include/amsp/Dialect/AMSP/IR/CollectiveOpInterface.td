//===- CollectiveOpInterface.td - What all collectives share *- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_COLLECTIVEOPINTERFACE_TD
#define AMSP_DIALECT_AMSP_IR_COLLECTIVEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def AMSP_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::amsp";
  let description = [{
    A collective over N tensors of one element type: one operand and one result for
    each, one group, one reduction. Its `parts` say per tensor how the two sides
    relate. The results are tensors, or, of a start, pending tensors.
  }];
  let methods = [
    InterfaceMethod<"Which of the collectives it is.",
      "::amsp::CollectiveKind", "getKind">,
    InterfaceMethod<"The ranks that take part, as digits.",
      "::amsp::GroupAttr", "getGroup">,
    InterfaceMethod<"How values are combined; none where they are only moved.",
      "std::optional<::amsp::Reduction>", "getCombiner">,
    InterfaceMethod<"One `#amsp.part` for each tensor.",
      "::mlir::ArrayAttr", "getParts">
  ];
  let extraClassDeclaration = [{
    unsigned getNumTensors();
    ::amsp::PartAttr getPart(unsigned tensor);
    /// True for the first half of a collective; the other one is its await.
    bool isStart();
    /// The await of a start; null if there is none.
    ::amsp::AwaitOp getAwait();
    /// Types of an operand, and of the tensor that its result is or delivers.
    ::mlir::RankedTensorType getSourceType(unsigned tensor);
    ::mlir::RankedTensorType getResultType(unsigned tensor);
    /// Types of the two sides; the same ones for an all_reduce and an all_to_all,
    /// where both are full.
    ::mlir::RankedTensorType getFullType(unsigned tensor);
    ::mlir::RankedTensorType getPieceType(unsigned tensor);
    /// The type of all tensors' elements.
    ::mlir::Type getElementType();
    /// True if some tensor is moved for a parameter's sake.
    bool hasParameter();
  }];
  let verify = "return ::amsp::verifyCollective($_op);";
}

#endif // AMSP_DIALECT_AMSP_IR_COLLECTIVEOPINTERFACE_TD
