//===- AMSPAttentionOps.cpp - Attention as one op -------------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace amsp;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// An error unless a value has the given shape.
static LogicalResult verifyShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> expected) {
  if (getShape(value) == expected)
    return success();
  return op->emitOpError("expected ")
         << name << " of shape [" << expected << "], got " << value.getType();
}

/// An error unless a value has the scores' shape, but for repeated dimensions.
static LogicalResult verifyRepeated(Operation *op, StringRef name, Value value,
                                    ArrayRef<int64_t> scores) {
  ArrayRef<int64_t> shape = getShape(value);
  bool isRepeated =
      shape.size() == scores.size() &&
      llvm::all_of(llvm::zip_equal(shape, scores), [](auto sizes) {
        return std::get<0>(sizes) == 1 ||
               std::get<0>(sizes) == std::get<1>(sizes);
      });
  if (isRepeated)
    return success();
  return op->emitOpError("expected ")
         << name << " of the scores' shape [" << scores
         << "] with dimensions of size 1 for those repeated, got "
         << value.getType();
}

/// What both ops have in common; `result`: attention's, or its gradient.
template <typename AttentionOp>
static LogicalResult verifyAttention(AttentionOp op, Value result,
                                     Value gradientOfBias = Value()) {
  ArrayRef<int64_t> q = getShape(op.getQ());
  if (q.size() < 3)
    return op.emitOpError("expected dimensions of heads, queries and elements, "
                          "got ")
           << op.getQ().getType();
  size_t heads = q.size() - 3;
  ArrayRef<int64_t> k = getShape(op.getK());
  if (k.size() != q.size() || k.take_front(heads) != q.take_front(heads) ||
      k.back() != q.back() || k[heads] == 0 || q[heads] % k[heads] != 0)
    return op.emitOpError("keys ")
           << op.getK().getType() << " do not fit the queries "
           << op.getQ().getType();
  SmallVector<int64_t> v(k);
  v.back() = getShape(op.getV()).empty() ? 0 : getShape(op.getV()).back();
  SmallVector<int64_t> scores(q), out(q);
  scores.back() = k[heads + 1];
  out.back() = v.back();
  if (failed(verifyShape(op, "values", op.getV(), v)) ||
      failed(verifyShape(op, "a result", result, out)) ||
      failed(verifyShape(op, "maxima", op.getMax(), q.drop_back())) ||
      failed(verifyShape(op, "sums", op.getSum(), q.drop_back())))
    return failure();
  for (auto [name, value] :
       {std::pair("a bias", Value(op.getBias())),
        std::pair("a mask", Value(op.getMask())),
        std::pair("kept weights", Value(op.getKeep())),
        std::pair("a gradient of the bias", gradientOfBias)})
    if (value && failed(verifyRepeated(op, name, value, scores)))
      return failure();
  if (op.getMax().getType() != op.getSum().getType())
    return op.emitOpError("maxima and sums differ in element type");
  bool isMasked = op.getMask() || op.getCausal();
  if (isMasked != op.getMaskedScore().has_value())
    return op.emitOpError(isMasked ? "has a mask, so it needs a masked_score"
                                   : "has a masked_score, but nothing masks");
  bool isDropped = static_cast<bool>(op.getKeep());
  if (isDropped != op.getKeepScale().has_value())
    return op.emitOpError(isDropped ? "drops weights, so it needs a keep_scale"
                                    : "has a keep_scale, but drops no weights");
  return success();
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(*this, getResult());
}

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifyAttention(*this, getDResult(), getDbias())))
    return failure();
  if (getDbias() && !getBias())
    return emitOpError("gives the gradient of a bias, but has none");
  for (auto [name, gradient, operand] :
       {std::tuple("dq", getDq(), getQ()), std::tuple("dk", getDk(), getK()),
        std::tuple("dv", getDv(), getV())})
    if (failed(verifyShape(*this, name, gradient, getShape(operand))))
      return failure();
  return success();
}
