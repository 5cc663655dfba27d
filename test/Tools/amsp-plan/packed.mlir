// What is packed stays its parameters': the same bytes gathered and reduced for
// the unit, the same kept by a rank, and the seconds of one tensor.
// DEFINE: %{format} = table --list-collectives
// DEFINE: %{plan} = amsp-plan %s --cluster %S/Inputs/dear-tensors.yaml --strategy p=1,g=4,os=4 --format %{format}
// RUN: %{plan} | FileCheck %s --check-prefixes=CHECK,PACKED
// RUN: %{plan} --pack-bytes=0 | FileCheck %s --check-prefixes=CHECK,APART
// REDEFINE: %{format} = json
// RUN: %{plan} | FileCheck %s --check-prefix=KEPT
// RUN: %{plan} --pack-bytes=0 | FileCheck %s --check-prefix=KEPT

// The second tensor of each of the two collectives takes 1 ms.
// PACKED: step 0.123 ms, {{.*}} exposed communication 0.121
// APART: step 2.122 ms, {{.*}} exposed communication 2.121
// CHECK: gathers 0.060 ms
// CHECK-NEXT: reductions 0.060 ms
// CHECK: all_gather f32 1:4 core 1 4224 rest
// CHECK-NEXT: reduce_scatter f32 1:4 core 1 4224 rest

// KEPT: "bytes": {{[0-9]+}},
// KEPT: "kept": {
// KEPT-NEXT: "parameters": 4224,
// KEPT-NEXT: "gradients": 0,
// KEPT-NEXT: "optimizer_states": 1056

func.func public @main(
    %v: tensor<32xf32> {tf.aliasing_output = 0 : i32} loc("p['v']"),
    %w: tensor<32x32xf32> {tf.aliasing_output = 1 : i32} loc("p['w']"),
    %n: tensor<32xf32> {tf.aliasing_output = 2 : i32} loc("s['v']"),
    %m: tensor<32x32xf32> {tf.aliasing_output = 3 : i32} loc("s['w']"),
    %x: tensor<64x32xf32> loc("x")) -> (tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>) {
  %bias = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<32xf32>) -> tensor<64x32xf32>
  %xw = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %y = stablehlo.add %xw, %bias : tensor<64x32xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %h = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
  %momentum = stablehlo.add %m, %g : tensor<32x32xf32>
  %momentum_v = stablehlo.add %n, %h : tensor<32xf32>
  %new = stablehlo.subtract %w, %momentum : tensor<32x32xf32>
  %new_v = stablehlo.subtract %v, %momentum_v : tensor<32xf32>
  return %new_v, %new, %momentum_v, %momentum : tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>
}
