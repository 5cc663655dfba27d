// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s
// RUN: amsp-opt %s --inline --symbol-dce | FileCheck %s --check-prefix=INLINE

// INLINE-LABEL: func.func public @composite
// INLINE-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
// INLINE-NEXT: return %[[SUM]]
// INLINE-NOT: @scaled

// CHECK-LABEL: func.func public @composite
func.func public @composite(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.composite "my.scaled" %arg0 {composite_attributes = {factor = 2.000000e+00 : f64}, decomposition = @scaled} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.composite "my.scaled" %arg0 {composite_attributes = {factor = 2.0 : f64}, decomposition = @scaled} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @scaled(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @called()

// CHECK-LABEL: func.func @custom_call
func.func @custom_call(%arg0: tensor<4x6xf32>) {
  // CHECK: stablehlo.custom_call @report(%arg0) {has_side_effect = true} : (tensor<4x6xf32>) -> ()
  stablehlo.custom_call @report(%arg0) {has_side_effect = true} : (tensor<4x6xf32>) -> ()
  // CHECK: stablehlo.custom_call @qr(%arg0) {api_version = 4 : i32, backend_config = {rank = 2 : i64}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
  %0:2 = stablehlo.custom_call @qr(%arg0) {api_version = 4 : i32, backend_config = {rank = 2 : i64}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
  // CHECK: stablehlo.custom_call @"with space"() {called_computations = [@called]} : () -> tensor<f32>
  %1 = stablehlo.custom_call @"with space"() {called_computations = [@called]} : () -> tensor<f32>
  return
}
