// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s

// Windows are gathered: (group, batch, windows, window, feature).
// CHECK-DAG: #[[$WINDOWS:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2 * 2 + d3, d4)>
// CHECK-DAG: #[[$GROUPED:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2 + d3, d0 * 2 + d4)>

// CHECK-LABEL: func.func @strided
// CHECK: linalg.generic {indexing_maps = [#[[$WINDOWS]], #{{.+}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%{{.+}} : tensor<2x8x3xf32>) outs(%{{.+}} : tensor<1x2x3x3x3xf32>)
// CHECK: linalg.contract {{.*}} ins(%{{.+}}, %{{.+}} : tensor<1x2x3x3x3xf32>, tensor<1x3x3x4xf32>) outs(%{{.+}} : tensor<1x2x3x4xf32>)
func.func @strided(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Groups are a batch of contractions.
// CHECK-LABEL: func.func @grouped
// CHECK: linalg.generic {indexing_maps = [#[[$GROUPED]], #{{.+}}]
// CHECK: linalg.contract {{.*}} ins(%{{.+}}, %{{.+}} : tensor<3x2x6x3x2xf32>, tensor<3x3x2x1xf32>)
func.func @grouped(%x: tensor<2x8x6xf32>, %k: tensor<3x2x3xf32>) -> tensor<2x6x3xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x8x6xf32>, tensor<3x2x3xf32>) -> tensor<2x6x3xf32>
  return %0 : tensor<2x6x3xf32>
}
