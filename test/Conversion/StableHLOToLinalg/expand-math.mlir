// RUN: amsp-opt %s --amsp-expand-math | FileCheck %s

// Those with a vector library stay, in f32 the others go.
// CHECK-LABEL: func.func @f32
// CHECK: math.exp
// CHECK-NOT: math.tanh
// CHECK-NOT: math.rsqrt
// CHECK: return
func.func @f32(%x: f32) -> (f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.rsqrt %x : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @f64
// CHECK: math.tanh
// CHECK: math.sqrt
// CHECK: arith.divf
func.func @f64(%x: f64) -> (f64, f64) {
  %0 = math.tanh %x : f64
  %1 = math.rsqrt %x : f64
  return %0, %1 : f64, f64
}
