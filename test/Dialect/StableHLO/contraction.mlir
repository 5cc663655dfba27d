// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s

// CHECK-LABEL: func.func @dots
func.func @dots(%arg0: tensor<2x4x6xf32>, %arg1: tensor<2x6x3xf32>, %arg2: tensor<6x3xf32>) {
  // CHECK: stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x6xf32>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x6xf32>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [0], precision = [HIGHEST, DEFAULT] {note.kept} : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> tensor<2x4x3xf32>
  %1 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [0], precision = [HIGHEST, DEFAULT] {note.kept} : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> tensor<2x4x3xf32>
  %2 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg2, contracting_dims = [] x [] : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> tensor<2x4x6x6x3xf32>
  %3 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [] x [] : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> tensor<2x4x6x6x3xf32>
  return
}

// CHECK-LABEL: func.func @reduceShort
func.func @reduceShort(%arg0: tensor<2x4x6xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [] {note.kept} : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %1 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [] {note.kept} : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  return
}

// CHECK-LABEL: func.func @reduceLong
func.func @reduceLong(%arg0: tensor<2x4xf32>, %arg1: tensor<f32>, %arg2: tensor<2x4xi32>, %arg3: tensor<i32>) {
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
   // CHECK: reducer(%arg4: tensor<f32>, %arg5: tensor<f32>)  {
   reducer(%arg4: tensor<f32>, %arg5: tensor<f32>)  {
    // CHECK: stablehlo.add %arg5, %arg4 : tensor<f32>
    %2 = stablehlo.add %arg5, %arg4 : tensor<f32>
    // CHECK: stablehlo.return %2 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  // CHECK: stablehlo.reduce(%arg0 init: %arg1), (%arg2 init: %arg3) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  %1:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg2 init: %arg3) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   // CHECK: reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
   reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
    // CHECK: stablehlo.compare GT, %arg4, %arg6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare GT, %arg4, %arg6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK: stablehlo.select %2, %arg4, %arg6 : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %2, %arg4, %arg6 : tensor<i1>, tensor<f32>
    // CHECK: stablehlo.select %2, %arg5, %arg7 : tensor<i1>, tensor<i32>
    %4 = stablehlo.select %2, %arg5, %arg7 : tensor<i1>, tensor<i32>
    // CHECK: stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
    stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @sort
func.func @sort(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xi32>) {
  // CHECK: "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
  // CHECK: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
    // CHECK: stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK: stablehlo.return %1 : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  // CHECK: }) : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  }) : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return
}

// CHECK-LABEL: func.func @random
func.func @random(%arg0: tensor<2xui64>) {
  // CHECK: stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return
}
