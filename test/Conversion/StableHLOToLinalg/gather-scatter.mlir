// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[TABLE:.+]]: tensor<67x32xf32>, %[[IDS:.+]]: tensor<12x1xi32>
// CHECK: linalg.generic
// CHECK: %[[ID:.+]] = tensor.extract %[[IDS]]
// CHECK: arith.maxsi
// CHECK: %[[ROW:.+]] = arith.minsi
// CHECK: tensor.extract %[[TABLE]][%[[ROW]], {{.*}}]
func.func @rows(%table: tensor<67x32xf32>, %ids: tensor<12x1xi32>) -> tensor<12x32xf32> {
  %0 = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 32>}> : (tensor<67x32xf32>, tensor<12x1xi32>) -> tensor<12x32xf32>
  return %0 : tensor<12x32xf32>
}

// A row at a time, skipped as a whole when it lies outside.
// CHECK-LABEL: func.func @add_rows
// CHECK: scf.for %[[I:.+]] = {{.*}} iter_args(%[[TABLE:.+]] = %{{.*}})
// CHECK: %[[INSIDE:.+]] = arith.cmpi ult, %[[ROW:[a-z0-9_]+]], %
// CHECK: scf.if %[[INSIDE]]
// CHECK: %[[OLD:.+]] = tensor.extract_slice %[[TABLE]][%[[ROW]], {{.*}}] [1, 32] [1, 1] : {{.*}} to tensor<32xf32>
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], {{.*}}] [1, 32] [1, 1]
// CHECK: %[[NEW:.+]] = linalg.generic {{.*}} outs(%[[OLD]] :
// CHECK: arith.addf
// CHECK: tensor.insert_slice %[[NEW]] into %[[TABLE]]
// CHECK: else
// CHECK-NEXT: scf.yield %[[TABLE]]
func.func @add_rows(%table: tensor<67x32xf32>, %ids: tensor<12x1xi32>, %u: tensor<12x32xf32>) -> tensor<67x32xf32> {
  %0 = "stablehlo.scatter"(%table, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<67x32xf32>, tensor<12x1xi32>, tensor<12x32xf32>) -> tensor<67x32xf32>
  return %0 : tensor<67x32xf32>
}

// Single elements are read and written without slices.
// CHECK-LABEL: func.func @set_elements
// CHECK-NOT: tensor.extract_slice
// CHECK: tensor.insert %{{.*}} into
func.func @set_elements(%x: tensor<9xf32>, %ids: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<9xf32> {
  %0 = "stablehlo.scatter"(%x, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<9xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// Rows in bf16 that may meet are added in f32.
// CHECK-LABEL: func.func @add_narrow_rows
// CHECK: arith.extf
// CHECK: scf.for {{.*}} -> (tensor<67x32xf32>)
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf
// CHECK: return %{{.*}} : tensor<67x32xbf16>
func.func @add_narrow_rows(%table: tensor<67x32xbf16>, %ids: tensor<12x1xi32>, %u: tensor<12x32xbf16>) -> tensor<67x32xbf16> {
  %0 = "stablehlo.scatter"(%table, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %b, %a : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<67x32xbf16>, tensor<12x1xi32>, tensor<12x32xbf16>) -> tensor<67x32xbf16>
  return %0 : tensor<67x32xbf16>
}

// Rows that never meet are not, nor are rows that replace others.
// CHECK-LABEL: func.func @add_single_rows
// CHECK-NOT: f32
// CHECK: scf.for {{.*}} -> (tensor<9xbf16>)
// CHECK-NOT: f32
// CHECK: scf.for {{.*}} -> (tensor<9xbf16>)
// CHECK-NOT: f32
// CHECK: return
func.func @add_single_rows(%x: tensor<9xbf16>, %ids: tensor<4x1xi32>, %u: tensor<4xbf16>) -> tensor<9xbf16> {
  %0 = "stablehlo.scatter"(%x, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<9xbf16>, tensor<4x1xi32>, tensor<4xbf16>) -> tensor<9xbf16>
  %2 = "stablehlo.scatter"(%0, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    stablehlo.return %b : tensor<bf16>
  }) : (tensor<9xbf16>, tensor<4x1xi32>, tensor<4xbf16>) -> tensor<9xbf16>
  return %2 : tensor<9xbf16>
}
