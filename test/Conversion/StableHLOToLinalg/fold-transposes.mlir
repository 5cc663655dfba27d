// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg --amsp-fold-transposes-into-contractions | FileCheck %s

// CHECK-DAG: #[[$KM:.+]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[$NM:.+]] = affine_map<(d0, d1, d2) -> (d1, d0)>

// The gradient of a weight: both the operand's and the result's transpose.
// CHECK-LABEL: func.func @both
// CHECK: linalg.contract indexing_maps = [#[[$KM]], #{{.*}}, #[[$NM]]]
// CHECK-NOT: linalg.transpose
func.func @both(%a: tensor<24x5xf32>, %b: tensor<24x7xf32>) -> tensor<7x5xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<24x5xf32>) -> tensor<5x24xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<5x24xf32>, tensor<24x7xf32>) -> tensor<5x7xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<5x7xf32>) -> tensor<7x5xf32>
  return %2 : tensor<7x5xf32>
}

// A result with another use is kept as it is.
// CHECK-LABEL: func.func @other_use
// CHECK: linalg.contract
// CHECK: linalg.transpose
func.func @other_use(%a: tensor<5x24xf32>, %b: tensor<24x7xf32>) -> (tensor<5x7xf32>, tensor<7x5xf32>) {
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x24xf32>, tensor<24x7xf32>) -> tensor<5x7xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<5x7xf32>) -> tensor<7x5xf32>
  return %1, %2 : tensor<5x7xf32>, tensor<7x5xf32>
}

// The batch dimension may not come last.
// CHECK-LABEL: func.func @batch_last
// CHECK: linalg.transpose
// CHECK: linalg.contract
func.func @batch_last(%a: tensor<5x6x2xf32>, %b: tensor<2x6x7xf32>) -> tensor<2x5x7xf32> {
  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<5x6x2xf32>) -> tensor<2x5x6xf32>
  %1 = stablehlo.dot_general %0, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x6xf32>, tensor<2x6x7xf32>) -> tensor<2x5x7xf32>
  return %1 : tensor<2x5x7xf32>
}
