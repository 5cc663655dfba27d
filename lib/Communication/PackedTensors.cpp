//===- PackedTensors.cpp - Small tensors of a collective as one -----------===//
//
// The buffer of pieces has the pieces behind each other; that of full sides is
// `members x pieces`, each tensor padded and cut as its pieces are. An
// all_reduce has no pieces: its tensors follow each other.
//
//===----------------------------------------------------------------------===//

#include "PackedTensors.h"
#include "amsp/Dialect/AMSP/IR/PackedParameters.h"
#include "amsp/Target/TensorBytes.h"

using namespace mlir;
using namespace amsp;

bool PackedTensors::isPacked(const MovedTensor &tensor) const {
  // An all_to_all has full sides on both ends; its tensors stay as they are.
  return traits.kind != CollectiveKind::AllToAll && !tensor.part.getDim() &&
         tensor.part.getKeep() == 0 && getTensorBytes(tensor.full) <= maxBytes;
}

int64_t PackedTensors::getShare(const MovedTensor &tensor) const {
  return isAllReduce() ? tensor.full.getNumElements()
                       : tensor.piece.getShape().back();
}

/// The operand, as it lies in the buffer.
Value PackedTensors::packOperand(const MovedTensor &tensor) {
  if (traits.kind == CollectiveKind::AllGather)
    return tensor.operand;
  Value flat = hlo.reshape(tensor.operand, {tensor.full.getNumElements()});
  if (isAllReduce())
    return flat;
  int64_t members = traits.group.getSize(), piece = getShare(tensor);
  return hlo.reshape(hlo.padLast(flat, members * piece), {members, piece});
}

/// The buffer as one tensor of the collective.
MovedTensor PackedTensors::pack(ArrayRef<MovedTensor> tensors) {
  SmallVector<Value> operands;
  int64_t last = 0;
  for (const MovedTensor &tensor : tensors) {
    operands.push_back(packOperand(tensor));
    last += getShare(tensor);
  }
  Type element = tensors.front().full.getElementType();
  MovedTensor packed;
  packed.piece = packed.full = RankedTensorType::get({last}, element);
  if (!isAllReduce())
    packed.full =
        RankedTensorType::get({traits.group.getSize(), last}, element);
  bool isGather = traits.kind == CollectiveKind::AllGather;
  packed.operand = stablehlo::ConcatenateOp::create(
      hlo.builder, hlo.loc, isGather ? packed.piece : packed.full, operands,
      getTensorType(operands.front()).getRank() - 1);
  // No longer a parameter's alone, but still of its unit; nameParameters() says
  // whose.
  packed.part = PartAttr::get(hlo.builder.getContext(), std::nullopt, 0,
                              std::nullopt, tensors.front().part.getUnit());
  copiedBytes += getTensorBytes(packed.full) + getTensorBytes(packed.piece);
  return packed;
}

/// Says on the collective whose tensors the buffer holds.
void PackedTensors::nameParameters(ArrayRef<MovedTensor> tensors) {
  int64_t pieces = isAllReduce() ? 1 : traits.group.getSize();
  SmallVector<PackedParameter> parameters;
  for (const MovedTensor &tensor : tensors)
    if (std::optional<int64_t> parameter = tensor.part.getParameter())
      parameters.push_back({*parameter, pieces * getShare(tensor)});
  setPackedParameters(collective, parameters);
}

Value PackedTensors::unpack(const MovedTensor &tensor, Value packed,
                            int64_t offset) {
  Value result = hlo.sliceLast(packed, offset, getShare(tensor));
  if (traits.kind == CollectiveKind::ReduceScatter)
    return result;
  int64_t elements = getTensorType(result).getNumElements();
  result = hlo.truncateLast(hlo.reshape(result, {elements}),
                            tensor.full.getNumElements());
  return hlo.reshape(result, tensor.full.getShape());
}

SmallVector<Value> PackedTensors::build(ArrayRef<MovedTensor> tensors) {
  SmallVector<MovedTensor> small, moved;
  for (const MovedTensor &tensor : tensors)
    (isPacked(tensor) ? small : moved).push_back(tensor);
  bool hasPacked = small.size() > 1;
  if (hasPacked)
    moved.push_back(pack(small));
  else
    moved.assign(tensors.begin(), tensors.end());

  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Attribute> parts;
  bool scatters = traits.kind == CollectiveKind::ReduceScatter;
  for (const MovedTensor &tensor : moved) {
    operands.push_back(tensor.operand);
    types.push_back(scatters ? tensor.piece : tensor.full);
    parts.push_back(tensor.part);
  }
  collective =
      createCollective(hlo.builder, hlo.loc, traits, operands, types, parts);
  if (!hasPacked)
    return collective->getResults();
  nameParameters(small);

  SmallVector<Value> results;
  Value buffer = collective->getResults().back();
  int64_t offset = 0;
  size_t next = 0;
  for (const MovedTensor &tensor : tensors) {
    if (!isPacked(tensor)) {
      results.push_back(collective->getResult(next++));
      continue;
    }
    results.push_back(unpack(tensor, buffer, offset));
    offset += getShare(tensor);
  }
  return results;
}
