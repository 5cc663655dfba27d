//===- AMSPBufferOps.td - Ops of the buffer-level program --*- tablegen -*-===//
//
// The second half of code generation works on these: collectives and
// contractions in destination-passing style, first on tensors and, after
// bufferization, on memrefs; views of the arena; kernel launches.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPBUFFEROPS_TD
#define AMSP_DIALECT_AMSP_IR_AMSPBUFFEROPS_TD

include "amsp/Dialect/AMSP/IR/AMSPAttributes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class AMSP_BufferOp<string mnemonic, list<Trait> traits = []>
    : Op<AMSP_Dialect, mnemonic, traits>;

def AMSP_ExchangeStartOp : AMSP_BufferOp<"exchange_start", [
    DestinationStyleOpInterface, AttrSizedOperandSegments, NoMemoryEffect]> {
  let summary = "starts a collective on tensors that writes into given destinations";
  let description = [{
    What collectives become before bufferization, those that are not split too: a
    start and its await. Variadic: one group call for several tensors of one type.
    A result stands for the destination in flight; its only use is the await.

    Start and await have no effect on memory, so that they go when nothing reads
    them, but cannot be speculated: what moves pure ops leaves them where the
    schedule put them.

    ```mlir
    %f = amsp.exchange_start <0, reduce_scatter, sum, <[1:2]>, rows = [1], full = [403],
                              piece = [202], "w"> %g into %e
           : (tensor<13x31xf32>, tensor<202xf32>) -> tensor<202xf32>
    %r = amsp.exchange_await %g into %f : (tensor<13x31xf32>, tensor<202xf32>) -> tensor<202xf32>
    ```
  }];
  let arguments = (ins AMSP_CollectiveInfoAttr:$info,
    Variadic<AnyRankedTensor>:$sources, Variadic<AnyRankedTensor>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $info $sources `into` $destinations attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationsMutable(); }
    /// The only user of the results; null if there is none.
    ::amsp::ExchangeAwaitOp getAwait();
  }];
}

def AMSP_ExchangeAwaitOp : AMSP_BufferOp<"exchange_await", [
    DestinationStyleOpInterface, AttrSizedOperandSegments, NoMemoryEffect]> {
  let summary = "waits for a started exchange";
  let description = [{
    Takes the sources of its start, so that bufferization keeps what they hold until
    here, and the destinations in flight.
  }];
  let arguments = (ins
    Variadic<AnyRankedTensor>:$sources, Variadic<AnyRankedTensor>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $sources `into` $destinations attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationsMutable(); }
  }];
}

class AMSP_CollectiveBufferOp<string mnemonic, list<Trait> traits>
    : AMSP_BufferOp<mnemonic, !listconcat([AttrSizedOperandSegments], traits)> {
  let arguments = (ins AMSP_CollectiveInfoAttr:$info,
    Arg<Variadic<AnyMemRef>, "read until the await", [MemRead]>:$sources,
    Arg<Variadic<AnyMemRef>, "written until the await", [MemWrite]>:$destinations);
  let assemblyFormat = [{
    $info $sources `into` $destinations attr-dict
    `:` type($sources) `->` type($destinations)
  }];
}

def AMSP_CollectiveStartOp : AMSP_CollectiveBufferOp<"collective_start", []> {
  let summary = "starts a collective on buffers";
  let description = [{
    The buffers are in flight until the `collective_await` with the same `id`:
    sources may not be written, nor destinations touched.
  }];
  let hasVerifier = 1;
}

def AMSP_CollectiveAwaitOp : AMSP_CollectiveBufferOp<"collective_await", []> {
  let summary = "waits for a started collective";
  let description = [{
    Takes the buffers of its start, so that liveness keeps them until here.
  }];
}

def AMSP_ContractOp : AMSP_BufferOp<"contract", [
    DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a contraction that BLAS computes";
  let description = [{
    `linalg.contract` of f32 or f64, with one difference: without `accumulate` the
    destination is overwritten, so that no fill with zeros comes before. On
    tensors it has a result, on memrefs none.

    ```mlir
    %c = amsp.contract %a, %b into %e
           maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                   affine_map<(i, j, k) -> (i, j)>]
           : (tensor<4x8xf32>, tensor<8x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$outputs,
    AffineMapArrayAttr:$maps, UnitAttr:$accumulate);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    (`accumulate` $accumulate^)? $inputs `into` $outputs `maps` `=` $maps attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    ::mlir::Value getLhs() { return getInputs()[0]; }
    ::mlir::Value getRhs() { return getInputs()[1]; }
    ::mlir::Value getOutput() { return getOutputs()[0]; }
    ::mlir::AffineMap getMap(unsigned operand) {
      return ::mlir::cast<::mlir::AffineMapAttr>(getMaps()[operand]).getValue();
    }
  }];
}

def AMSP_RankNumberOp : AMSP_BufferOp<"rank_number", [Pure]> {
  let summary = "the number of this rank";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def AMSP_ArenaViewOp : AMSP_BufferOp<"arena_view", [Pure]> {
  let summary = "a buffer at a fixed place of the arena";
  let description = [{
    ```mlir
    %a = amsp.arena_view 4096 : memref<24x31xf32>
    ```
  }];
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$offset attr-dict `:` type($result)";
}

def AMSP_LaunchOp : AMSP_BufferOp<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel on buffers and scalars";
  let description = [{
    The kernel is a private function. A memref operand is passed as the address of
    its first element: its offset is not part of the kernel's type, so that slices
    at different places share a kernel.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$operands);
  let assemblyFormat = "$kernel `(` $operands `)` attr-dict (`:` type($operands)^)?";
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPBUFFEROPS_TD
