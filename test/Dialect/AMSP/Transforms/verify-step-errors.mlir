// RUN: amsp-opt %s --amsp-verify-step -split-input-file -verify-diagnostics

// expected-error @+1 {{argument 0 is no tensor of static shape: 'tensor<?xf32>'}}
func.func public @main(%w: tensor<?xf32>) -> tensor<?xf32> {
  return %w : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 0 is no tensor of static shape: 'tensor<*xf32>'}}
func.func public @main(%w: tensor<*xf32>) -> tensor<*xf32> {
  return %w : tensor<*xf32>
}

// -----

// expected-error @+1 {{argument 1 is no tensor of static shape: 'f32'}}
func.func public @main(%w: tensor<f32>, %x: f32) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @+1 {{argument 0 has an element type that a step cannot exchange: 'tensor<3xcomplex<f32>>'}}
func.func public @main(%w: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  return %w : tensor<3xcomplex<f32>>
}

// -----

// expected-error @+1 {{argument 0 has an element type that a step cannot exchange: 'tensor<3xi4>'}}
func.func public @main(%w: tensor<3xi4>) -> tensor<3xi4> {
  return %w : tensor<3xi4>
}

// -----

func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'arith.addf' op is no op of a training step}}
  %0 = arith.addf %w, %w : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'func.call' op cannot be inlined: its callee has no body, or is recursive}}
  %0 = call @f(%w) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @f(tensor<3xf32>) -> tensor<3xf32>

// -----

func.func public @main(%w: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' op is about ranks: a step is the program of one device}}
  %0 = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a step of one block}}
func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
  cf.br ^bb1
^bb1:
  return %w : tensor<3xf32>
}

// -----

func.func public @main(%w: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' op calls '@lapack_sgeqrf_ffi', a function of the runtime that the step was exported for}}
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%w) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return %0#0 : tensor<3x3xf32>
}

// -----

func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.complex' op makes complex numbers, which are not supported}}
  %0 = stablehlo.complex %w, %w : tensor<3xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// expected-error @+1 {{is for 8 devices ('mhlo.num_partitions'); export the step for one device}}
module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
    return %w : tensor<3xf32>
  }
}

// -----

// expected-error @+1 {{is for 2 devices ('mhlo.num_replicas'); export the step for one device}}
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
    return %w : tensor<3xf32>
  }
}

// -----

module {
  // expected-error @+1 {{'sdy.mesh' op has 8 devices; export the step for one device, without shardings}}
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
    return %w : tensor<3xf32>
  }
}

// -----

func.func public @main(%w: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.convert' op makes values of type 'f8E4M3FN', in which no target computes}}
  %0 = stablehlo.convert %w : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
  %1 = stablehlo.convert %0 : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// What jax.debug.print becomes.
module {
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  func.func public @main(%loss: tensor<f32>) -> tensor<f32> {
    // expected-error @+1 {{'stablehlo.custom_call' op calls '@xla_ffi_python_cpu_callback', a function of the runtime that the step was exported for: ranks do not call back into Python (jax.debug.print, jax.pure_callback)}}
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%loss) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, operand_layouts = [dense<> : tensor<0xindex>], result_layouts = [], sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<f32>) -> ()
    return %loss : tensor<f32>
  }
}
