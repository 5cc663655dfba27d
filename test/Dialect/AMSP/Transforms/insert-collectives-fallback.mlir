// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3' --canonicalize -verify-diagnostics | FileCheck %s

// An op without a rule for its operand's placement runs on the gathered value,
// and says so. Its result is cut again where it meets rows of the batch.

// CHECK-LABEL: func.func public @main
func.func public @main(
    %w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<4x3xf32> loc("x")) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK: %[[X:.*]] = amsp.all_gather %arg1 group = <[1:2]> dim = 0 : tensor<2x3xf32> -> tensor<4x3xf32>
  // CHECK: %[[R:.*]] = stablehlo.reverse %[[X]], dims = [0] : tensor<4x3xf32>
  // CHECK: amsp.local_slice %[[R]] group = <[1:2]> dim = 0 : tensor<4x3xf32> -> tensor<2x3xf32>
  // expected-remark @+1 {{gathers 'tensor<4x3xf32>' (48 bytes): 'stablehlo.reverse' has no local rule for an operand that is split(0)}}
  %r = stablehlo.reverse %x, dims = [0] : tensor<4x3xf32>
  %y = stablehlo.add %x, %r : tensor<4x3xf32>
  return %w, %y : tensor<4x3xf32>, tensor<4x3xf32>
}
