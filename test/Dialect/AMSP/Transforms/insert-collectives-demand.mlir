// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=ddp' --canonicalize --cse -split-input-file | FileCheck %s
// RUN: amsp-opt %s --amsp-annotate-roles='roles=0=param' --amsp-insert-collectives='levels=2 strategy=p=1,g=1,os=2' --canonicalize --cse -split-input-file | FileCheck %s --check-prefix=FLAT

// Random bits, as a loop over counters, for a mask of the batch's rows: each
// rank makes those of its rows.

// CHECK-LABEL: func.func public @mask
// CHECK-DAG: %[[COUNT:.*]] = stablehlo.iota dim = 0 : tensor<4x3xi32>
// CHECK-DAG: %[[RANK:.*]] = amsp.group_index
// CHECK: %[[MINE:.*]] = stablehlo.add %[[COUNT]], %{{.*}} : tensor<4x3xi32>
// CHECK: %[[FIRST:.*]] = stablehlo.convert %[[MINE]] : (tensor<4x3xi32>) -> tensor<4x3xui32>
// CHECK: %[[BITS:.*]]:2 = stablehlo.while({{.*}} = %[[FIRST]]) : tensor<i32>, tensor<4x3xui32>
// CHECK: stablehlo.xor {{.*}} : tensor<4x3xui32>
// CHECK: %[[NUMBER:.*]] = stablehlo.bitcast_convert %[[BITS]]#1 : (tensor<4x3xui32>) -> tensor<4x3xf32>
// CHECK: stablehlo.multiply %arg1, %[[NUMBER]] : tensor<4x3xf32>
func.func public @mask(
    %w: tensor<3xf32> {tf.aliasing_output = 0 : i32},
    %x: tensor<8x3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<5> : tensor<i32>
  %begin = stablehlo.iota dim = 0 : tensor<8x3xui32>
  %bits:2 = stablehlo.while(%i = %first, %b = %begin) : tensor<i32>, tensor<8x3xui32>
    cond {
      %c = stablehlo.compare LT, %i, %count, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %k = stablehlo.convert %i : (tensor<i32>) -> tensor<ui32>
      %ks = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<ui32>) -> tensor<8x3xui32>
      %s = stablehlo.shift_left %b, %ks : tensor<8x3xui32>
      %r = stablehlo.xor %b, %s : tensor<8x3xui32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %r : tensor<i32>, tensor<8x3xui32>
    }
  %number = stablehlo.bitcast_convert %bits#1 : (tensor<8x3xui32>) -> tensor<8x3xf32>
  %p = stablehlo.multiply %x, %number : tensor<8x3xf32>
  %g = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
  %new = stablehlo.subtract %w, %g : tensor<3xf32>
  return %new : tensor<3xf32>
}

// -----

// Noise on a state in pieces: positions of the piece tell the counters of both
// dimensions. Of 15 elements each rank has 8.

// CHECK-LABEL: func.func public @noise
// FLAT-LABEL: func.func public @noise
// FLAT: %[[MINE:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<8xi32>
// FLAT: %[[ROW:.*]] = stablehlo.divide %[[MINE]], %{{.*}} : tensor<8xi32>
// FLAT: stablehlo.convert %[[ROW]] : (tensor<8xi32>) -> tensor<8xui32>
// FLAT: %[[COLUMN:.*]] = stablehlo.remainder %{{.*}}, %{{.*}} : tensor<8xi32>
// FLAT: stablehlo.convert %[[COLUMN]] : (tensor<8xi32>) -> tensor<8xui32>
// FLAT: stablehlo.while({{.*}}) : tensor<i32>, tensor<8xui32>
// FLAT-NOT: amsp.local_slice
// FLAT: return
func.func public @noise(
    %w: tensor<5x3xf32> {tf.aliasing_output = 0 : i32},
    %x: tensor<8x3xf32>) -> tensor<5x3xf32> {
  %first = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<5> : tensor<i32>
  %row = stablehlo.iota dim = 0 : tensor<5x3xui32>
  %column = stablehlo.iota dim = 1 : tensor<5x3xui32>
  %begin = stablehlo.add %row, %column : tensor<5x3xui32>
  %bits:2 = stablehlo.while(%i = %first, %b = %begin) : tensor<i32>, tensor<5x3xui32>
    cond {
      %c = stablehlo.compare LT, %i, %count, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %k = stablehlo.convert %i : (tensor<i32>) -> tensor<ui32>
      %ks = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<ui32>) -> tensor<5x3xui32>
      %r = stablehlo.xor %b, %ks : tensor<5x3xui32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %r : tensor<i32>, tensor<5x3xui32>
    }
  %number = stablehlo.bitcast_convert %bits#1 : (tensor<5x3xui32>) -> tensor<5x3xf32>
  %new = stablehlo.add %w, %number : tensor<5x3xf32>
  return %new : tensor<5x3xf32>
}

// -----

// A value that is also returned whole is made whole.

// CHECK-LABEL: func.func public @whole
// CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<8x3xui32>
func.func public @whole(
    %w: tensor<3xf32> {tf.aliasing_output = 0 : i32},
    %x: tensor<8x3xui32>) -> (tensor<3xf32>, tensor<8x3xui32>, tensor<8x3xui32>) {
  %first = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<5> : tensor<i32>
  %begin = stablehlo.iota dim = 0 : tensor<8x3xui32>
  %bits:2 = stablehlo.while(%i = %first, %b = %begin) : tensor<i32>, tensor<8x3xui32>
    cond {
      %c = stablehlo.compare LT, %i, %count, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %k = stablehlo.convert %i : (tensor<i32>) -> tensor<ui32>
      %ks = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<ui32>) -> tensor<8x3xui32>
      %r = stablehlo.xor %b, %ks : tensor<8x3xui32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %r : tensor<i32>, tensor<8x3xui32>
    }
  %y = stablehlo.xor %x, %bits#1 : tensor<8x3xui32>
  return %w, %y, %bits#1 : tensor<3xf32>, tensor<8x3xui32>, tensor<8x3xui32>
}
