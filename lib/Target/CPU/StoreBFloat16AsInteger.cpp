//===- StoreBFloat16AsInteger.cpp - bf16 as bits --------------------------===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace amsp {
#define GEN_PASS_DEF_STOREBFLOAT16ASINTEGER
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;

namespace {
struct StoreBFloat16AsInteger
    : amsp::impl::StoreBFloat16AsIntegerBase<StoreBFloat16AsInteger> {
  void runOnOperation() override {
    auto bits = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](BFloat16Type) -> Type { return bits; });
    replacer.addReplacement([&](FloatAttr number) -> std::optional<Attribute> {
      if (!number.getType().isBF16())
        return std::nullopt;
      return IntegerAttr::get(bits, number.getValue().bitcastToAPInt());
    });
    replacer.addReplacement(
        [&](DenseElementsAttr numbers) -> std::optional<Attribute> {
          if (!numbers.getElementType().isBF16())
            return std::nullopt;
          return numbers.bitcast(bits);
        });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    getOperation()->walk([](LLVM::BitcastOp cast) {
      if (cast.getType() != cast.getArg().getType())
        return;
      cast.replaceAllUsesWith(cast.getArg());
      cast.erase();
    });
  }
};
} // namespace
