// RUN: amsp-opt %s --verify-diagnostics --split-input-file

sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' op shards the step over devices; export it for one device, without shardings}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {?}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' shards the step over devices; export it for one device, without shardings}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"x":(1)2}, {}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' op there is no mesh @mesh}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sdy.reshard' shards the step over devices; export it for one device, without shardings}}
  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
