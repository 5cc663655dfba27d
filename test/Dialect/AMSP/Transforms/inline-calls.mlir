// RUN: amsp-opt %s --amsp-inline-calls -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// Callees are inlined before their callers, also in regions; constants that are
// handed back or arguments that come back as they are need no op.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %b: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: call @
  // CHECK: %[[A:.*]] = stablehlo.add %[[X]], %[[X]]
  // CHECK-SAME: loc(callsite(callsite("sum" at "inner") at "outer"))
  // CHECK: %[[M:.*]] = stablehlo.multiply %[[A]], %[[X]]
  // CHECK-SAME: loc(callsite("product" at "outer"))
  %0:2 = call @both(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc("outer")
  // CHECK: "stablehlo.if"
  %1 = "stablehlo.if"(%b) ({
    // CHECK: %[[T:.*]] = stablehlo.add %[[M]], %[[M]]
    // CHECK: stablehlo.return %[[T]]
    %2 = call @twice(%0#0) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }, {
    stablehlo.return %0#1 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  // CHECK: return %[[M]], %[[X]], %{{.*}}
  return %0#0, %0#1, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @both(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("inner")
  %1 = stablehlo.multiply %0, %x : tensor<4xf32> loc("product")
  return %1, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32> loc("sum")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @composite
func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.add
  // CHECK-NEXT: return
  %0 = stablehlo.composite "my.twice" %x {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What cannot be inlined stays a call.
// CHECK-LABEL: func.func @left
func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: call @external
  %0 = call @external(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @recursive
  %1 = call @recursive(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @external(tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func.func private @recursive
func.func private @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: call @recursive
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
