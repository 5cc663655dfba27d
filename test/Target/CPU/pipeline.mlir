// RUN: amsp-opt %s --amsp-bufferize | FileCheck %s --check-prefix=BUFFERS
// RUN: amsp-opt %s --amsp-bufferize --amsp-lower-to-llvm | FileCheck %s --check-prefix=LLVM

#id = affine_map<(i) -> (i)>
#replicated = #amsp.placement<replicated>

module @step attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // The new value goes straight into the argument's buffer.
  // BUFFERS-LABEL: func.func @main
  // BUFFERS-SAME: %[[W:.*]]: memref<8xf32> {{{[^}]*}}}, %[[X:.*]]: memref<8xf32>
  // BUFFERS-SAME: amsp.arena_bytes = 32 : i64
  // BUFFERS: %[[G:.*]] = amsp.arena_view 0 : memref<8xf32>
  // BUFFERS: amsp.collective_start {{.*}} %[[X]] into %[[G]]
  // BUFFERS: amsp.collective_await {{.*}} %[[X]] into %[[G]]
  // BUFFERS-NEXT: amsp.launch @kernel_0(%[[W]], %[[G]])
  // BUFFERS-NEXT: return

  // LLVM-LABEL: llvm.func @amsp_execute
  // LLVM-SAME: (%[[RANK:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
  // LLVM: llvm.call @amsp_collective_start(%[[RANK]],
  // LLVM: llvm.call @amsp_collective_await(%[[RANK]],
  // LLVM: llvm.call @kernel_0(%{{.*}}, %[[ARENA]])
  // LLVM-DAG: llvm.mlir.global private constant @collective_0_digits(dense<[1, 2]>
  // LLVM-DAG: llvm.mlir.global private constant @collective_0_operands(dense<[1, 8, 8]>
  // LLVM-DAG: llvm.mlir.global external constant @amsp_step_v1
  func.func @main(%w: tensor<8xf32> {amsp.placement = #replicated, amsp.result = 0 : i64, amsp.role = #amsp.role<param>},
                  %x: tensor<8xf32> {amsp.placement = #replicated})
      -> (tensor<8xf32> {amsp.placement = #replicated, amsp.argument = 0 : i64}) {
    %g = amsp.all_reduce sum %x group = <[1:2]> : tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %new = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%w, %g : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.subf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    return %new : tensor<8xf32>
  }
}
