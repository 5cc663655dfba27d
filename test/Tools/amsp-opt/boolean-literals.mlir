// RUN: amsp-opt %s | FileCheck %s

// Constants of i1 as JAX prints large ones, a byte for each element, and as
// this MLIR does, a bit.

// CHECK-LABEL: func.func @bytes
func.func @bytes() -> (tensor<3x5xi1>, tensor<2xi8>, tensor<9xi1>) {
  // CHECK: stablehlo.constant dense<{{\[\[}}true, false, false, true, true], [false, false, false, true, false], [true, true, false, false, true]]> : tensor<3x5xi1>
  %0 = stablehlo.constant dense<"0x010000010100000001000101000001"> : tensor<3x5xi1>
  // CHECK: stablehlo.constant dense<[0, 1]> : tensor<2xi8>
  %1 = stablehlo.constant dense<"0x0001"> : tensor<2xi8>
  // CHECK: stablehlo.constant dense<[true, false, false, false, false, false, false, false, true]> : tensor<9xi1>
  %2 = stablehlo.constant dense<"0x0101"> : tensor<9xi1>
  return %0, %1, %2 : tensor<3x5xi1>, tensor<2xi8>, tensor<9xi1>
}
