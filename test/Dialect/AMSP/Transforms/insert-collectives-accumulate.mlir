// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2,3 strategy=p=1,g=2x1,os=2x3' --canonicalize | FileCheck %s --check-prefixes=CHECK,PIECES
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2,3 strategy=zero1' --canonicalize | FileCheck %s --check-prefixes=CHECK,WHOLE

// Gradients summed over microbatches of a loop: kept in the pieces of G, and
// reduced over the rest once a step. The parameter is gathered before the loop.

// CHECK-LABEL: func.func public @main
// CHECK: amsp.all_gather %arg0 group = <[1:2, 2:3]> parameter = 0 unit = "rest" : tensor<2xf32> -> tensor<3x3xf32>
// PIECES: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<6xf32>
// WHOLE: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<12xf32>
// CHECK-NOT: amsp.all_gather
// PIECES: amsp.reduce_scatter sum %{{.*}} group = <[1:2]> parameter = 0 unit = "rest" : tensor<3x3xf32> -> tensor<6xf32>
// WHOLE-NOT: amsp.reduce_scatter
// CHECK: stablehlo.return
// PIECES: amsp.reduce_scatter sum %{{.*}} group = <[2:3]> parameter = 0 unit = "rest" : tensor<6xf32> -> tensor<2xf32>
// WHOLE: amsp.reduce_scatter sum %{{.*}} group = <[1:2, 2:3]> parameter = 0 unit = "rest" : tensor<12xf32> -> tensor<2xf32>
// CHECK-NOT: amsp.all_reduce
func.func public @main(
    %w: tensor<3x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<12x3xf32> loc("x")) -> tensor<3x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<3x3xf32>
  %half = stablehlo.constant dense<0.5> : tensor<3x3xf32>
  %rows = stablehlo.reshape %x : (tensor<12x3xf32>) -> tensor<6x2x3xf32>
  %micro = stablehlo.transpose %rows, dims = [1, 0, 2] : (tensor<6x2x3xf32>) -> tensor<2x6x3xf32>
  %0:2 = stablehlo.while(%i = %zero, %acc = %f0) : tensor<i32>, tensor<3x3xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %micro, %i, %zero, %zero, sizes = [1, 6, 3] : (tensor<2x6x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x3xf32>
    %b = stablehlo.reshape %s : (tensor<1x6x3xf32>) -> tensor<6x3xf32>
    %y = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<6x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
    %g = stablehlo.dot_general %b, %y, contracting_dims = [0] x [0] : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<3x3xf32>
    %sum = stablehlo.add %acc, %g : tensor<3x3xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<3x3xf32>
  }
  %mean = stablehlo.multiply %0#1, %half : tensor<3x3xf32>
  %w1 = stablehlo.subtract %w, %mean : tensor<3x3xf32>
  return %w1 : tensor<3x3xf32>
}
