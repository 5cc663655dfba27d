//===- AMSPTypes.td - Types of the amsp dialect ------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPTYPES_TD
#define AMSP_DIALECT_AMSP_IR_AMSPTYPES_TD

include "amsp/Dialect/AMSP/IR/AMSPDialect.td"
include "mlir/IR/AttrTypeBase.td"

def AMSP_PendingType : TypeDef<AMSP_Dialect, "Pending"> {
  let mnemonic = "pending";
  let summary = "a tensor that a started collective will deliver";
  let description = [{
    Stands for the tensor from the start to the await. It keeps the source: what the
    collective reads may not be overwritten before the await.

    ```mlir
    !amsp.pending<tensor<13x31xf32>>
    ```
  }];
  let parameters = (ins TypeParameter<"::mlir::RankedTensorType", "what it delivers">:$tensor);
  let assemblyFormat = "`<` $tensor `>`";
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$tensor), [{
      return $_get(tensor.getContext(), tensor);
    }]>
  ];
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPTYPES_TD
