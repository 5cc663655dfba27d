// RUN: amsp-opt %s --split-input-file --verify-diagnostics --amsp-convert-stablehlo-to-linalg

func.func @rng(%s: tensor<2xui64>) -> tensor<4xui32> {
  // expected-error@+1 {{failed to legalize operation 'stablehlo.rng_bit_generator'}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %1 : tensor<4xui32>
}

// -----

func.func @complex(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xcomplex<f32>> {
  // expected-error@+1 {{failed to legalize operation 'stablehlo.complex'}}
  %0 = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
