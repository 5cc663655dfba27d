// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s
// RUN: amsp-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK: module {
module {
  // CHECK: sdy.mesh @mesh = <["x"=1, "y"=1]> {stablehlo.mesh = {axes = [{name = "x", size = 1 : i64}, {name = "y", size = 1 : i64}]}}
  sdy.mesh @mesh = <["x"=1, "y"=1]> {stablehlo.mesh = {axes = [{name = "x", size = 1 : i64}, {name = "y", size = 1 : i64}]}}
  // CHECK: sdy.mesh @empty_mesh = <[]>{{$}}
  sdy.mesh @empty_mesh = <[]>
  // CHECK: sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]> {stablehlo.mesh = {axes = [], device_ids = dense<0> : tensor<1xi64>}}
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]> {stablehlo.mesh = {axes = [], device_ids = dense<0> : tensor<1xi64>}}
  // CHECK: sdy.mesh @turned = <["x"=2, "y"=1], device_ids=[1, 0]>
  sdy.mesh @turned = <["x"=2, "y"=1], device_ids=[1, 0]>
  // CHECK: func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32> {jax.result_info = "result"}) {
  func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32> {jax.result_info = "result"}) {
    // CHECK: return %arg0 : tensor<4x4xf32>
    return %arg0 : tensor<4x4xf32>
  }
  // On one device a constraint is the value.
  // CHECK-LABEL: func.func @constraints
  // FOLDED-LABEL: func.func @constraints
  func.func @constraints(%key: tensor<2xui32>, %x: tensor<4x4xf32>) -> (tensor<2xui32>, tensor<4x4xf32>) {
    // CHECK-NEXT: %0 = sdy.sharding_constraint %arg0 <@empty_mesh, [{}]> : tensor<2xui32>
    // CHECK-NEXT: %1 = sdy.sharding_constraint %arg1 <@mesh, [{"x", ?}, {?}]> : tensor<4x4xf32>
    // FOLDED-NEXT: return %arg0, %arg1
    %0 = sdy.sharding_constraint %key <@empty_mesh, [{}]> : tensor<2xui32>
    %1 = sdy.sharding_constraint %x <@mesh, [{"x", ?}, {?}]> : tensor<4x4xf32>
    return %0, %1 : tensor<2xui32>, tensor<4x4xf32>
  }
}
