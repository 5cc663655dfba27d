// RUN: amsp-opt %s --amsp-outline-kernels | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[A:.*]]: memref<16xf32>, %[[B:.*]]: memref<16xf32>
func.func @main(%a: memref<16xf32>, %b: memref<16xf32>, %i: index) {
  // Equal work is one kernel.
  // CHECK: amsp.launch @kernel_0(%[[A]], %[[B]])
  // CHECK: amsp.launch @kernel_0(%[[B]], %[[A]])
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.exp ins(%b : memref<16xf32>) outs(%a : memref<16xf32>)
  // In place: one pointer.
  // CHECK: amsp.launch @kernel_1(%[[A]]) : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%a : memref<16xf32>)
  // Slices at different places share a kernel, but may overlap.
  // CHECK: amsp.launch @kernel_2(
  // CHECK: amsp.launch @kernel_2(
  %0 = memref.subview %a[0] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1]>>
  %1 = memref.subview %a[8] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: 8>>
  %2 = memref.subview %a[%i] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>
  linalg.exp ins(%0 : memref<4xf32, strided<[1]>>) outs(%1 : memref<4xf32, strided<[1], offset: 8>>)
  linalg.exp ins(%0 : memref<4xf32, strided<[1]>>) outs(%2 : memref<4xf32, strided<[1], offset: ?>>)
  // CHECK-NOT: amsp.launch
  return
}

// CHECK: func.func private @kernel_0(%{{.*}}: memref<16xf32> {llvm.noalias}, %{{.*}}: memref<16xf32> {llvm.noalias})
// CHECK: linalg.exp
// CHECK: func.func private @kernel_1(%[[X:.*]]: memref<16xf32> {llvm.noalias})
// CHECK: linalg.exp ins(%[[X]] : memref<16xf32>) outs(%[[X]] : memref<16xf32>)
// CHECK: func.func private @kernel_2(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>)
