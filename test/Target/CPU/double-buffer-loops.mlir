// RUN: amsp-opt %s --amsp-double-buffer-loops --canonicalize | FileCheck %s

// Five iterations: four in a loop of two, and one behind it. The second of two
// reads what the first gathered.
// CHECK-LABEL: func.func @ahead
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[LOOP:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %[[FOUR]] step %[[TWO]] iter_args(%[[H:.*]] = %arg2, %[[NOW:.*]] = %arg1)
// CHECK: amsp.all_gather_start
// CHECK: %[[Y:.*]] = linalg.mul ins(%[[H]], %[[NOW]] :
// CHECK: %[[AHEAD:.*]] = amsp.await
// CHECK: amsp.all_gather_start
// CHECK: %[[Y2:.*]] = linalg.mul ins(%[[Y]], %[[AHEAD]] :
// CHECK: %[[AHEAD2:.*]] = amsp.await
// CHECK: scf.yield %[[Y2]], %[[AHEAD2]]
// CHECK: amsp.all_gather_start
// CHECK: linalg.mul ins(%[[LOOP]]#0, %[[LOOP]]#1 :
// CHECK: amsp.await
// CHECK-NOT: amsp.all_gather_start
func.func @ahead(%p: tensor<6x4xf32>, %w: tensor<1x8xf32>, %x: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %0:2 = scf.for %i = %zero to %five step %one iter_args(%h = %x, %now = %w) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
    %next = arith.addi %i, %one : index
    %s = tensor.extract_slice %p[%next, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<1x4xf32>
    %g = amsp.all_gather_start %s group = <[1:2]> keep = 1 : tensor<1x4xf32> -> !amsp.pending<tensor<1x8xf32>>
    %e = tensor.empty() : tensor<1x8xf32>
    %y = linalg.mul ins(%h, %now : tensor<1x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) -> tensor<1x8xf32>
    %ahead = amsp.await %g : !amsp.pending<tensor<1x8xf32>>
    scf.yield %y, %ahead : tensor<1x8xf32>, tensor<1x8xf32>
  }
  return %0#0, %0#1 : tensor<1x8xf32>, tensor<1x8xf32>
}

// A collective that is not split writes at once, too.
// CHECK-LABEL: func.func @whole
// CHECK: scf.for
// CHECK: amsp.all_gather
// CHECK: linalg.mul
// CHECK: amsp.all_gather
// CHECK: linalg.mul
// CHECK: scf.yield
func.func @whole(%p: tensor<6x4xf32>, %w: tensor<1x8xf32>, %x: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %0:2 = scf.for %i = %zero to %four step %one iter_args(%h = %x, %now = %w) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
    %next = arith.addi %i, %one : index
    %s = tensor.extract_slice %p[%next, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<1x4xf32>
    %ahead = amsp.all_gather %s group = <[1:2]> keep = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
    %e = tensor.empty() : tensor<1x8xf32>
    %y = linalg.mul ins(%h, %now : tensor<1x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.yield %y, %ahead : tensor<1x8xf32>, tensor<1x8xf32>
  }
  return %0#0, %0#1 : tensor<1x8xf32>, tensor<1x8xf32>
}

// The gradient of the iteration before is in flight while the next one is made.
// CHECK-LABEL: func.func @behind
// CHECK: scf.for
// CHECK-COUNT-2: amsp.reduce_scatter_start
// CHECK: scf.yield
func.func @behind(%x: tensor<8xf32>, %g: tensor<8xf32>, %r: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %0:2 = scf.for %i = %zero to %four step %one iter_args(%old = %g, %sum = %r) -> (tensor<8xf32>, tensor<4xf32>) {
    %p = amsp.reduce_scatter_start sum %old group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<4xf32>>
    %e = tensor.empty() : tensor<8xf32>
    %new = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %piece = amsp.await %p : !amsp.pending<tensor<4xf32>>
    %f = tensor.empty() : tensor<4xf32>
    %next = linalg.add ins(%sum, %piece : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %new, %next : tensor<8xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
}

// It has arrived before: one buffer does.
// CHECK-LABEL: func.func @arrived
// CHECK: scf.for
// CHECK-COUNT-1: amsp.reduce_scatter
// CHECK-NOT: amsp.reduce_scatter
// CHECK: scf.yield
func.func @arrived(%x: tensor<8xf32>, %g: tensor<8xf32>, %r: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %0:2 = scf.for %i = %zero to %four step %one iter_args(%old = %g, %sum = %r) -> (tensor<8xf32>, tensor<4xf32>) {
    %piece = amsp.reduce_scatter sum %old group = <[1:2]> : tensor<8xf32> -> tensor<4xf32>
    %e = tensor.empty() : tensor<8xf32>
    %new = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %f = tensor.empty() : tensor<4xf32>
    %next = linalg.add ins(%sum, %piece : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %new, %next : tensor<8xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
}

// What no collective moves is left to copies.
// CHECK-LABEL: func.func @local
// CHECK: scf.for
// CHECK-COUNT-1: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: scf.yield
func.func @local(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %none = arith.constant 0.0 : f32
  %0 = scf.for %i = %zero to %four step %one iter_args(%h = %x) -> tensor<8x8xf32> {
    %e = tensor.empty() : tensor<8x8xf32>
    %f = linalg.fill ins(%none : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = linalg.matmul ins(%h, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %a = tensor.empty() : tensor<8x8xf32>
    %z = linalg.add ins(%h, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %z : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}
