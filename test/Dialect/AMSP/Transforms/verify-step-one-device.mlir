// RUN: amsp-opt %s --amsp-verify-step | FileCheck %s

// Meshes and shardings of one device go.
// CHECK-NOT: sdy
// CHECK: func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"})
// CHECK-NOT: sdy
module {
  sdy.mesh @mesh = <["x"=1]>
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  func.func public @main(%w: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<3xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    return %w : tensor<3xf32>
  }
}
