// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy zero3 --top 1 --timeline %t.json > %t.txt
// RUN: FileCheck %s --input-file %t.json
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --finalists 0 --timeline %t.none.json 2>&1 | FileCheck %s --check-prefix=NONE

// The simulated step of the plan that is shown, with its collectives.

// CHECK: "traceEvents": [
// CHECK: "cat": "step"
// CHECK: "name": "all_gather.0
// CHECK: "cat": "transfer"
// CHECK: "channel": "gather"
// CHECK: "link_us": {{[0-9.]+}}
// CHECK: "cat": "gemm"
// CHECK: "channel": "reduce"
// CHECK: "summary": {
// CHECK: "exposed_seconds":

// NONE: error: --timeline needs --finalists of at least 1
func.func public @main(
    %w: tensor<32x32xf32> {tf.aliasing_output = 0 : i32} loc("p['w']"),
    %m: tensor<32x32xf32> {tf.aliasing_output = 1 : i32} loc("s['w']"),
    %x: tensor<64x32xf32> loc("x")) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %rate = stablehlo.constant dense<0.5> : tensor<32x32xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %decayed = stablehlo.multiply %m, %rate : tensor<32x32xf32>
  %momentum = stablehlo.add %decayed, %g : tensor<32x32xf32>
  %update = stablehlo.multiply %momentum, %rate : tensor<32x32xf32>
  %new = stablehlo.subtract %w, %update : tensor<32x32xf32>
  return %new, %momentum : tensor<32x32xf32>, tensor<32x32xf32>
}
