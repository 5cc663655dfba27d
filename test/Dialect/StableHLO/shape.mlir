// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<3x4xf32>
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<3x4xf32>
  // CHECK: stablehlo.constant dense<[1, 2]> : tensor<2xui32>
  %c = stablehlo.constant dense<[1, 2]> : tensor<2xui32>
  // CHECK: stablehlo.constant {note.kept} dense<true> : tensor<i1>
  %c_0 = stablehlo.constant {note.kept} dense<true> : tensor<i1>
  // CHECK: stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  %cst_1 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  // CHECK: stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %cst_2 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  // CHECK: stablehlo.iota dim = 1 : tensor<3x4xi32>
  %0 = stablehlo.iota dim = 1 : tensor<3x4xi32>
  return
}

// CHECK-LABEL: func.func @sameElements
func.func @sameElements(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xi32>
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xi32>
  // CHECK: stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6x2xi16>
  %1 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6x2xi16>
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [2, 0] : (tensor<4x6xf32>) -> tensor<6x5x4xf32>
  %2 = stablehlo.broadcast_in_dim %arg0, dims = [2, 0] : (tensor<4x6xf32>) -> tensor<6x5x4xf32>
  // CHECK: stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<2x12xf32>
  %4 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // CHECK: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %5 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK: stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>
  %6 = stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @cutAndJoin
func.func @cutAndJoin(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.slice %arg0 [0:4, 1:5:2] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %0 = stablehlo.slice %arg0 [0:4, 1:5:2] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  // CHECK: stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.pad %arg0, %arg1, low = [0, 1], high = [-1, 2], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6x9xf32>
  %2 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [-1, 2], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6x9xf32>
  // CHECK: stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %3 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  // CHECK: stablehlo.concatenate %arg0, dim = 1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.concatenate %arg0, dim = 1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
