// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4xi1>) {
  // CHECK: stablehlo.cbrt %arg0 : tensor<4xf32>
  %0 = stablehlo.cbrt %arg0 : tensor<4xf32>
  // CHECK: stablehlo.ceil %arg0 : tensor<4xf32>
  %1 = stablehlo.ceil %arg0 : tensor<4xf32>
  // CHECK: stablehlo.cosine %arg0 : tensor<4xf32>
  %2 = stablehlo.cosine %arg0 : tensor<4xf32>
  // CHECK: stablehlo.exponential %arg0 : tensor<4xf32>
  %3 = stablehlo.exponential %arg0 : tensor<4xf32>
  // CHECK: stablehlo.exponential_minus_one %arg0 : tensor<4xf32>
  %4 = stablehlo.exponential_minus_one %arg0 : tensor<4xf32>
  // CHECK: stablehlo.floor %arg0 : tensor<4xf32>
  %5 = stablehlo.floor %arg0 : tensor<4xf32>
  // CHECK: stablehlo.log %arg0 : tensor<4xf32>
  %6 = stablehlo.log %arg0 : tensor<4xf32>
  // CHECK: stablehlo.log_plus_one %arg0 : tensor<4xf32>
  %7 = stablehlo.log_plus_one %arg0 : tensor<4xf32>
  // CHECK: stablehlo.logistic %arg0 : tensor<4xf32>
  %8 = stablehlo.logistic %arg0 : tensor<4xf32>
  // CHECK: stablehlo.negate %arg0 : tensor<4xf32>
  %9 = stablehlo.negate %arg0 : tensor<4xf32>
  // CHECK: stablehlo.not %arg2 : tensor<4xi1>
  %10 = stablehlo.not %arg2 : tensor<4xi1>
  // CHECK: stablehlo.popcnt %arg1 : tensor<4xi32>
  %11 = stablehlo.popcnt %arg1 : tensor<4xi32>
  // CHECK: stablehlo.count_leading_zeros %arg1 : tensor<4xi32>
  %12 = stablehlo.count_leading_zeros %arg1 : tensor<4xi32>
  // CHECK: stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
  %13 = stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
  // CHECK: stablehlo.round_nearest_even %arg0 : tensor<4xf32>
  %14 = stablehlo.round_nearest_even %arg0 : tensor<4xf32>
  // CHECK: stablehlo.rsqrt %arg0 : tensor<4xf32>
  %15 = stablehlo.rsqrt %arg0 : tensor<4xf32>
  // CHECK: stablehlo.sign %arg0 : tensor<4xf32>
  %16 = stablehlo.sign %arg0 : tensor<4xf32>
  // CHECK: stablehlo.sine %arg0 : tensor<4xf32>
  %17 = stablehlo.sine %arg0 : tensor<4xf32>
  // CHECK: stablehlo.sqrt %arg0 : tensor<4xf32>
  %18 = stablehlo.sqrt %arg0 : tensor<4xf32>
  // CHECK: stablehlo.tan %arg0 : tensor<4xf32>
  %19 = stablehlo.tan %arg0 : tensor<4xf32>
  // CHECK: stablehlo.tanh %arg0 {note.kept} : tensor<4xf32>
  %20 = stablehlo.tanh %arg0 {note.kept} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @accuracy
func.func @accuracy(%arg0: tensor<4xf32>) {
  // CHECK: stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  // CHECK: stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-03, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %1 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-03, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%arg0: tensor<2x3xbf16>, %arg1: tensor<2x3xui8>, %arg2: tensor<i1>) {
  // CHECK: stablehlo.add %arg0, %arg0 : tensor<2x3xbf16>
  %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.atan2 %arg0, %arg0 : tensor<2x3xbf16>
  %1 = stablehlo.atan2 %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.divide %arg0, %arg0 : tensor<2x3xbf16>
  %2 = stablehlo.divide %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.maximum %arg0, %arg0 : tensor<2x3xbf16>
  %3 = stablehlo.maximum %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.minimum %arg0, %arg0 : tensor<2x3xbf16>
  %4 = stablehlo.minimum %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.multiply %arg0, %arg0 : tensor<2x3xbf16>
  %5 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.power %arg0, %arg0 : tensor<2x3xbf16>
  %6 = stablehlo.power %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.remainder %arg0, %arg0 : tensor<2x3xbf16>
  %7 = stablehlo.remainder %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.subtract %arg0, %arg0 : tensor<2x3xbf16>
  %8 = stablehlo.subtract %arg0, %arg0 : tensor<2x3xbf16>
  // CHECK: stablehlo.and %arg1, %arg1 : tensor<2x3xui8>
  %9 = stablehlo.and %arg1, %arg1 : tensor<2x3xui8>
  // CHECK: stablehlo.or %arg1, %arg1 : tensor<2x3xui8>
  %10 = stablehlo.or %arg1, %arg1 : tensor<2x3xui8>
  // CHECK: stablehlo.xor %arg2, %arg2 : tensor<i1>
  %11 = stablehlo.xor %arg2, %arg2 : tensor<i1>
  // CHECK: stablehlo.shift_left %arg1, %arg1 : tensor<2x3xui8>
  %12 = stablehlo.shift_left %arg1, %arg1 : tensor<2x3xui8>
  // CHECK: stablehlo.shift_right_arithmetic %arg1, %arg1 : tensor<2x3xui8>
  %13 = stablehlo.shift_right_arithmetic %arg1, %arg1 : tensor<2x3xui8>
  // CHECK: stablehlo.shift_right_logical %arg1, %arg1 : tensor<2x3xui8>
  %14 = stablehlo.shift_right_logical %arg1, %arg1 : tensor<2x3xui8>
  return
}

// CHECK-LABEL: func.func @complex
func.func @complex(%arg0: tensor<4xf32>, %arg1: tensor<4xcomplex<f32>>) {
  // CHECK: stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
  %0 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
  // CHECK: stablehlo.real %arg1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %1 = stablehlo.real %arg1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.imag %arg1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.imag %arg1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.real %arg0 : tensor<4xf32>
  %3 = stablehlo.real %arg0 : tensor<4xf32>
  // CHECK: stablehlo.abs %arg1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %4 = stablehlo.abs %arg1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.abs %arg0 : tensor<4xf32>
  %5 = stablehlo.abs %arg0 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @otherType
func.func @otherType(%arg0: tensor<4xf32>, %arg1: tensor<4xi1>) {
  // CHECK: stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
  %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: stablehlo.convert %arg0 : tensor<4xf32>
  %1 = stablehlo.convert %arg0 : tensor<4xf32>
  // CHECK: stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.reduce_precision %arg0, format = e8m7 : tensor<4xf32>
  %3 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<4xf32>
  // CHECK: stablehlo.compare LT, %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %4 = stablehlo.compare LT, %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare EQ, %arg0, %arg0, TOTALORDER {note.kept} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %5 = stablehlo.compare EQ, %arg0, %arg0, TOTALORDER {note.kept} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %6 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @ternary
func.func @ternary(%arg0: tensor<4xf32>, %arg1: tensor<4xi1>, %arg2: tensor<i1>, %arg3: tensor<f32>) {
  // CHECK: stablehlo.select %arg1, %arg0, %arg0 : tensor<4xi1>, tensor<4xf32>
  %0 = stablehlo.select %arg1, %arg0, %arg0 : tensor<4xi1>, tensor<4xf32>
  // CHECK: stablehlo.select %arg2, %arg0, %arg0 : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.select %arg2, %arg0, %arg0 : tensor<i1>, tensor<4xf32>
  // CHECK: stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4xf32>
  %2 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4xf32>
  // CHECK: stablehlo.clamp %arg3, %arg0, %arg3 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.clamp %arg3, %arg0, %arg3 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
