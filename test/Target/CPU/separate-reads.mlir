// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-separate-reads{min-reads=2}))' | FileCheck %s
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-separate-reads))' | FileCheck %s --check-prefix=FEW
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-separate-reads{min-reads=2}),one-shot-bufferize)' | FileCheck %s --check-prefix=BUFFERS

// FEW-NOT: to_buffer

// Two readers of a scalar that is computed in a place of its own, by two ops.
// CHECK-LABEL: func.func @read
// CHECK: %[[S:.*]] = linalg.exp
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[S]] read_only : tensor<f32> to memref<f32>
// CHECK: %[[T0:.*]] = bufferization.to_tensor %[[B]] restrict : memref<f32> to tensor<f32>
// CHECK: linalg.log ins(%[[T0]] : tensor<f32>)
// CHECK: %[[T1:.*]] = bufferization.to_tensor %[[B]] restrict : memref<f32> to tensor<f32>
// CHECK: linalg.add ins(%{{.*}}, %[[T1]] : tensor<f32>, tensor<f32>)

// It needs no copy.
// BUFFERS-LABEL: func.func @read
// BUFFERS: %[[S:.*]] = memref.alloc() {{.*}}memref<f32>
// BUFFERS: linalg.exp ins(%{{.*}}) outs(%[[S]] : memref<f32>)
// BUFFERS-NOT: memref.copy
// BUFFERS: linalg.log ins(%[[S]] : memref<f32>)
// BUFFERS: linalg.add ins(%{{.*}}, %[[S]] :
// BUFFERS: return
func.func @read(%x: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %1 = linalg.exp ins(%x : tensor<f32>) outs(%0 : tensor<f32>) -> tensor<f32>
  %e0 = tensor.empty() : tensor<f32>
  %2 = linalg.log ins(%1 : tensor<f32>) outs(%e0 : tensor<f32>) -> tensor<f32>
  %e1 = tensor.empty() : tensor<f32>
  %3 = linalg.add ins(%2, %1 : tensor<f32>, tensor<f32>) outs(%e1 : tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// A user that may write, or hand on, what it takes; a destination that is read
// elsewhere; an argument.
// CHECK-LABEL: func.func @not_only_read
// CHECK-NOT: to_buffer
func.func @not_only_read(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e0 = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %1 = linalg.add ins(%0, %0 : tensor<4xf32>, tensor<4xf32>) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %e2 = tensor.empty() : tensor<4xf32>
  %3 = linalg.add ins(%2, %2 : tensor<4xf32>, tensor<4xf32>) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
