// RUN: amsp-opt %s --split-input-file --amsp-peel-microbatches --canonicalize --cse | FileCheck %s

// Gathered once a step before the loop, reduced once a step behind it: of four
// microbatches the first and the last stand beside the loop.

// CHECK-LABEL: func.func @four
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK-DAG: %[[THREE:.*]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK: %[[W:.*]] = amsp.all_gather
// Barriers keep the iterations beside the loop as apart as its body.
// CHECK-DAG: %[[X0:.*]] = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %arg1
// CHECK-DAG: %[[W0:.*]] = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %[[W]]
// CHECK: stablehlo.dynamic_slice %[[X0]], %[[ZERO]], %[[ZERO]]
// CHECK: stablehlo.multiply %{{.*}}, %[[W0]]
// CHECK: %[[FIRST:.*]] = stablehlo.add
// CHECK: %[[REST:.*]]:2 = stablehlo.while(%[[I:.*]] = %[[ONE]], %{{.*}} = %[[FIRST]])
// CHECK: stablehlo.compare LT, %[[I]], %[[THREE]], SIGNED
// CHECK: stablehlo.dynamic_slice %arg1, %[[I]], %[[ZERO]]
// CHECK: stablehlo.return {{.*}} : tensor<i32>,
// CHECK-DAG: %[[X3:.*]] = stablehlo.optimization_barrier {amsp.iteration = 1 : i64} %arg1
// CHECK-DAG: %[[SUM3:.*]] = stablehlo.optimization_barrier {amsp.iteration = 1 : i64} %[[REST]]#1
// CHECK: stablehlo.dynamic_slice %[[X3]], %[[THREE]], %[[ZERO]]
// CHECK: %[[LAST:.*]] = stablehlo.add %[[SUM3]]
// CHECK: %[[OUT:.*]] = stablehlo.optimization_barrier {amsp.iteration = 2 : i64} %[[LAST]]
// CHECK: amsp.reduce_scatter sum %[[OUT]]
func.func @four(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<4x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %w = amsp.all_gather %p group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  %1 = amsp.reduce_scatter sum %0#1 group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// One microbatch is left between them: no loop.

// CHECK-LABEL: func.func @three
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-3: stablehlo.dynamic_slice
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: amsp.reduce_scatter
func.func @three(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<3x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %w = amsp.all_gather %p group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  %1 = amsp.reduce_scatter sum %0#1 group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @two
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-2: stablehlo.dynamic_slice
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: amsp.reduce_scatter
func.func @two(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<2x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %w = amsp.all_gather %p group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  %1 = amsp.reduce_scatter sum %0#1 group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The first microbatch is the last one, too.

// CHECK-LABEL: func.func @one
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-1: stablehlo.dynamic_slice
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: amsp.reduce_scatter
func.func @one(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<1x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %w = amsp.all_gather %p group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  %1 = amsp.reduce_scatter sum %0#1 group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Gathered in each microbatch: only the last one is peeled, and its gather is
// another window's than the loop's.

// CHECK-LABEL: func.func @only_last
// CHECK-NOT: amsp.all_gather
// CHECK: stablehlo.while
// CHECK: amsp.all_gather {{.*}} window = [[LOOP:[0-9]+]]
// CHECK: stablehlo.return {{.*}} : tensor<i32>,
// CHECK-NOT: window = [[LOOP]] :
// CHECK: amsp.all_gather {{.*}} window = {{[0-9]+}}
// CHECK: amsp.reduce_scatter
func.func @only_last(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<4x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %w = amsp.all_gather %p group = <[1:2]> parameter = 0 window = 1 : tensor<4xf32> -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  %1 = amsp.reduce_scatter sum %0#1 group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @only_first
// CHECK: amsp.all_gather
// CHECK: stablehlo.dynamic_slice
// CHECK: stablehlo.while
// CHECK: stablehlo.return {{.*}} : tensor<i32>,
// CHECK-NOT: stablehlo.dynamic_slice
func.func @only_first(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<4x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %w = amsp.all_gather %p group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

// Nothing happens once a step.

// CHECK-LABEL: func.func @each
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: stablehlo.while
// CHECK-COUNT-1: stablehlo.dynamic_slice
// CHECK-NOT: stablehlo.dynamic_slice
func.func @each(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<4x8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %w = amsp.all_gather %p group = <[1:2]> parameter = 0 window = 1 : tensor<4xf32> -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

// A loop over what is no batch.

// CHECK-LABEL: func.func @layers
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: stablehlo.while
// CHECK-COUNT-1: stablehlo.dynamic_slice
// CHECK-NOT: stablehlo.dynamic_slice
func.func @layers(%p: tensor<4xf32> {amsp.role = #amsp.role<param>},
    %x: tensor<4x8xf32> {amsp.role = #amsp.role<param>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<8xf32>
  %w = amsp.all_gather %p group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<8xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %4 = stablehlo.multiply %3, %w : tensor<8xf32>
    %5 = stablehlo.add %sum, %4 : tensor<8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8xf32>
  }
  %1 = amsp.reduce_scatter sum %0#1 group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
