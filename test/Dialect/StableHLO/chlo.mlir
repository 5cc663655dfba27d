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

// CHECK-LABEL: func.func @functions
func.func @functions(%arg0: tensor<4xf32>) {
  // CHECK: chlo.acos %arg0 : tensor<4xf32> -> tensor<4xf32>
  %0 = chlo.acos %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.acosh %arg0 : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.acosh %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.asin %arg0 : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.asin %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.asinh %arg0 : tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.asinh %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.atan %arg0 : tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.atan %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.atanh %arg0 : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.atanh %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.bessel_i1e %arg0 : tensor<4xf32> -> tensor<4xf32>
  %6 = chlo.bessel_i1e %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.cosh %arg0 : tensor<4xf32> -> tensor<4xf32>
  %7 = chlo.cosh %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.digamma %arg0 : tensor<4xf32> -> tensor<4xf32>
  %8 = chlo.digamma %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
  %9 = chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.lgamma %arg0 : tensor<4xf32> -> tensor<4xf32>
  %10 = chlo.lgamma %arg0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.sinh %arg0 : tensor<4xf32> -> tensor<4xf32>
  %11 = chlo.sinh %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @functions_of_two
func.func @functions_of_two(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  // CHECK: chlo.next_after %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %0 = chlo.next_after %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.polygamma %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.polygamma %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.zeta %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.zeta %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @top_k
func.func @top_k(%arg0: tensor<4x6xf32>) {
  // CHECK: %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return
}
