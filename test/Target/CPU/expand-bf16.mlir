// RUN: amsp-opt %s --amsp-expand-bf16 | FileCheck %s
// RUN: amsp-opt %s --amsp-expand-bf16 --convert-arith-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts | FileCheck %s --check-prefix=LLVM

// No operation of LLVM rounds to bf16, for which it may call a function.
// LLVM-NOT: llvm.fptrunc

// CHECK-LABEL: func.func @add
// CHECK: arith.shli
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
// CHECK-NOT: arith.truncf
// CHECK: arith.shrui
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
// CHECK: return
func.func @add(%a: bf16, %b: bf16) -> bf16 {
  %0 = arith.addf %a, %b fastmath<reassoc> : bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @compare
// CHECK: arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : bf16
func.func @compare(%a: bf16, %b: bf16) -> bf16 {
  %0 = arith.cmpf ogt, %a, %b : bf16
  %1 = arith.select %0, %a, %b : bf16
  return %1 : bf16
}

// CHECK-LABEL: func.func @count
// CHECK: arith.sitofp %{{.*}} : i32 to f32
func.func @count(%a: i32) -> bf16 {
  %0 = arith.sitofp %a : i32 to bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @half
// CHECK: arith.addf %{{.*}}, %{{.*}} : f16
func.func @half(%a: f16) -> f16 {
  %0 = arith.addf %a, %a : f16
  return %0 : f16
}
