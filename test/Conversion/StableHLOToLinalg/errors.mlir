// RUN: amsp-opt %s --split-input-file --verify-diagnostics --amsp-convert-stablehlo-to-linalg

func.func @custom_call(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op calls '@lapack_sgeqrf_ffi', which no target has}}
  %0 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @complex(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xcomplex<f32>> {
  // expected-error@+1 {{failed to legalize operation 'stablehlo.complex'}}
  %0 = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
