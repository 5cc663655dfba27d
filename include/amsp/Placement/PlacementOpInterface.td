//===- PlacementOpInterface.td - How ops carry placements --*- tablegen -*-===//

#ifndef AMSP_PLACEMENT_PLACEMENTOPINTERFACE_TD
#define AMSP_PLACEMENT_PLACEMENTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PlacementOpInterface : OpInterface<"PlacementOpInterface"> {
  let cppNamespace = "::amsp";
  let description = [{
    Tells how an op carries placements from its operands to its results, so that
    the same op on local values computes the local results. Ops without the
    interface, and cases that a rule does not cover, run on gathered operands.
  }];
  let methods = [
    InterfaceMethod<[{
        Given the placements in which the operands are at hand, the placements
        in which the op takes them and those of its results. An operand that is
        asked for in another placement than its own is converted. A result is
        partial only if the op is linear in the partial operands.
      }],
      "::amsp::Transfer", "transferPlacements",
      (ins "::llvm::ArrayRef<::amsp::Placement>":$operands,
           "const ::amsp::PlacementContext &":$context)>,
    InterfaceMethod<[{
        The placements of the operands from which the op computes its first
        result in a given placement, split or flat. Lets a consumer pull a
        placement up into a replicated producer, so that nothing is computed
        whole and then cut. Nothing if the op cannot.
      }],
      "::std::optional<::llvm::SmallVector<::amsp::Placement>>",
      "pullPlacement",
      (ins "const ::amsp::Placement &":$result,
           "const ::amsp::PlacementContext &":$context),
      "", [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        Adapts the attributes of a clone, whose operands and result types are
        local already, for this op's placements.
      }],
      "void", "localizeAttributes",
      (ins "::mlir::Operation *":$local, "const ::amsp::Transfer &":$transfer),
      "", [{ return; }]>,
  ];
}

#endif // AMSP_PLACEMENT_PLACEMENTOPINTERFACE_TD
