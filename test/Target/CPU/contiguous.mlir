// RUN: amsp-opt %s --amsp-bufferize --amsp-lower-to-llvm | FileCheck %s

// The tensors of the fused all_reduce lie behind each other: its description says
// so. A gather's never do, nor do those that are arguments of the step.
#id = affine_map<(i) -> (i)>
#replicated = #amsp.placement<replicated>

module @step attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // CHECK: llvm.mlir.global private constant @collective_0()
  // CHECK: %[[C:.*]] = llvm.mlir.constant(1 : i32) : i32
  // CHECK: llvm.insertvalue %[[C]], %{{.*}}[10]
  // CHECK: llvm.mlir.global private constant @collective_1()
  // CHECK: %[[C:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK: llvm.insertvalue %[[C]], %{{.*}}[10]
  func.func @main(%x: tensor<8xf32> {amsp.placement = #replicated},
                  %y: tensor<6xf32> {amsp.placement = #replicated})
      -> (tensor<8xf32> {amsp.placement = #replicated}, tensor<6xf32> {amsp.placement = #replicated}) {
    %e = tensor.empty() : tensor<8xf32>
    %f = tensor.empty() : tensor<6xf32>
    %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.exp ins(%y : tensor<6xf32>) outs(%f : tensor<6xf32>) -> tensor<6xf32>
    %0:2 = amsp.all_reduce sum %a, %b group = <[1:2]> : tensor<8xf32>, tensor<6xf32>
    %1:2 = amsp.all_reduce sum %x, %y group = <[1:2]> : tensor<8xf32>, tensor<6xf32>
    %c = linalg.add ins(%0#0, %1#0 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %d = linalg.add ins(%0#1, %1#1 : tensor<6xf32>, tensor<6xf32>) outs(%f : tensor<6xf32>) -> tensor<6xf32>
    return %c, %d : tensor<8xf32>, tensor<6xf32>
  }
}
