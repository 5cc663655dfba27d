// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s

// CHECK-DAG: #[[$READ:.+]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
// CHECK-DAG: #[[$WINDOW:.+]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[$RESULT:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// Padding has the initial value.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[X:.+]]: tensor<4x5xf32>, %[[INIT:.+]]: tensor<f32>
// CHECK: %[[PADDED:.+]] = tensor.insert_slice %[[X]] into %{{.+}}[0, 1] [4, 5] [1, 1]
// CHECK: %[[SIZES:.+]] = tensor.empty() : tensor<3xi8>
// CHECK: linalg.generic {indexing_maps = [#[[$READ]], #[[$WINDOW]], #[[$RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[PADDED]], %[[SIZES]] : tensor<4x7xf32>, tensor<3xi8>)
// CHECK: arith.addf %{{.+}}, %{{.+}} fastmath<reassoc> : f32
func.func @sum(%x: tensor<4x5xf32>, %init: tensor<f32>) -> tensor<4x3xf32> {
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// The position that a window selects is found with the element, then the source
// is added there.
// CHECK-LABEL: func.func @select_and_scatter
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} outs(%{{.+}}, %{{.+}} : tensor<3xf32>, tensor<3xi64>)
// CHECK: scf.for
// CHECK: tensor.insert
func.func @select_and_scatter(%x: tensor<6xf32>, %source: tensor<3xf32>, %init: tensor<f32>) -> tensor<6xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// Source elements in bf16 that meet in one position are added in f32.
// CHECK-LABEL: func.func @select_and_scatter_bf16
// CHECK: arith.extf
// CHECK: scf.for {{.*}} -> (tensor<6xf32>)
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf
// CHECK: return %{{.*}} : tensor<6xbf16>
func.func @select_and_scatter_bf16(%x: tensor<6xbf16>, %source: tensor<5xbf16>) -> tensor<6xbf16> {
  %init = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<6xbf16>, tensor<5xbf16>, tensor<bf16>) -> tensor<6xbf16>
  return %0 : tensor<6xbf16>
}

// Windows up to each element, or from it on, are scans: a step for each element,
// and every running value is a result, so sums are not reassociated.
// CHECK-LABEL: func.func @cumulative_sum
// CHECK-SAME: %[[X:.+]]: tensor<4x5xf32>
// CHECK-DAG: %[[RUNNING:.+]] = linalg.fill ins(%{{.+}} : f32) outs(%{{.+}} : tensor<4xf32>)
// CHECK-DAG: %[[RESULT:.+]] = tensor.empty() : tensor<4x5xf32>
// CHECK: %[[SCAN:.+]]:2 = linalg.generic {indexing_maps = [#[[$ELEMENT:.+]], #[[$ROW:.+]], #[[$ELEMENT]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<4x5xf32>) outs(%[[RUNNING]], %[[RESULT]] : tensor<4xf32>, tensor<4x5xf32>)
// CHECK-NEXT: ^bb0(%[[ELEMENT:.+]]: f32, %[[SUM:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT: %[[NEXT:.+]] = arith.addf %[[SUM]], %[[ELEMENT]] : f32
// CHECK-NEXT: linalg.yield %[[NEXT]], %[[NEXT]] : f32, f32
// CHECK: return %[[SCAN]]#1
func.func @cumulative_sum(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 5>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @reversed_maximum
// CHECK: linalg.generic {indexing_maps = [#[[$BACKWARD:.+]], #{{.+}}, #{{.+}}, #[[$BACKWARD]]], iterator_types = ["reduction", "parallel"]} {{.*}} outs(%{{.+}}, %{{.+}} : tensor<5xf32>, tensor<4x5xf32>)
func.func @reversed_maximum(%x: tensor<4x5xf32>, %init: tensor<f32>) -> tensor<4x5xf32> {
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 3], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// Sums over the last three elements only are not.
// CHECK-LABEL: func.func @moving_sum
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%{{.+}} : tensor<8xf32>)
func.func @moving_sum(%x: tensor<8xf32>, %init: tensor<f32>) -> tensor<8xf32> {
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Padding holds the initial value: a sum that begins with another one than zero
// has as many of it as its window has padding.
// CHECK-LABEL: func.func @of_any_start
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%{{.+}} : tensor<5xf32>)
func.func @of_any_start(%x: tensor<5xf32>, %init: tensor<f32>) -> tensor<5xf32> {
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[4, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 5>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Narrow floats are summed in f32.
// CHECK-LABEL: func.func @running_sum_bf16
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} outs(%{{.+}}, %{{.+}} : tensor<f32>, tensor<300xf32>)
// CHECK: arith.truncf
func.func @running_sum_bf16(%x: tensor<300xbf16>) -> tensor<300xbf16> {
  %init = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[299, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 300>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<300xbf16>, tensor<bf16>) -> tensor<300xbf16>
  return %0 : tensor<300xbf16>
}
