// RUN: amsp-opt %s --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' shards the step over devices; export it for one device, without shardings}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
