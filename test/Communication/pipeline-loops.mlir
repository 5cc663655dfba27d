// RUN: amsp-opt %s --split-input-file --amsp-pipeline-loops --canonicalize --cse 2>/dev/null | FileCheck %s
// RUN: amsp-opt %s --split-input-file --amsp-pipeline-loops=max-bytes=40 --canonicalize --cse 2>/dev/null | FileCheck %s --check-prefix=BOUND
// RUN: amsp-opt %s --split-input-file --amsp-pipeline-loops=max-bytes=1000000000000000000 --canonicalize --cse 2>/dev/null | FileCheck %s
// RUN: amsp-opt %s --split-input-file --remarks-filter='amsp-.*' --amsp-pipeline-loops=max-bytes=1 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: amsp-opt %s --split-input-file --remarks-filter='amsp-.*' --amsp-pipeline-loops --verify-diagnostics -o /dev/null

// NONE-NOT: remark:

// Through five layers, the last one first. The gather for the next iteration and
// the reduction of the one before stand at the top of an iteration; its
// computation waits for neither.

// CHECK-LABEL: func.func @both
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK-DAG: %[[FOUR:.*]] = stablehlo.constant dense<4> : tensor<i32>
// The first gather, the second one, the first iteration.
// CHECK: %[[W0:.*]] = amsp.all_gather
// CHECK: %[[W1:.*]] = amsp.all_gather
// CHECK-DAG: %[[X:.*]] = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %arg1
// CHECK-DAG: %[[IN0:.*]] = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %[[W0]]
// CHECK: stablehlo.reshape %[[IN0]]
// CHECK: %[[H:.*]] = stablehlo.multiply %[[X]]
// What is handed on is what computes the gradient, before it is reshaped.
// CHECK: %[[LOOP:.*]]:6 = stablehlo.while(%[[I:.*]] = %[[ONE]], %[[IN:.*]] = %[[H]], %[[STACK:.*]] = %{{.*}}, %[[W:.*]] = %[[W1]], %[[AT:.*]] = %{{.*}}, %[[G:.*]] = %[[H]])
// CHECK: stablehlo.compare LT, %[[I]], %[[FOUR]], SIGNED
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[I]], %[[ONE]]
// CHECK: %[[SHAPED:.*]] = stablehlo.reshape %[[G]] : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK: %[[PIECE:.*]] = amsp.reduce_scatter sum %[[SHAPED]]
// CHECK: %[[NEXTSTACK:.*]] = stablehlo.dynamic_update_slice %[[STACK]], %[[PIECE]], %[[AT]], %{{.*}}
// CHECK: %[[AHEAD:.*]] = amsp.all_gather
// CHECK: stablehlo.reshape %[[W]]
// CHECK: %[[OUT:.*]] = stablehlo.multiply %[[IN]]
// CHECK: stablehlo.return %[[NEXT]], %[[OUT]], %[[NEXTSTACK]], %[[AHEAD]], %{{.*}}, %[[OUT]] :
// The last iteration, and the reductions of the last two.
// CHECK-NOT: amsp.all_gather
// CHECK: %[[G3:.*]] = stablehlo.optimization_barrier {amsp.iteration = 1 : i64} %[[LOOP]]#5
// CHECK: %[[SHAPED3:.*]] = stablehlo.reshape %[[G3]]
// CHECK: amsp.reduce_scatter sum %[[SHAPED3]]
// CHECK-DAG: %[[IN4:.*]] = stablehlo.optimization_barrier {amsp.iteration = 2 : i64} %[[LOOP]]#1
// CHECK-DAG: %[[W4:.*]] = stablehlo.optimization_barrier {amsp.iteration = 2 : i64} %[[LOOP]]#3
// CHECK: stablehlo.reshape %[[W4]]
// CHECK: stablehlo.multiply %[[IN4]]
// CHECK: amsp.reduce_scatter

// What is carried ahead takes 32 bytes, what is carried behind as many.
// BOUND-LABEL: func.func @both
// BOUND: amsp.all_gather
// BOUND-NOT: amsp.reduce_scatter
// BOUND: stablehlo.while
// BOUND: amsp.all_gather
// BOUND: amsp.reduce_scatter
// BOUND: stablehlo.return {{.*}} : tensor<i32>,
func.func @both(%p: tensor<5x4xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<5x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<5x4xf32>
  // expected-remark @below {{1 gathers of 32 bytes run one iteration ahead, 1 reductions of 36 bytes one behind}}
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %g = %none) : tensor<i32>, tensor<8xf32>, tensor<5x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %n, %i : tensor<i32>
    %k = stablehlo.subtract %1, %one : tensor<i32>
    %2 = stablehlo.dynamic_slice %p, %k, %zero, sizes = [1, 4] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %3 = amsp.all_gather %2 group = <[1:2]> keep = 1 window = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
    %w = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %h, %w : tensor<8xf32>
    %5 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x8xf32>
    %6 = amsp.reduce_scatter sum %5 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %7 = stablehlo.dynamic_update_slice %g, %6, %k, %zero : (tensor<5x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %8, %4, %7 : tensor<i32>, tensor<8xf32>, tensor<5x4xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<5x4xf32>
}

// -----

// No iteration has both neighbours.

// CHECK-LABEL: func.func @two
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-2: amsp.all_gather
// CHECK-COUNT-2: amsp.reduce_scatter
// CHECK-NOT: = amsp.
func.func @two(%p: tensor<2x4xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<2x4xf32>
  // expected-remark @below {{pipelined}}
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %g = %none) : tensor<i32>, tensor<8xf32>, tensor<2x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %n, %i : tensor<i32>
    %k = stablehlo.subtract %1, %one : tensor<i32>
    %2 = stablehlo.dynamic_slice %p, %k, %zero, sizes = [1, 4] : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %3 = amsp.all_gather %2 group = <[1:2]> keep = 1 window = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
    %w = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %h, %w : tensor<8xf32>
    %5 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x8xf32>
    %6 = amsp.reduce_scatter sum %5 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %7 = stablehlo.dynamic_update_slice %g, %6, %k, %zero : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %8, %4, %7 : tensor<i32>, tensor<8xf32>, tensor<2x4xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @ahead
// CHECK: amsp.all_gather
// CHECK: stablehlo.while
// CHECK: amsp.all_gather
// CHECK: stablehlo.return {{.*}} : tensor<i32>,
// CHECK-NOT: = amsp.
func.func @ahead(%p: tensor<3x4xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<3x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-remark @below {{pipelined}}
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %g = %none) : tensor<i32>, tensor<8xf32>, tensor<3x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %n, %i : tensor<i32>
    %k = stablehlo.subtract %1, %one : tensor<i32>
    %2 = stablehlo.dynamic_slice %p, %k, %zero, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %3 = amsp.all_gather %2 group = <[1:2]> keep = 1 window = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
    %w = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %h, %w : tensor<8xf32>
    %5 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x8xf32>
    %6 = stablehlo.slice %5 [0:1, 0:4] : (tensor<1x8xf32>) -> tensor<1x4xf32>
    %7 = stablehlo.dynamic_update_slice %g, %6, %k, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %8, %4, %7 : tensor<i32>, tensor<8xf32>, tensor<3x4xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @behind
// CHECK-NOT: = amsp.
// CHECK: stablehlo.while
// CHECK: amsp.reduce_scatter
// CHECK: stablehlo.return {{.*}} : tensor<i32>,
// CHECK: amsp.reduce_scatter
// CHECK-NOT: = amsp.
func.func @behind(%p: tensor<3x4xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<3x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<3x4xf32>
  // expected-remark @below {{pipelined}}
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %g = %none) : tensor<i32>, tensor<8xf32>, tensor<3x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %n, %i : tensor<i32>
    %k = stablehlo.subtract %1, %one : tensor<i32>
    %4 = stablehlo.multiply %h, %h : tensor<8xf32>
    %5 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x8xf32>
    %6 = amsp.reduce_scatter sum %5 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %7 = stablehlo.dynamic_update_slice %g, %6, %k, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %8, %4, %7 : tensor<i32>, tensor<8xf32>, tensor<3x4xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<3x4xf32>
}

// -----

// Nothing comes before or behind a single iteration.

// CHECK-LABEL: func.func @one
// CHECK: stablehlo.while
// CHECK: amsp.all_gather
// CHECK: amsp.reduce_scatter
// CHECK: stablehlo.return {{.*}} : tensor<i32>,
func.func @one(%p: tensor<1x4xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<1x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<1x4xf32>
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %g = %none) : tensor<i32>, tensor<8xf32>, tensor<1x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %n, %i : tensor<i32>
    %k = stablehlo.subtract %1, %one : tensor<i32>
    %2 = stablehlo.dynamic_slice %p, %k, %zero, sizes = [1, 4] : (tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %3 = amsp.all_gather %2 group = <[1:2]> keep = 1 window = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
    %w = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %h, %w : tensor<8xf32>
    %5 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x8xf32>
    %6 = amsp.reduce_scatter sum %5 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %7 = stablehlo.dynamic_update_slice %g, %6, %k, %zero : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %8, %4, %7 : tensor<i32>, tensor<8xf32>, tensor<1x4xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<1x4xf32>
}

// -----

// A gather of the same piece in each iteration (a microbatch's), one of what the
// loop changes, and a reduction that the next iteration reads stay.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: = amsp.
// CHECK: stablehlo.while
// CHECK-COUNT-2: amsp.all_gather
// CHECK: amsp.all_reduce
// CHECK: stablehlo.return {{.*}} : tensor<i32>,
// CHECK-NOT: = amsp.
func.func @stay(%p: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %0:3 = stablehlo.while(%i = %zero, %h = %none, %y = %x) : tensor<i32>, tensor<8xf32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %w = amsp.all_gather %p group = <[1:2]> window = 1 : tensor<4xf32> -> tensor<8xf32>
    %v = amsp.all_gather %y group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
    %1 = stablehlo.multiply %w, %v : tensor<8xf32>
    %2 = stablehlo.add %1, %h : tensor<8xf32>
    %3 = amsp.all_reduce sum %2 group = <[1:2]> : tensor<8xf32>
    %4 = stablehlo.slice %3 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %3, %4 : tensor<i32>, tensor<8xf32>, tensor<4xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

// Two reductions of which the results go into one slice: none is carried, only
// what they read.

// CHECK-LABEL: func.func @two_in_a_slice
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) :
// CHECK: %[[SHAPEDA:.*]] = stablehlo.reshape %[[A]]
// CHECK: amsp.reduce_scatter sum %[[SHAPEDA]]
// CHECK: %[[SHAPEDB:.*]] = stablehlo.reshape %[[B]]
// CHECK: amsp.reduce_scatter sum %[[SHAPEDB]]
// CHECK: stablehlo.return {{.*}} : tensor<i32>, tensor<8xf32>, tensor<4x2x4xf32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>
// CHECK-COUNT-2: amsp.reduce_scatter
// CHECK-NOT: = amsp.
func.func @two_in_a_slice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x2x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<4x2x4xf32>
  // expected-remark @below {{0 gathers of 0 bytes run one iteration ahead, 2 reductions of 68 bytes one behind}}
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %stack = %none) : tensor<i32>, tensor<8xf32>, tensor<4x2x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %h, %h : tensor<8xf32>
    %2 = stablehlo.reshape %1 : (tensor<8xf32>) -> tensor<1x8xf32>
    %3 = amsp.reduce_scatter sum %2 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %4 = stablehlo.add %1, %h : tensor<8xf32>
    %5 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x8xf32>
    %6 = amsp.reduce_scatter sum %5 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %7 = stablehlo.concatenate %3, %6, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    %8 = stablehlo.reshape %7 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %9 = stablehlo.dynamic_update_slice %stack, %8, %i, %zero, %zero : (tensor<4x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x4xf32>
    %10 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %10, %4, %9 : tensor<i32>, tensor<8xf32>, tensor<4x2x4xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<4x2x4xf32>
}

// -----

// A broadcast that only adds a dimension is a reshape; one that repeats what it
// reads is not, nor is a reshape that others read: these are handed on.

// CHECK-LABEL: func.func @handed
// CHECK: stablehlo.return {{.*}} : tensor<i32>, tensor<8xf32>, tensor<4x3x4xf32>, tensor<i32>, tensor<8xf32>, tensor<1x8xf32>, tensor<1x8xf32>
func.func @handed(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x3x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<4x3x4xf32>
  // expected-remark @below {{0 gathers of 0 bytes run one iteration ahead, 3 reductions of 100 bytes one behind}}
  %0:3 = stablehlo.while(%i = %zero, %h = %x, %stack = %none) : tensor<i32>, tensor<8xf32>, tensor<4x3x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %h, %h : tensor<8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %3 = amsp.reduce_scatter sum %2 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %sum = stablehlo.slice %1 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %4 = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<1xf32>) -> tensor<1x8xf32>
    %5 = amsp.reduce_scatter sum %4 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %6 = stablehlo.add %1, %h : tensor<8xf32>
    %7 = stablehlo.reshape %6 : (tensor<8xf32>) -> tensor<1x8xf32>
    %8 = amsp.reduce_scatter sum %7 group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
    %9 = stablehlo.add %7, %7 : tensor<1x8xf32>
    %10 = stablehlo.reshape %9 : (tensor<1x8xf32>) -> tensor<8xf32>
    %11 = stablehlo.concatenate %3, %5, %8, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
    %12 = stablehlo.reshape %11 : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %13 = stablehlo.dynamic_update_slice %stack, %12, %i, %zero, %zero : (tensor<4x3x4xf32>, tensor<1x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x4xf32>
    %14 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %14, %10, %13 : tensor<i32>, tensor<8xf32>, tensor<4x3x4xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<4x3x4xf32>
}
