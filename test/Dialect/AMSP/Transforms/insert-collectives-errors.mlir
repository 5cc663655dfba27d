// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=5 strategy=zero3' -verify-diagnostics

// expected-error @+1 {{batch argument 'x' has 24 rows, which 5 ranks do not divide; 20 or 25 rows would work}}
func.func public @main(%w: tensor<3xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<24x3xf32> loc("x")) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}
