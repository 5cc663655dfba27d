// RUN: amsp-opt %s --split-input-file --amsp-place-results | FileCheck %s

// All branches write one buffer, made before them.
// CHECK-LABEL: func.func @branches
// CHECK: %[[D:.*]] = bufferization.alloc_tensor() : tensor<8xf32>
// CHECK: scf.if
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[D]]
// CHECK: else
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[D]]
func.func @branches(%flag: tensor<i1>) -> tensor<8xf32> {
  %c = tensor.extract %flag[] : tensor<i1>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = scf.if %c -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  } else {
    %e = tensor.empty() : tensor<8xf32>
    %1 = linalg.fill ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// What a branch hands on from before is copied if it may not be overwritten: an
// argument that is no state, and a value that is needed later, here by a view.
// CHECK-LABEL: func.func @handed_on
// CHECK: %[[X:.*]] = bufferization.to_tensor %{{.*}} restrict : memref<8xf32>
// CHECK: %[[OLD:.*]] = linalg.exp
// CHECK: %[[D:.*]] = bufferization.alloc_tensor() : tensor<8xf32>
// CHECK: case 0
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[OLD]] : tensor<8xf32>) outs(%[[D]] : tensor<8xf32>)
// CHECK: default
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[X]] : tensor<8xf32>) outs(%[[D]] : tensor<8xf32>)
func.func @handed_on(%x: tensor<8xf32>, %n: tensor<index>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %i = tensor.extract %n[] : tensor<index>
  %e = tensor.empty() : tensor<8xf32>
  %old = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %view = tensor.expand_shape %old [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %0 = scf.index_switch %i -> tensor<8xf32>
  case 0 {
    scf.yield %old : tensor<8xf32>
  }
  default {
    scf.yield %x : tensor<8xf32>
  }
  return %0, %view : tensor<8xf32>, tensor<2x4xf32>
}

// -----

// A value that dies in the conditional is updated in place.
// CHECK-LABEL: func.func @dies
// CHECK: %[[OLD:.*]] = linalg.exp
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: scf.if
// CHECK-NEXT: scf.yield %[[OLD]]
// CHECK: %[[NEW:.*]] = linalg.log
// CHECK-NEXT: bufferization.materialize_in_destination %[[NEW]] in %[[OLD]]
func.func @dies(%x: tensor<8xf32>, %flag: tensor<i1>) -> tensor<8xf32> {
  %c = tensor.extract %flag[] : tensor<i1>
  %e = tensor.empty() : tensor<8xf32>
  %old = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = scf.if %c -> tensor<8xf32> {
    scf.yield %old : tensor<8xf32>
  } else {
    %e1 = tensor.empty() : tensor<8xf32>
    %1 = linalg.log ins(%x : tensor<8xf32>) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// Each state's next value goes to its own buffer; what trades places is copied first.
// CHECK-LABEL: func.func @states
// CHECK: %[[A:.*]] = bufferization.to_tensor
// CHECK: %[[B:.*]] = bufferization.to_tensor
// CHECK: scf.if
// CHECK-DAG: %[[CB:.*]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK-DAG: %[[CA:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: bufferization.materialize_in_destination %[[CB]] in %[[A]]
// CHECK: bufferization.materialize_in_destination %[[CA]] in %[[B]]
// CHECK: else
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[A]]
// CHECK: scf.yield %{{.*}}, %[[B]]
func.func @states(%a: tensor<8xf32> {amsp.result = 0 : i64}, %b: tensor<8xf32> {amsp.result = 1 : i64}, %flag: tensor<i1>)
    -> (tensor<8xf32> {amsp.argument = 0 : i64}, tensor<8xf32> {amsp.argument = 1 : i64}) {
  %c = tensor.extract %flag[] : tensor<i1>
  %0:2 = scf.if %c -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %b, %a : tensor<8xf32>, tensor<8xf32>
  } else {
    %e = tensor.empty() : tensor<8xf32>
    %1 = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1, %b : tensor<8xf32>, tensor<8xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A view of a value that is read later is not overwritten.
// CHECK-LABEL: func.func @viewed
// CHECK: %[[VIEW:.*]] = tensor.expand_shape
// CHECK: %[[NEW:.*]] = bufferization.alloc_tensor() : tensor<8x1xf32>
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%[[VIEW]] : {{.*}}) outs(%[[NEW]]
// CHECK: else
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[NEW]]
func.func @viewed(%x: tensor<8xf32>, %flag: tensor<i1>) -> (tensor<8x1xf32>, tensor<8xf32>) {
  %c = tensor.extract %flag[] : tensor<i1>
  %e = tensor.empty() : tensor<8xf32>
  %old = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %view = tensor.expand_shape %old [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %0 = scf.if %c -> tensor<8x1xf32> {
    scf.yield %view : tensor<8x1xf32>
  } else {
    %e1 = tensor.empty() : tensor<8xf32>
    %1 = linalg.log ins(%x : tensor<8xf32>) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
    %v = tensor.expand_shape %1 [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
    scf.yield %v : tensor<8x1xf32>
  }
  return %0, %old : tensor<8x1xf32>, tensor<8xf32>
}
