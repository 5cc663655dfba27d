//===- Passes.td - From a per-rank tensor program to CPU code -*- tablegen -*-===//

#ifndef AMSP_TARGET_CPU_PASSES_TD
#define AMSP_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def DoubleBufferLoops : Pass<"amsp-double-buffer-loops", "::mlir::func::FuncOp"> {
  let summary = "unrolls loops by two where collectives need a carry's old and new value";
  let description = [{
    A pipelined loop carries what is gathered one iteration ahead, and what is reduced
    one behind (`amsp-pipeline-loops`). Its next value is written while the old one
    is still read, or in flight: in one buffer that cannot be, in two it takes a copy
    at the end of each iteration. In a loop unrolled by two, each iteration reads the
    buffer that the other one writes, and nothing is copied.

    Unrolled are loops of known trip count that carry a tensor of which the next value
    is written, by a collective from its start on, before the last access to the old
    one, if a collective of the body makes the one or reads the other. The iteration
    that is left of an odd number is written out behind the loop. It runs when the
    order of a body is final, so nothing moves from one copy to the other.

    ```mlir
    // --amsp-double-buffer-loops --canonicalize
    func.func @forward(%p: tensor<5x4xf32>, %w: tensor<1x8xf32>, %x: tensor<1x8xf32>) -> tensor<1x8xf32> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %four = arith.constant 4 : index
      %0:2 = scf.for %i = %zero to %four step %one iter_args(%h = %x, %now = %w) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
        %next = arith.addi %i, %one : index
        %s = tensor.extract_slice %p[%next, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
        %g = amsp.all_gather_start %s group = <[1:2]> keep = 1 : tensor<1x4xf32> -> !amsp.pending<tensor<1x8xf32>>
        %e = tensor.empty() : tensor<1x8xf32>
        %y = linalg.mul ins(%h, %now : tensor<1x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) -> tensor<1x8xf32>
        %ahead = amsp.await %g : !amsp.pending<tensor<1x8xf32>>
        scf.yield %y, %ahead : tensor<1x8xf32>, tensor<1x8xf32>
      }
      return %0#0 : tensor<1x8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @forward(%arg0: tensor<5x4xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<1x8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %0:2 = scf.for %arg3 = %c0 to %c4 step %c2 iter_args(%arg4 = %arg2, %arg5 = %arg1) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
        %1 = arith.addi %arg3, %c1 : index
        %extracted_slice = tensor.extract_slice %arg0[%1, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
        %2 = amsp.all_gather_start %extracted_slice group = <[1:2]>  keep = 1 : tensor<1x4xf32> -> !amsp.pending<tensor<1x8xf32>>
        %3 = tensor.empty() : tensor<1x8xf32>
        %4 = linalg.mul ins(%arg4, %arg5 : tensor<1x8xf32>, tensor<1x8xf32>) outs(%3 : tensor<1x8xf32>) -> tensor<1x8xf32>
        %5 = amsp.await %2 : !amsp.pending<tensor<1x8xf32>>
        %6 = arith.addi %arg3, %c2 : index
        %extracted_slice_0 = tensor.extract_slice %arg0[%6, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
        %7 = amsp.all_gather_start %extracted_slice_0 group = <[1:2]>  keep = 1 : tensor<1x4xf32> -> !amsp.pending<tensor<1x8xf32>>
        %8 = tensor.empty() : tensor<1x8xf32>
        %9 = linalg.mul ins(%4, %5 : tensor<1x8xf32>, tensor<1x8xf32>) outs(%8 : tensor<1x8xf32>) -> tensor<1x8xf32>
        %10 = amsp.await %7 : !amsp.pending<tensor<1x8xf32>>
        scf.yield %9, %10 : tensor<1x8xf32>, tensor<1x8xf32>
      }
      return %0#0 : tensor<1x8xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numLoops", "loops", "loops unrolled by two">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CollectivesToExchange : Pass<"amsp-collectives-to-exchange", "::mlir::ModuleOp"> {
  let summary = "gives the collectives numbers, destinations and runtime descriptions";
  let description = [{
    Turns `all_gather`, `reduce_scatter` and `all_reduce`, split into start and await
    or not, into `amsp.exchange_start` and `amsp.exchange_await`, in
    destination-passing style, numbered in program order; and a rank's index in a
    group into arithmetic on its number. Stores the manifest of the program in the
    module, as its list of collectives is made from the same walk.

    ```mlir
    %p = amsp.reduce_scatter sum %g group = <[1:2]> : tensor<13x31xf32> -> tensor<202xf32>
    ```
    becomes
    ```mlir
    %e = tensor.empty() : tensor<202xf32>
    %f = amsp.exchange_start <0, reduce_scatter, sum, <[1:2]>, rows = [1], full = [403],
                              piece = [202], "reduce_scatter.0"> %g into %e
           : (tensor<13x31xf32>, tensor<202xf32>) -> tensor<202xf32>
    %p = amsp.exchange_await %g into %f
           : (tensor<13x31xf32>, tensor<202xf32>) -> tensor<202xf32>
    ```
  }];
  let statistics = [
    Statistic<"numCollectives", "collectives", "collectives in the program">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def ContractionsToBlas : Pass<"amsp-contractions-to-blas", "::mlir::func::FuncOp"> {
  let summary = "chooses the contractions that BLAS computes";
  let description = [{
    A `linalg.contract` of two f32 or f64 tensors whose loops are all batch, free or
    contracted dimensions becomes an `amsp.contract`; a fill of its destination with
    zeros goes away. Other contractions become `linalg.generic` loops.

    ```mlir
    // --amsp-contractions-to-blas --canonicalize
    #a = affine_map<(m, n, k) -> (m, k)>
    #b = affine_map<(m, n, k) -> (k, n)>
    #c = affine_map<(m, n, k) -> (m, n)>
    func.func @dot(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) -> tensor<4x3xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x3xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
      %c = linalg.contract indexing_maps = [#a, #b, #c]
             ins(%x, %y : tensor<4x8xf32>, tensor<8x3xf32>)
             outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
      return %c : tensor<4x3xf32>
    }
    ```
    becomes
    ```mlir
    #a = affine_map<(m, n, k) -> (m, k)>
    #b = affine_map<(m, n, k) -> (k, n)>
    #c = affine_map<(m, n, k) -> (m, n)>
    func.func @dot(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) -> tensor<4x3xf32> {
      %e = tensor.empty() : tensor<4x3xf32>
      %c = amsp.contract %x, %y into %e maps = [#a, #b, #c]
             : (tensor<4x8xf32>, tensor<8x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      return %c : tensor<4x3xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numBlas", "blas", "contractions given to BLAS">,
    Statistic<"numLoops", "loops", "contractions left to loops">
  ];
  let dependentDialects = ["::amsp::AMSPDialect"];
}

def PrepareDestinations : Pass<"amsp-prepare-destinations", "::mlir::func::FuncOp"> {
  let summary = "gives every op a destination of its own";
  let description = [{
    Bufferization copies what several ops would write into. So each user of a
    `tensor.empty`, of a fill, or of a tensor constant with one value gets an empty
    tensor or fill of its own, a reshape of an empty tensor being one, too; scalars
    and constants of one value that a `linalg.generic` reads move into its body. Empty
    tensors that slices are inserted into go to the start of their block, so that
    what makes the slices can write there.

    ```mlir
    func.func @zeros(%x: tensor<8xf32>) -> tensor<8xf32> {
      %zeros = arith.constant dense<0.0> : tensor<8xf32>
      %0 = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>)
             outs(%zeros : tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @zeros(%x: tensor<8xf32>) -> tensor<8xf32> {
      %zeros = arith.constant dense<0.0> : tensor<8xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %0 = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>)
             outs(%f : tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SeparateReads : Pass<"amsp-separate-reads", "::mlir::func::FuncOp"> {
  let summary = "gives each reader of a tensor that many read a tensor of its own";
  let description = [{
    Upstream's analysis looks, for each op that reads a tensor, at all others that do.
    A scalar that the update of every parameter reads, or a table of positions that
    every layer reads, makes that quadratic in the number of layers. Where a tensor is
    computed into an empty tensor of its own and linalg ops do no more than read it, no
    read is in conflict with another op: each reader takes it from the buffer that it
    is in.

    ```mlir
    // --pass-pipeline='builtin.module(func.func(amsp-separate-reads{min-reads=2}))'
    func.func @read(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %e0 = tensor.empty() : tensor<f32>
      %0 = linalg.exp ins(%x : tensor<f32>) outs(%e0 : tensor<f32>) -> tensor<f32>
      %e1 = tensor.empty() : tensor<f32>
      %1 = linalg.log ins(%0 : tensor<f32>) outs(%e1 : tensor<f32>) -> tensor<f32>
      %e2 = tensor.empty() : tensor<f32>
      %2 = linalg.abs ins(%0 : tensor<f32>) outs(%e2 : tensor<f32>) -> tensor<f32>
      return %1, %2 : tensor<f32>, tensor<f32>
    }
    ```
    becomes
    ```mlir
    func.func @read(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %e0 = tensor.empty() : tensor<f32>
      %0 = linalg.exp ins(%x : tensor<f32>) outs(%e0 : tensor<f32>) -> tensor<f32>
      %buffer = bufferization.to_buffer %0 read_only : tensor<f32> to memref<f32>
      %e1 = tensor.empty() : tensor<f32>
      %read1 = bufferization.to_tensor %buffer restrict : memref<f32> to tensor<f32>
      %1 = linalg.log ins(%read1 : tensor<f32>) outs(%e1 : tensor<f32>) -> tensor<f32>
      %e2 = tensor.empty() : tensor<f32>
      %read2 = bufferization.to_tensor %buffer restrict : memref<f32> to tensor<f32>
      %2 = linalg.abs ins(%read2 : tensor<f32>) outs(%e2 : tensor<f32>) -> tensor<f32>
      return %1, %2 : tensor<f32>, tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"minReads", "min-reads", "int64_t", "16",
           "Tensors that are read less often stay as they are">
  ];
  let statistics = [
    Statistic<"numSeparated", "num-separated", "Tensors that many read">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def PlaceResults : Pass<"amsp-place-results", "::mlir::func::FuncOp"> {
  let summary = "says which buffer each result of the step is written to";
  let description = [{
    Arguments become memrefs. The new value of a state argument goes to the buffer of
    the argument; each other result to a buffer that is a new argument, marked with
    `amsp.result_buffer`. The values that a loop carries go back to the buffer they
    came in, those of a conditional to one buffer for all branches: an old value that
    dies there, or a new buffer.

    ```mlir
    func.func @main(%w: tensor<8xf32> {amsp.result = 0 : i64}, %x: tensor<8xf32>)
        -> (tensor<8xf32> {amsp.argument = 0 : i64}, tensor<8xf32>) {
      %new = linalg.add ins(%w, %x : tensor<8xf32>, tensor<8xf32>)
               outs(%w : tensor<8xf32>) -> tensor<8xf32>
      return %new, %x : tensor<8xf32>, tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%w: memref<8xf32> {amsp.result = 0 : i64}, %x: memref<8xf32>,
                    %y: memref<8xf32> {amsp.result_buffer = 1 : i64}) {
      %0 = bufferization.to_tensor %w restrict writable : memref<8xf32> to tensor<8xf32>
      %1 = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
      %2 = bufferization.to_tensor %y restrict writable : memref<8xf32> to tensor<8xf32>
      %new = linalg.add ins(%0, %1 : tensor<8xf32>, tensor<8xf32>)
               outs(%0 : tensor<8xf32>) -> tensor<8xf32>
      %3 = bufferization.materialize_in_destination %new in %0
             : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %4 = bufferization.materialize_in_destination %1 in %2
             : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      bufferization.materialize_in_destination %3 in writable %w
        : (tensor<8xf32>, memref<8xf32>) -> ()
      bufferization.materialize_in_destination %4 in writable %y
        : (tensor<8xf32>, memref<8xf32>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def ReuseBuffers : Pass<"amsp-reuse-buffers", "::mlir::func::FuncOp"> {
  let summary = "lets elementwise ops write into an operand that dies";
  let description = [{
    When a linalg op reads and writes elements at the same place only, an allocated
    operand that no later op uses can take the result.

    ```mlir
    func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
      %a = memref.alloc() : memref<8xf32>
      %b = memref.alloc() : memref<8xf32>
      linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      linalg.log ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
      linalg.sqrt ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
      %a = memref.alloc() : memref<8xf32>
      linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
      linalg.log ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
      linalg.sqrt ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
    ```
  }];
  let statistics = [
    Statistic<"numReused", "reused", "buffers that another one replaces">,
    Statistic<"bytesReused", "reused-bytes", "their bytes">
  ];
}

def LegalizeContractions : Pass<"amsp-legalize-contractions", "::mlir::func::FuncOp"> {
  let summary = "packs operands of contractions whose strides BLAS does not take";
  let description = [{
    Most layouts need nothing: transposes and batch dimensions are part of the call.
    Where the contracted dimensions do not form one stride, or no dimension of a
    matrix is contiguous, the operand is copied into a packed buffer.
  }];
  let statistics = [
    Statistic<"numPacked", "packed", "operands packed">,
    Statistic<"bytesPacked", "packed-bytes", "their bytes">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def NormalizeLoops : Pass<"amsp-normalize-loops", "::mlir::func::FuncOp"> {
  let summary = "orders and joins the loops of linalg ops for vectorisation";
  let description = [{
    Named ops become `linalg.generic`; loops are permuted so that the innermost one
    walks memory by the smallest strides; neighbouring loops that walk contiguous
    memory are joined; a copy of a buffer to itself goes. So equal work on equal
    bytes becomes one kernel.

    ```mlir
    func.func @exp(%a: memref<24x31xf32>, %b: memref<24x31xf32>) {
      linalg.exp ins(%a : memref<24x31xf32>) outs(%b : memref<24x31xf32>)
      return
    }
    ```
    becomes
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @exp(%a: memref<24x31xf32>, %b: memref<24x31xf32>) {
      %0 = memref.collapse_shape %a [[0, 1]] : memref<24x31xf32> into memref<744xf32>
      %1 = memref.collapse_shape %b [[0, 1]] : memref<24x31xf32> into memref<744xf32>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
          ins(%0 : memref<744xf32>) outs(%1 : memref<744xf32>) {
        ^bb0(%in: f32, %out: f32):
          %2 = math.exp %in : f32
          linalg.yield %2 : f32
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def OutlineKernels : Pass<"amsp-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "moves computation into kernels, equal ones once";
  let description = [{
    Each linalg op, and each loop nest that only computes, becomes a private function
    that `amsp.launch` calls. Kernels with equal bodies and types are one function.
    Arguments are `llvm.noalias` where the buffers are disjoint; a buffer that is
    both read and written is passed once.

    ```mlir
    func.func @main(%a: memref<744xf32>, %b: memref<744xf32>) {
      linalg.exp ins(%a : memref<744xf32>) outs(%b : memref<744xf32>)
      return
    }
    ```
    becomes
    ```mlir
    func.func @main(%a: memref<744xf32>, %b: memref<744xf32>) {
      amsp.launch @kernel_0(%a, %b) : memref<744xf32>, memref<744xf32>
      return
    }
    func.func private @kernel_0(%a: memref<744xf32> {llvm.noalias},
                                %b: memref<744xf32> {llvm.noalias}) {
      linalg.exp ins(%a : memref<744xf32>) outs(%b : memref<744xf32>)
      return
    }
    ```
  }];
  let statistics = [
    Statistic<"numLaunches", "launches", "launches">,
    Statistic<"numKernels", "kernels", "different kernels">
  ];
  let dependentDialects = ["::amsp::AMSPDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def PlanArena : Pass<"amsp-plan-arena", "::mlir::func::FuncOp"> {
  let summary = "gives every buffer a place in one arena";
  let description = [{
    Each `memref.alloc` becomes an `amsp.arena_view`. Buffers whose lifetimes are
    disjoint share memory; a lifetime reaches to the last use of any view, and to the
    await of a collective in flight. A buffer that is made outside of a loop lives
    through all of it, but for what lies between a last reader and the op that
    writes all of it anew: a gather's buffer, or a gradient's, that iterations use
    in turns is free in between. Sets `amsp.arena_bytes` on the function.

    The tensors of one all_reduce get places behind each other, in their order, in
    its sources and in its destinations: the runtime then moves one block. Where a
    buffer is a part of another one, an argument or a result, or the arena would
    grow for it, they stay apart.

    ```mlir
    func.func @main() {
      %a = memref.alloc() : memref<744xf32>
      amsp.launch @kernel(%a) : memref<744xf32>
      return
    }
    func.func private @kernel(memref<744xf32>)
    ```
    becomes
    ```mlir
    func.func @main() attributes {amsp.arena_bytes = 2976 : i64} {
      %a = amsp.arena_view 0 : memref<744xf32>
      amsp.launch @kernel(%a) : memref<744xf32>
      return
    }
    func.func private @kernel(memref<744xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numBuffers", "buffers", "buffers in the arena">,
    Statistic<"bytesBuffers", "buffer-bytes", "their bytes">,
    Statistic<"bytesArena", "arena-bytes", "size of the arena">,
    Statistic<"bytesLive", "live-bytes", "most bytes live at once, a lower bound of the arena">,
    Statistic<"numContiguous", "contiguous", "all_reduces whose tensors are one block">
  ];
  let dependentDialects = ["::amsp::AMSPDialect"];
}

def VerifyBuffers : Pass<"amsp-verify-buffers", "::mlir::ModuleOp"> {
  let summary = "checks that no buffer is used while a collective has it";
  let description = [{
    The contract of a program whose buffers have their places, for what
    `amsp-verify-program` cannot see on tensors. Between the start of a collective and
    its await, in its block, nothing writes its sources and nothing touches its
    destinations: neither through views, nor through another buffer at the same place
    of the arena, nor in a kernel. Every start is awaited once, with the same
    description and buffers. Ids ascend, so all ranks have one order; no condition or
    trip count around a collective comes from the rank's number. Groups partition the
    world, and pieces cover the full side. The bytes in flight are within the bound of
    the schedule, if it has left one (`amsp.prefetch_bytes`). Changes nothing.
  }];
}

def LowerHost : Pass<"amsp-lower-host", "::mlir::ModuleOp"> {
  let summary = "turns the step into the C ABI's execute function";
  let description = [{
    Buffers become addresses (an argument, a result, a constant or the arena, and an
    offset), launches become calls, collectives and contractions calls of the runtime
    with descriptions in constant data. Control flow and scalars stay for the
    conversions to LLVM.

    ```mlir
    amsp.launch @kernel_0(%a, %b) : memref<744xf32>, memref<744xf32>
    ```
    becomes
    ```mlir
    %0 = llvm.getelementptr %arena[4096] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.call @kernel_0(%w, %0) : (!llvm.ptr, !llvm.ptr) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def SplitHost : Pass<"amsp-split-host", "::mlir::ModuleOp"> {
  let summary = "cuts a long execute function into parts";
  let description = [{
    Behind `amsp-lower-host`. The execute function of a step of many layers is one
    block of some ten thousand calls, and code generation takes more than linear time
    for such a block. So its ops become functions of about `max-ops` ops each, called
    one after the other, which are not inlined and not optimised: nearly all time of a
    step is spent in what they call. Values that a later part reads are results, but
    for constants, which each part has of its own. A loop is not cut. A function that
    fits in one part stays as it is.

    ```mlir
    // --amsp-split-host=max-ops=1
    func.func private @kernel(!llvm.ptr)
    func.func @amsp_execute(%rank: !llvm.ptr, %arena: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr) {
      call @kernel(%arena) : (!llvm.ptr) -> ()
      call @kernel(%results) : (!llvm.ptr) -> ()
      return
    }
    ```
    becomes
    ```mlir
    func.func private @kernel(!llvm.ptr)
    func.func private @amsp_execute_0(%arena: !llvm.ptr)
        attributes {passthrough = ["noinline", "optnone"]} {
      call @kernel(%arena) : (!llvm.ptr) -> ()
      return
    }
    func.func private @amsp_execute_1(%results: !llvm.ptr)
        attributes {passthrough = ["noinline", "optnone"]} {
      call @kernel(%results) : (!llvm.ptr) -> ()
      return
    }
    func.func @amsp_execute(%rank: !llvm.ptr, %arena: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr) {
      call @amsp_execute_0(%arena) : (!llvm.ptr) -> ()
      call @amsp_execute_1(%results) : (!llvm.ptr) -> ()
      return
    }
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "500",
           "A part ends with the op that makes it that long, nested ops counted">
  ];
  let statistics = [
    Statistic<"numParts", "num-parts", "Parts that the function was cut into">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def LowerKernels : Pass<"amsp-lower-kernels", "::mlir::func::FuncOp"> {
  let summary = "turns kernels into loops";
  let description = [{
    Linalg ops become loops over loads and stores. Sums may be reassociated, so that
    they vectorise; products and sums may be contracted. Buffers are passed as bare
    addresses.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

def ExpandBFloat16 : Pass<"amsp-expand-bf16", "::mlir::ModuleOp"> {
  let summary = "computes bf16 in f32 and rounds by integer operations";
  let description = [{
    Few CPUs round to bf16: for the others LLVM calls a function that the C
    library need not have, and that hinders vectorisation. So arithmetic on bf16
    is done in f32, each result rounded to the nearest, ties to even, and the
    rounding is integer arithmetic on its bits. All CPUs give the same bits,
    subnormal numbers included.

    ```mlir
    func.func @add(%a: bf16, %b: bf16) -> bf16 {
      %0 = arith.addf %a, %b : bf16
      return %0 : bf16
    }
    ```
    becomes an `arith.addf` in f32 between shifts of bits.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def StoreBFloat16AsInteger : Pass<"amsp-store-bf16-as-i16", "::mlir::ModuleOp"> {
  let summary = "gives values of bf16 the type i16";
  let description = [{
    Of the LLVM dialect, where nothing computes in bf16 any more
    (`amsp-expand-bf16`): values are loaded, stored, chosen between and handed on
    as bits. LLVM would widen those that it holds in registers, and round them
    back by a call.
  }];
}

def ExportStep : Pass<"amsp-export-step", "::mlir::ModuleOp"> {
  let summary = "adds the symbol by which a runtime finds the step";
  let description = [{
    The constant `amsp_step_v1` of Step.h: the manifest, and the address of the
    execute function, which must be LLVM's by now.

    ```mlir
    llvm.func @amsp_execute(%rank: !llvm.ptr, ...) { ... }
    ```
    gets beside it
    ```mlir
    llvm.mlir.global external constant @amsp_step_v1() : !llvm.struct<(i32, ptr, ptr)> { ... }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // AMSP_TARGET_CPU_PASSES_TD
