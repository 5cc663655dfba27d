// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%arg0: tensor<4x6xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<i32>) {
  // CHECK: stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %0 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg2 : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %1 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg2 : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @gather
func.func @gather(%arg0: tensor<67x32xf32>, %arg1: tensor<24x16x1xi32>, %arg2: tensor<24x16x67xf32>, %arg3: tensor<24x16x1x1xi32>) {
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<67x32xf32>, tensor<24x16x1xi32>) -> tensor<24x16x32xf32>
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<67x32xf32>, tensor<24x16x1xi32>) -> tensor<24x16x32xf32>
  // CHECK: "stablehlo.gather"(%arg2, %arg3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<24x16x67xf32>, tensor<24x16x1x1xi32>) -> tensor<24x16x1xf32>
  %1 = "stablehlo.gather"(%arg2, %arg3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<24x16x67xf32>, tensor<24x16x1x1xi32>) -> tensor<24x16x1xf32>
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%arg0: tensor<67x32xf32>, %arg1: tensor<24x16x1xi32>, %arg2: tensor<24x16x32xf32>, %arg3: tensor<12x16x67xf32>, %arg4: tensor<1xi32>, %arg5: tensor<12x16xf32>) {
  // CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
  // CHECK: ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
  ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
    // CHECK: stablehlo.add %arg6, %arg7 : tensor<f32>
    %2 = stablehlo.add %arg6, %arg7 : tensor<f32>
    // CHECK: stablehlo.return %2 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  // CHECK: }) : (tensor<67x32xf32>, tensor<24x16x1xi32>, tensor<24x16x32xf32>) -> tensor<67x32xf32>
  }) : (tensor<67x32xf32>, tensor<24x16x1xi32>, tensor<24x16x32xf32>) -> tensor<67x32xf32>
  // CHECK: "stablehlo.scatter"(%arg3, %arg4, %arg5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2]>}> ({
  %1 = "stablehlo.scatter"(%arg3, %arg4, %arg5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2]>}> ({
  // CHECK: ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
  ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
    // CHECK: stablehlo.return %arg7 : tensor<f32>
    stablehlo.return %arg7 : tensor<f32>
  // CHECK: }) : (tensor<12x16x67xf32>, tensor<1xi32>, tensor<12x16xf32>) -> tensor<12x16x67xf32>
  }) : (tensor<12x16x67xf32>, tensor<1xi32>, tensor<12x16xf32>) -> tensor<12x16x67xf32>
  return
}
