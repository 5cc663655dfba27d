//===- PackedParameters.cpp - Whose tensors a buffer holds ----------------===//

#include "amsp/Dialect/AMSP/IR/PackedParameters.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace amsp;

static constexpr llvm::StringLiteral kParameters = "parameters",
                                     kElements = "elements";

void amsp::setPackedParameters(Operation *collective,
                               ArrayRef<PackedParameter> parameters) {
  if (parameters.empty())
    return;
  MLIRContext *context = collective->getContext();
  auto list = [&](StringRef name, int64_t PackedParameter::*field) {
    auto values = llvm::map_to_vector(
        parameters, [&](const PackedParameter &of) { return of.*field; });
    return NamedAttribute(StringAttr::get(context, name),
                          DenseI64ArrayAttr::get(context, values));
  };
  collective->setAttr(
      kPackedAttr, DictionaryAttr::get(
                       context, {list(kParameters, &PackedParameter::parameter),
                                 list(kElements, &PackedParameter::elements)}));
}

FailureOr<SmallVector<PackedParameter>>
amsp::getPackedParameters(Operation *collective) {
  SmallVector<PackedParameter> packed;
  Attribute attr = collective->getDiscardableAttr(kPackedAttr);
  if (!attr)
    return packed;
  auto lists = dyn_cast<DictionaryAttr>(attr);
  if (!lists || lists.size() != 2)
    return failure();
  auto parameters = lists.getAs<DenseI64ArrayAttr>(kParameters);
  auto elements = lists.getAs<DenseI64ArrayAttr>(kElements);
  if (!parameters || !elements || parameters.size() != elements.size())
    return failure();
  for (auto [parameter, count] :
       llvm::zip_equal(parameters.asArrayRef(), elements.asArrayRef()))
    packed.push_back({parameter, count});
  return packed;
}
