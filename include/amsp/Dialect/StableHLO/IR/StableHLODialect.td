//===- StableHLODialect.td - The dialect ----------------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_TD

include "mlir/IR/OpBase.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::amsp::stablehlo";
  let summary = "The compute ops of a training step, as JAX exports them";
  let description = [{
    The part of [StableHLO](https://openxla.org/stablehlo/spec) that training
    steps use, declared from the public specification: same names, same text.
    What `jax.jit(f).lower(...).as_text()` prints is read as it is, and what
    the tools print, jaxlib reads back.

    Every shape is static. Ops are pure, except that collectives are not to be
    executed speculatively. An op outside the part is an error that names it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_TD
