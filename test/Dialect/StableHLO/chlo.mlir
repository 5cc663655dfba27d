// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s

// CHECK-LABEL: func.func @square
func.func @square(%arg0: tensor<4xf32>) {
  // CHECK: chlo.square %arg0 {note.kept} : tensor<4xf32> -> tensor<4xf32>
  %0 = chlo.square %arg0 {note.kept} : tensor<4xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @error_functions
func.func @error_functions(%arg0: tensor<4xf32>) {
  // CHECK: chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
  %0 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erfc %arg0 : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erfc %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}
