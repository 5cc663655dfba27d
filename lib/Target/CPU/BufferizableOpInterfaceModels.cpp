//===- BufferizableOpInterfaceModels.cpp - Bufferization of amsp ops ------===//

#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

using namespace mlir;
using namespace amsp;
using namespace mlir::bufferization;

/// The runtime takes addresses of contiguous buffers only: copies `buffer` if
/// it is none.
static FailureOr<Value> getContiguous(RewriterBase &rewriter, Location loc,
                                      Value buffer,
                                      const BufferizationOptions &options) {
  auto type = cast<MemRefType>(buffer.getType());
  if (memref::isStaticShapeAndContiguousRowMajor(type))
    return buffer;
  auto packed = MemRefType::get(type.getShape(), type.getElementType());
  FailureOr<Value> copy = options.createAlloc(rewriter, loc, packed, {});
  if (failed(copy) ||
      failed(options.createMemCpy(rewriter, loc, buffer, *copy)))
    return failure();
  return copy;
}

/// The buffers of `tensors`.
static FailureOr<SmallVector<Value>>
getBuffers(RewriterBase &rewriter, ValueRange tensors,
           const BufferizationOptions &options, BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value tensor : tensors) {
    FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

namespace {
struct ExchangeStartModel
    : DstBufferizableOpInterfaceExternalModel<ExchangeStartModel,
                                              ExchangeStartOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<ExchangeStartOp>(op).isDpsInit(&operand);
  }

  /// Makes the start and, at the place of the await, the await, which needs
  /// the very same buffers.
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto start = cast<ExchangeStartOp>(op);
    Location loc = op->getLoc();
    if (!start.getAwait())
      return start.emitOpError("is never awaited");
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> sources =
        getBuffers(rewriter, start.getSources(), options, state);
    FailureOr<SmallVector<Value>> results =
        getBuffers(rewriter, start.getDestinations(), options, state);
    if (failed(sources) || failed(results))
      return failure();
    for (Value &source : *sources) {
      FailureOr<Value> buffer = getContiguous(rewriter, loc, source, options);
      if (failed(buffer))
        return failure();
      source = *buffer;
    }
    SmallVector<Value> destinations;
    for (Value result : *results) {
      FailureOr<Value> buffer = result;
      auto type = cast<MemRefType>(result.getType());
      if (!memref::isStaticShapeAndContiguousRowMajor(type)) {
        auto packed = MemRefType::get(type.getShape(), type.getElementType());
        buffer = options.createAlloc(rewriter, loc, packed, {});
      }
      if (failed(buffer))
        return failure();
      destinations.push_back(*buffer);
    }
    CollectiveStartOp::create(rewriter, loc, start.getInfo(), *sources,
                              destinations);
    rewriter.setInsertionPoint(start.getAwait());
    CollectiveAwaitOp::create(rewriter, loc, start.getInfo(), *sources,
                              destinations);
    for (auto [from, to] : llvm::zip_equal(destinations, *results))
      if (from != to && failed(options.createMemCpy(rewriter, loc, from, to)))
        return failure();
    rewriter.setInsertionPoint(op);
    replaceOpWithBufferizedValues(rewriter, op, *results);
    return success();
  }
};

/// To the analysis it reads the sources and the destinations. The start writes
/// those: where what they would be written over is read later, that takes a
/// buffer of its own, as there is still time to.
struct ExchangeAwaitModel
    : DstBufferizableOpInterfaceExternalModel<ExchangeAwaitModel,
                                              ExchangeAwaitOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }

  /// There is no copying what is in flight.
  bool mustBufferizeInPlace(Operation *op, OpOperand &operand,
                            const AnalysisState &) const {
    return cast<ExchangeAwaitOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> results = getBuffers(
        rewriter, cast<ExchangeAwaitOp>(op).getDestinations(), options, state);
    if (failed(results))
      return failure();
    replaceOpWithBufferizedValues(rewriter, op, *results);
    return success();
  }
};

struct ContractModel
    : DstBufferizableOpInterfaceExternalModel<ContractModel, ContractOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto contract = cast<ContractOp>(op);
    return !contract.isDpsInit(&operand) || contract.getAccumulate();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto contract = cast<ContractOp>(op);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    ContractOp::create(rewriter, op->getLoc(), TypeRange(),
                       ArrayRef(buffers).drop_back(), buffers.back(),
                       contract.getMapsAttr(), contract.getAccumulate());
    replaceOpWithBufferizedValues(rewriter, op, buffers.back());
    return success();
  }
};
} // namespace

void amsp::registerBufferizableOpInterfaceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AMSPDialect *) {
    ExchangeAwaitOp::attachInterface<ExchangeAwaitModel>(*context);
    ExchangeStartOp::attachInterface<ExchangeStartModel>(*context);
    ContractOp::attachInterface<ContractModel>(*context);
  });
}
