// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-prepare-destinations))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Two ops that would write into one empty tensor get one each; the scalar that
// a body reads moves into it.

// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[E0:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK: linalg.exp ins(%arg0 : tensor<8xf32>) outs(%[[E0]] : tensor<8xf32>)
  // CHECK: %[[E1:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK: linalg.log ins(%arg0 : tensor<8xf32>) outs(%[[E1]] : tensor<8xf32>)
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.log ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @constant_operand
func.func @constant_operand(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  // CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>)
  // CHECK: arith.mulf %{{.*}}, %[[TWO]] : f32
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %two : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    linalg.yield %product : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The reshape of an empty tensor is an empty tensor for each use.
// CHECK-LABEL: func.func @reshaped
func.func @reshaped(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NOT: tensor.collapse_shape
  // CHECK: %[[E1:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK: %[[E0:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK: linalg.exp ins(%arg0 : tensor<8xf32>) outs(%[[E0]] : tensor<8xf32>)
  // CHECK: linalg.log ins(%arg0 : tensor<8xf32>) outs(%[[E1]] : tensor<8xf32>)
  %empty = tensor.empty() : tensor<2x4xf32>
  %flat = tensor.collapse_shape %empty [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%flat : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.log ins(%x : tensor<8xf32>) outs(%flat : tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// What slices are inserted into is there before the slices are computed.
// CHECK-LABEL: func.func @assembled
func.func @assembled(%x: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: %[[WHOLE:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK: linalg.exp
  // CHECK: tensor.insert_slice %{{.*}} into %[[WHOLE]]
  %part = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%part : tensor<4xf32>) -> tensor<4xf32>
  %whole = tensor.empty() : tensor<8xf32>
  %1 = tensor.insert_slice %0 into %whole[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %0 into %1[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %2 : tensor<8xf32>
}

// And each slice is inserted at once, so that the next one's computation finds it
// there: moved by the elimination of empty tensors, it has the block numbered anew.
// What is inserted at a place that is not constant stays, with what follows it.
// CHECK-LABEL: func.func @in_parts
func.func @in_parts(%x: tensor<4xf32>, %at: index) -> tensor<16xf32> {
  // CHECK: %[[WHOLE:.*]] = tensor.empty() : tensor<16xf32>
  // CHECK: %[[EXP:.*]] = linalg.exp
  // CHECK-NEXT: %[[FIRST:.*]] = tensor.insert_slice %[[EXP]] into %[[WHOLE]][0]
  // CHECK-NEXT: tensor.empty() : tensor<4xf32>
  // CHECK-NEXT: %[[LOG:.*]] = linalg.log
  // CHECK-NEXT: %[[SECOND:.*]] = tensor.insert_slice %[[LOG]] into %[[FIRST]][4]
  // CHECK-NEXT: %[[THIRD:.*]] = tensor.insert_slice %[[EXP]] into %[[SECOND]][8]
  // CHECK-NEXT: tensor.empty() : tensor<4xf32>
  // CHECK-NEXT: %[[ABS:.*]] = linalg.abs
  // CHECK-NEXT: linalg.floor
  // CHECK-NEXT: %[[FOURTH:.*]] = tensor.insert_slice %[[ABS]] into %[[THIRD]][%arg1]
  %e0 = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %1 = linalg.log ins(%x : tensor<4xf32>) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %e2 = tensor.empty() : tensor<4xf32>
  %2 = linalg.abs ins(%x : tensor<4xf32>) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
  %3 = linalg.floor ins(%2 : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %whole = tensor.empty() : tensor<16xf32>
  %4 = tensor.insert_slice %0 into %whole[0] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %5 = tensor.insert_slice %1 into %4[4] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %6 = tensor.insert_slice %0 into %5[8] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %7 = tensor.insert_slice %2 into %6[%at] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %8 = tensor.insert_slice %3 into %7[12] [4] [1] : tensor<4xf32> into tensor<16xf32>
  return %8 : tensor<16xf32>
}
