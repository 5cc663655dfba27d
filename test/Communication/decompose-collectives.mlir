// RUN: amsp-opt %s --amsp-decompose-collectives=cluster=%S/Inputs/thin-links.yaml | FileCheck %s
// RUN: amsp-opt %s --amsp-decompose-collectives='cluster=%S/Inputs/thin-links.yaml together' | FileCheck %s --check-prefix=TOGETHER

// Inside the nodes first; the pieces of the nodes are whole, so only the first
// step knows of the padding: 3000 elements in 32 pieces of 94.
// CHECK-LABEL: func.func @reduce_scatter
func.func @reduce_scatter(%g: tensor<1000x3xf32>) -> tensor<94xf32> {
  // CHECK: %[[A:.*]] = amsp.reduce_scatter sum %arg0 group = <[1:8]> parameter = 3 unit = "h.0" : tensor<1000x3xf32> -> tensor<376xf32>
  // CHECK: amsp.reduce_scatter sum %[[A]] group = <[8:4]> parameter = 3 unit = "h.0" : tensor<376xf32> -> tensor<94xf32>
  %0 = amsp.reduce_scatter sum %g group = <[1:8, 8:4]> parameter = 3 unit = "h.0"
         : tensor<1000x3xf32> -> tensor<94xf32>
  return %0 : tensor<94xf32>
}

// CHECK-LABEL: func.func @all_gather
func.func @all_gather(%w: tensor<94xf32>) -> tensor<1000x3xf32> {
  // CHECK: %[[A:.*]] = amsp.all_gather %arg0 group = <[8:4]> parameter = 3 unit = "h.0" window = 7 : tensor<94xf32> -> tensor<376xf32>
  // CHECK: amsp.all_gather %[[A]] group = <[1:8]> parameter = 3 unit = "h.0" window = 7 : tensor<376xf32> -> tensor<1000x3xf32>
  %0 = amsp.all_gather %w group = <[1:8, 8:4]> parameter = 3 unit = "h.0" window = 7
         : tensor<94xf32> -> tensor<1000x3xf32>
  return %0 : tensor<1000x3xf32>
}

// Digits of one level side by side, and one that spans both levels.
// CHECK-LABEL: func.func @digits
func.func @digits(%w: tensor<94xf32>) -> tensor<1000x3xf32> {
  // CHECK: %[[A:.*]] = amsp.all_gather %arg0 group = <[8:4]> : tensor<94xf32> -> tensor<376xf32>
  // CHECK: amsp.all_gather %[[A]] group = <[1:2, 2:4]> : tensor<376xf32> -> tensor<1000x3xf32>
  %0 = amsp.all_gather %w group = <[1:2, 2:4, 8:4]> : tensor<94xf32> -> tensor<1000x3xf32>
  return %0 : tensor<1000x3xf32>
}

// CHECK-LABEL: func.func @kept_dimension
func.func @kept_dimension(%g: tensor<2x100x30xf32>) -> tensor<2x94xf32> {
  // CHECK: %[[A:.*]] = amsp.reduce_scatter max %arg0 group = <[1:8]> keep = 1 : tensor<2x100x30xf32> -> tensor<2x376xf32>
  // CHECK: amsp.reduce_scatter max %[[A]] group = <[8:4]> keep = 1 : tensor<2x376xf32> -> tensor<2x94xf32>
  %0 = amsp.reduce_scatter max %g group = <[1:8, 8:4]> keep = 1
         : tensor<2x100x30xf32> -> tensor<2x94xf32>
  return %0 : tensor<2x94xf32>
}

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<3x2x500xf32>) -> tensor<3x64x500xf32> {
  // CHECK: %[[A:.*]] = amsp.all_gather %arg0 group = <[8:4]> dim = 1 : tensor<3x2x500xf32> -> tensor<3x8x500xf32>
  // CHECK: amsp.all_gather %[[A]] group = <[1:8]> dim = 1 : tensor<3x8x500xf32> -> tensor<3x64x500xf32>
  %0 = amsp.all_gather %x group = <[1:8, 8:4]> dim = 1
         : tensor<3x2x500xf32> -> tensor<3x64x500xf32>
  return %0 : tensor<3x64x500xf32>
}

// In rank order, the nodes come first: no part is cheaper than the whole.
// CHECK-LABEL: func.func @rank_order
func.func @rank_order(%x: tensor<2x50000xf32>) -> tensor<64x50000xf32> {
  // CHECK: amsp.all_gather %arg0 group = <[1:32]> dim = 0
  %0 = amsp.all_gather %x group = <[1:32]> dim = 0
         : tensor<2x50000xf32> -> tensor<64x50000xf32>
  return %0 : tensor<64x50000xf32>
}

// An all_reduce has no order: it is padded and scattered as suits it.
// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(%g: tensor<10000x3xf32>) -> tensor<10000x3xf32> {
  // CHECK: %[[A:.*]] = amsp.reduce_scatter sum %arg0 group = <[1:8]> parameter = 3 : tensor<10000x3xf32> -> tensor<3750xf32>
  // CHECK: %[[B:.*]] = amsp.all_reduce sum %[[A]] group = <[8:4]> parameter = 3 : tensor<3750xf32>
  // CHECK: %[[C:.*]] = amsp.all_gather %[[B]] group = <[1:8]> parameter = 3 : tensor<3750xf32> -> tensor<10000x3xf32>
  // CHECK: return %[[C]]
  %0 = amsp.all_reduce sum %g group = <[1:32]> parameter = 3 : tensor<10000x3xf32>
  return %0 : tensor<10000x3xf32>
}

// Several tensors are one question, of all their bytes.
// CHECK-LABEL: func.func @variadic
func.func @variadic(%a: tensor<1000x3xf32>, %b: tensor<10xf32>) -> (tensor<94xf32>, tensor<1xf32>) {
  // CHECK: %[[A:.*]]:2 = amsp.reduce_scatter sum %arg0, %arg1 group = <[1:8]> parameter = [3, 4] : tensor<1000x3xf32>, tensor<10xf32> -> tensor<376xf32>, tensor<4xf32>
  // CHECK: amsp.reduce_scatter sum %[[A]]#0, %[[A]]#1 group = <[8:4]> parameter = [3, 4] : tensor<376xf32>, tensor<4xf32> -> tensor<94xf32>, tensor<1xf32>
  %0:2 = amsp.reduce_scatter sum %a, %b group = <[1:8, 8:4]> parameter = [3, 4]
           : tensor<1000x3xf32>, tensor<10xf32> -> tensor<94xf32>, tensor<1xf32>
  return %0#0, %0#1 : tensor<94xf32>, tensor<1xf32>
}

// A loss of four bytes travels a tree; inside one node there is one level.
// CHECK-LABEL: func.func @one_is_best
func.func @one_is_best(%x: tensor<f32>, %g: tensor<3200xf32>) -> (tensor<f32>, tensor<400xf32>) {
  // CHECK: amsp.all_reduce sum %arg0 group = <[1:32]> : tensor<f32>
  %0 = amsp.all_reduce sum %x group = <[1:32]> : tensor<f32>
  // CHECK: amsp.reduce_scatter sum %arg1 group = <[1:8]> : tensor<3200xf32> -> tensor<400xf32>
  %1 = amsp.reduce_scatter sum %g group = <[1:8]> : tensor<3200xf32> -> tensor<400xf32>
  return %0, %1 : tensor<f32>, tensor<400xf32>
}

// CHECK-LABEL: func.func @loop
func.func @loop(%g: tensor<1000x3xf32>, %n: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: amsp.reduce_scatter sum %{{.*}} group = <[1:8]>
    // CHECK: amsp.reduce_scatter sum %{{.*}} group = <[8:4]>
    %1 = amsp.reduce_scatter sum %g group = <[1:8, 8:4]> : tensor<1000x3xf32> -> tensor<94xf32>
    %2 = stablehlo.convert %1 : (tensor<94xf32>) -> tensor<94xi32>
    %3 = stablehlo.reduce(%2 init: %i) applies stablehlo.add across dimensions = [0]
           : (tensor<94xi32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }
  return %0 : tensor<i32>
}

// A bias by itself stays whole. Where it becomes one collective with the matrix
// of its unit, it is decomposed with it; a scalar of no unit is not.
// CHECK-LABEL: func.func @of_a_unit
// TOGETHER-LABEL: func.func @of_a_unit
func.func @of_a_unit(%w: tensor<10000x3xf32>, %b: tensor<8xf32>, %x: tensor<f32>) -> (tensor<10000x3xf32>, tensor<8xf32>, tensor<f32>) {
  // CHECK: amsp.reduce_scatter sum %arg0 group = <[1:8]>
  // CHECK: amsp.all_reduce sum %arg1 group = <[1:32]>
  // TOGETHER: amsp.reduce_scatter sum %arg0 group = <[1:8]>
  // TOGETHER: %[[B:.*]] = amsp.reduce_scatter sum %arg1 group = <[1:8]> parameter = 4 unit = "h.0" : tensor<8xf32> -> tensor<1xf32>
  // TOGETHER: amsp.all_reduce sum %[[B]] group = <[8:4]> parameter = 4 unit = "h.0" : tensor<1xf32>
  // TOGETHER: amsp.all_reduce sum %arg2 group = <[1:32]> : tensor<f32>
  %0 = amsp.all_reduce sum %w group = <[1:32]> parameter = 3 unit = "h.0" : tensor<10000x3xf32>
  %1 = amsp.all_reduce sum %b group = <[1:32]> parameter = 4 unit = "h.0" : tensor<8xf32>
  %2 = amsp.all_reduce sum %x group = <[1:32]> : tensor<f32>
  return %0, %1, %2 : tensor<10000x3xf32>, tensor<8xf32>, tensor<f32>
}
