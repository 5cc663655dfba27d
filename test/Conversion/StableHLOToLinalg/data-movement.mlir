// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s

// CHECK-DAG: #[[$ROW:.+]] = affine_map<(d0, d1) -> (0, d1)>

// A dimension of size 1 is read at 0; a constant is broadcast as a constant.
// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[$ROW]],
// CHECK: arith.constant dense<2.000000e+00> : tensor<2x3xf32>
func.func @broadcast(%a: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %cst = stablehlo.constant dense<2.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// Only the part that does not match is flattened.
// CHECK-LABEL: func.func @reshape
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<5x4x6xf32> into tensor<5x24xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2]] {{.*}} into tensor<5x3x8xf32>
// CHECK: tensor.expand_shape %{{.*}} [] {{.*}} : tensor<f32> into tensor<1x1xf32>
func.func @reshape(%a: tensor<5x4x6xf32>, %s: tensor<f32>) -> (tensor<5x3x8xf32>, tensor<1x1xf32>) {
  %0 = stablehlo.reshape %a : (tensor<5x4x6xf32>) -> tensor<5x3x8xf32>
  %1 = stablehlo.reshape %s : (tensor<f32>) -> tensor<1x1xf32>
  return %0, %1 : tensor<5x3x8xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: func.func @iota
// CHECK: linalg.index 1
// CHECK: arith.sitofp {{.*}} to f32
func.func @iota() -> tensor<2x3xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @slice
// CHECK: tensor.extract_slice %{{.*}}[1, 0] [2, 3] [1, 2]
func.func @slice(%a: tensor<4x6xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.slice %a [1:3, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A slice of nothing may begin behind the last element.
// CHECK-LABEL: func.func @slice_nothing
// CHECK-NOT: tensor.extract_slice
// CHECK: tensor.empty() : tensor<4x0xf32>
func.func @slice_nothing(%a: tensor<4x6xf32>) -> tensor<4x0xf32> {
  %0 = stablehlo.slice %a [0:4, 6:6] : (tensor<4x6xf32>) -> tensor<4x0xf32>
  return %0 : tensor<4x0xf32>
}

// Negative padding cuts off, interior padding is a stride.
// CHECK-LABEL: func.func @pad
// CHECK: linalg.fill
// CHECK: %[[KEPT:.+]] = tensor.extract_slice %{{.*}}[1] [3] [1]
// CHECK: tensor.insert_slice %[[KEPT]] into %{{.*}}[1] [3] [2] : tensor<3xf32> into tensor<7xf32>
func.func @pad(%a: tensor<4xf32>, %s: tensor<f32>) -> tensor<7xf32> {
  %0 = stablehlo.pad %a, %s, low = [-1], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK-LABEL: func.func @concatenate
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [2, 3]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[2, 0] [1, 3]
func.func @concatenate(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// The start is clamped; a whole dimension starts at 0.
// CHECK-LABEL: func.func @dynamic_slice
// CHECK: %[[START:.+]] = arith.minsi
// CHECK: tensor.extract_slice %{{.*}}[%[[START]], 0] [1, 6] [1, 1]
func.func @dynamic_slice(%a: tensor<4x6xf32>, %i: tensor<i32>) -> tensor<1x6xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
  return %0 : tensor<1x6xf32>
}

// CHECK-LABEL: func.func @dynamic_update_slice
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0] [1, 6] [1, 1]
func.func @dynamic_update_slice(%a: tensor<4x6xf32>, %u: tensor<1x6xf32>, %i: tensor<i32>) -> tensor<4x6xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
