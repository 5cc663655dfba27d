// RUN: amsp-opt %s --amsp-fuse-collectives | FileCheck %s
// RUN: amsp-opt %s --amsp-fuse-collectives=split-ends=false | FileCheck %s --check-prefix=WHOLE

// Three layers of two tensors of 1 MiB. The first contraction needs the first
// layer, so its tensors come by themselves, as there is nothing else to hide the
// second one behind; so do the gradients that the last contraction makes. Those
// in between are one collective for each layer.
// CHECK-LABEL: func.func @ends
func.func @ends(%a: tensor<131072xf32>, %b: tensor<131072xf32>, %c: tensor<131072xf32>, %d: tensor<131072xf32>, %x: tensor<512x512xf32>)
    -> (tensor<131072xf32>, tensor<131072xf32>, tensor<131072xf32>, tensor<131072xf32>) {
  // CHECK: amsp.all_gather %arg0 group
  // CHECK: amsp.all_gather %arg1 group
  // CHECK: amsp.all_gather %arg2, %arg3 group
  // CHECK: amsp.reduce_scatter sum %{{[^,]*}}, %{{[^,]*}} group = <[1:2]> parameter = [0, 1]
  // CHECK: amsp.reduce_scatter sum %{{[^,]*}} group = <[1:2]> parameter = 2
  // CHECK: amsp.reduce_scatter sum %{{[^,]*}} group = <[1:2]> parameter = 3
  // CHECK-NOT: reduce_scatter
  // WHOLE-LABEL: func.func @ends
  // WHOLE: amsp.all_gather %arg0, %arg1 group
  // WHOLE: amsp.all_gather %arg2, %arg3 group
  // WHOLE: amsp.reduce_scatter sum %{{[^,]*}}, %{{[^,]*}} group = <[1:2]> parameter = [0, 1]
  // WHOLE: amsp.reduce_scatter sum %{{[^,]*}}, %{{[^,]*}} group = <[1:2]> parameter = [2, 3]
  %0 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "h.0" window = 0 : tensor<131072xf32> -> tensor<512x512xf32>
  // Through what is cheap.
  %1 = stablehlo.multiply %x, %0 : tensor<512x512xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %3 = amsp.all_gather %b group = <[1:2]> parameter = 1 unit = "h.0" window = 0 : tensor<131072xf32> -> tensor<512x512xf32>
  %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %5 = amsp.all_gather %c group = <[1:2]> parameter = 2 unit = "h.1" window = 1 : tensor<131072xf32> -> tensor<512x512xf32>
  %6 = amsp.all_gather %d group = <[1:2]> parameter = 3 unit = "h.1" window = 1 : tensor<131072xf32> -> tensor<512x512xf32>
  %7 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %8 = stablehlo.dot_general %7, %6, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %9 = amsp.reduce_scatter sum %7 group = <[1:2]> parameter = 0 unit = "h.1" : tensor<512x512xf32> -> tensor<131072xf32>
  %10 = amsp.reduce_scatter sum %8 group = <[1:2]> parameter = 1 unit = "h.1" : tensor<512x512xf32> -> tensor<131072xf32>
  %11 = stablehlo.dot_general %8, %x, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %12 = amsp.reduce_scatter sum %11 group = <[1:2]> parameter = 2 unit = "h.0" : tensor<512x512xf32> -> tensor<131072xf32>
  %13 = stablehlo.dot_general %11, %x, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %14 = amsp.reduce_scatter sum %13 group = <[1:2]> parameter = 3 unit = "h.0" : tensor<512x512xf32> -> tensor<131072xf32>
  return %9, %10, %12, %14 : tensor<131072xf32>, tensor<131072xf32>, tensor<131072xf32>, tensor<131072xf32>
}

// A loop of contractions overlaps with nothing around it: splitting what stands
// before and behind it would only add latency.
// CHECK-LABEL: func.func @loop
func.func @loop(%a: tensor<131072xf32>, %b: tensor<131072xf32>, %n: tensor<i32>, %x: tensor<512x512xf32>) -> (tensor<131072xf32>, tensor<131072xf32>) {
  // CHECK: amsp.all_gather %arg0, %arg1 group
  // CHECK: amsp.reduce_scatter sum %{{[^,]*}}, %{{[^,]*}} group
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "h.0" window = 0 : tensor<131072xf32> -> tensor<512x512xf32>
  %1 = amsp.all_gather %b group = <[1:2]> parameter = 1 unit = "h.0" window = 0 : tensor<131072xf32> -> tensor<512x512xf32>
  %2:3 = stablehlo.while(%i = %zero, %c = %x, %d = %x) : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %3 = stablehlo.dot_general %c, %0, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %4 = stablehlo.dot_general %d, %1, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %3, %4 : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
  }
  %6 = amsp.reduce_scatter sum %2#1 group = <[1:2]> parameter = 0 unit = "h.0" : tensor<512x512xf32> -> tensor<131072xf32>
  %7 = amsp.reduce_scatter sum %2#2 group = <[1:2]> parameter = 1 unit = "h.0" : tensor<512x512xf32> -> tensor<131072xf32>
  return %6, %7 : tensor<131072xf32>, tensor<131072xf32>
}
