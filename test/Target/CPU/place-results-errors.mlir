// RUN: amsp-opt %s --split-input-file --amsp-place-results --verify-diagnostics

// expected-error @+1 {{result 0 and argument 0, its buffer, do not match}}
func.func @mismatch(%a: tensor<8xf32> {amsp.result = 0 : i64}) -> (tensor<4xf32> {amsp.argument = 0 : i64}) {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 is no tensor of static shape: 'i1'}}
func.func @scalar(%c: i1) {
  return
}
