// RUN: amsp-opt %s --amsp-annotate-roles -split-input-file -verify-diagnostics

// expected-error @+1 {{no state found: no argument aliases a result (tf.aliasing_output), nor does a result look like an argument's new value; export the step with its state donated (donate_argnums), or name it with --state-args}}
func.func public @main(%w: tensor<3xf32>, %x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  return %c : tensor<f32>
}

// -----

// expected-error @+1 {{ambiguous batch arguments: the arguments that are not state differ in their leading dimension; name the batch with --batch-args. Candidates: 1 'x' 'tensor<8xf32>', 2 'table' 'tensor<4xf32>'}}
func.func public @main(%w: tensor<3xf32> {tf.aliasing_output = 0 : i32},
                       %x: tensor<8xf32> loc("x"), %t: tensor<4xf32> loc("table")) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

// expected-error @+1 {{no batch found: no argument beside the state has dimensions}}
func.func public @main(%w: tensor<3xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<f32>) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

// expected-error @+1 {{argument 0 aliases result 3, but there are 1 results}}
func.func public @main(%w: tensor<3xf32> {tf.aliasing_output = 3 : i32}) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

// expected-error @+1 {{no public function: expected a training step}}
module {
  func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----

// expected-error @+1 {{arguments 0 and 1 alias the same result 0}}
func.func public @main(%w: tensor<3xf32> {tf.aliasing_output = 0 : i32},
                       %m: tensor<3xf32> {tf.aliasing_output = 0 : i32},
                       %x: tensor<8xf32>) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}
