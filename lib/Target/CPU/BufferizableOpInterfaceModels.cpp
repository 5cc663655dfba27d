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

namespace {
struct ExchangeModel
    : DstBufferizableOpInterfaceExternalModel<ExchangeModel, ExchangeOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<ExchangeOp>(op).isDpsInit(&operand);
  }

  /// Only an all_reduce may work in place.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return cast<ExchangeOp>(op).getInfo().getKind() ==
           CollectiveKind::AllReduce;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto exchange = cast<ExchangeOp>(op);
    Location loc = op->getLoc();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> sources, destinations, results;
    for (Value source : exchange.getSources()) {
      FailureOr<Value> buffer = getBuffer(rewriter, source, options, state);
      if (succeeded(buffer))
        buffer = getContiguous(rewriter, loc, *buffer, options);
      if (failed(buffer))
        return failure();
      sources.push_back(*buffer);
    }
    for (Value destination : exchange.getDestinations()) {
      FailureOr<Value> buffer =
          getBuffer(rewriter, destination, options, state);
      if (failed(buffer))
        return failure();
      results.push_back(*buffer);
      auto type = cast<MemRefType>(buffer->getType());
      if (!memref::isStaticShapeAndContiguousRowMajor(type)) {
        auto packed = MemRefType::get(type.getShape(), type.getElementType());
        buffer = options.createAlloc(rewriter, loc, packed, {});
        if (failed(buffer))
          return failure();
      }
      destinations.push_back(*buffer);
    }
    CollectiveStartOp::create(rewriter, loc, exchange.getInfo(), sources,
                              destinations);
    CollectiveAwaitOp::create(rewriter, loc, exchange.getInfo(), sources,
                              destinations);
    for (auto [from, to] : llvm::zip_equal(destinations, results))
      if (from != to && failed(options.createMemCpy(rewriter, loc, from, to)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, op, results);
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
    ExchangeOp::attachInterface<ExchangeModel>(*context);
    ContractOp::attachInterface<ContractModel>(*context);
  });
}
