//===- StableHLOControlFlowOps.td - Control flow --------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCONTROLFLOWOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCONTROLFLOWOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, Terminator, ReturnLike]> {
  let summary = "The values of a region";
  let arguments = (ins Variadic<StableHLO_Tensor>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange());
  }]>];
}

def StableHLO_WhileOp
    : StableHLO_Op<"while", [RecursiveMemoryEffects, SingleBlock,
                             AllTypesMatch<["operand", "results"]>,
                             OpAsmOpInterface]> {
  let summary = "A loop that goes on while a predicate holds";
  let description = [{
    ```mlir
    %0 = stablehlo.while(%iterArg = %init) : tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %iterArg, %limit
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg, %one : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }
    ```
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operand);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    void getAsmBlockArgumentNames(::mlir::Region &region,
                                  ::mlir::OpAsmSetValueNameFn setNameFn) {
      for (::mlir::BlockArgument arg : region.getArguments())
        setNameFn(arg, "iterArg");
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

class StableHLO_BranchOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, [RecursiveMemoryEffects, RecursivelySpeculatable,
                              SingleBlock] # traits>;

def StableHLO_IfOp : StableHLO_BranchOp<"if"> {
  let summary = "The values of one of two regions";
  let description = "Canonicalization makes a `case` of it.";
  let arguments = (ins StableHLO_ScalarPredTensor:$pred);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def StableHLO_CaseOp : StableHLO_BranchOp<"case"> {
  let summary = "The values of the region with a given number";
  let description = [{
    A number out of range selects the last region. Canonicalization leaves only
    the region that a constant number selects.
  }];
  let arguments = (ins StableHLO_ScalarI32Tensor:$index);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def StableHLO_OptimizationBarrierOp
    : StableHLO_Op<"optimization_barrier", [Pure,
                                            AllTypesMatch<["operand", "result"]>]> {
  let summary = "Its operands; nothing moves across it";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operand);
  let results = (outs Variadic<StableHLO_Tensor>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` type($result)):(`(` `)`)?
  }];
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCONTROLFLOWOPS_TD
