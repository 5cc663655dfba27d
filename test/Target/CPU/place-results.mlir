// RUN: amsp-opt %s --split-input-file --amsp-place-results | FileCheck %s

// States that trade places are copied before one is overwritten.
// CHECK-LABEL: func.func @swap
// CHECK-SAME: (%[[A:.*]]: memref<8xf32> {amsp.result = 0 : i64}, %[[B:.*]]: memref<8xf32> {amsp.result = 1 : i64}) {
// CHECK-DAG: %[[TA:.*]] = bufferization.to_tensor %[[A]] restrict writable
// CHECK-DAG: %[[TB:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK-DAG: %[[CB:.*]] = bufferization.alloc_tensor() copy(%[[TB]])
// CHECK-DAG: %[[CA:.*]] = bufferization.alloc_tensor() copy(%[[TA]])
// CHECK: %[[NA:.*]] = bufferization.materialize_in_destination %[[CB]] in %[[TA]]
// CHECK: %[[NB:.*]] = bufferization.materialize_in_destination %[[CA]] in %[[TB]]
// CHECK: bufferization.materialize_in_destination %[[NA]] in writable %[[A]]
// CHECK: bufferization.materialize_in_destination %[[NB]] in writable %[[B]]
func.func @swap(%a: tensor<8xf32> {amsp.result = 0 : i64}, %b: tensor<8xf32> {amsp.result = 1 : i64})
    -> (tensor<8xf32> {amsp.argument = 0 : i64}, tensor<8xf32> {amsp.argument = 1 : i64}) {
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// A state that stays needs nothing, and stays: nothing may be computed in its
// place once it is read. Other results get buffers; the batch is not written.
// CHECK-LABEL: func.func @outputs
// CHECK-SAME: %[[A:.*]]: memref<8xf32> {amsp.result = 0 : i64}, %[[X:.*]]: memref<8xf32>,
// CHECK-SAME: %[[R:.*]]: memref<8xf32> {amsp.result_buffer = 1 : i64})
// CHECK: bufferization.to_tensor %[[A]] restrict :
// CHECK: %[[TX:.*]] = bufferization.to_tensor %[[X]] restrict :
// CHECK: %[[TR:.*]] = bufferization.to_tensor %[[R]] restrict writable
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: %[[NR:.*]] = bufferization.materialize_in_destination %[[TX]] in %[[TR]]
// CHECK-NEXT: bufferization.materialize_in_destination %[[NR]] in writable %[[R]]
// CHECK-NEXT: return
func.func @outputs(%a: tensor<8xf32> {amsp.result = 0 : i64}, %x: tensor<8xf32>)
    -> (tensor<8xf32> {amsp.argument = 0 : i64}, tensor<8xf32>) {
  return %a, %x : tensor<8xf32>, tensor<8xf32>
}

// Of two states that trade places through loops, one is in the other's buffer.
// CHECK-LABEL: func.func @swap_after_loop
// CHECK: %[[LOOP:.*]]:2 = scf.for
// CHECK-DAG: %[[CB:.*]] = bufferization.alloc_tensor() copy(%[[LOOP]]#1)
// CHECK-DAG: %[[CA:.*]] = bufferization.alloc_tensor() copy(%[[LOOP]]#0)
// CHECK: bufferization.materialize_in_destination %[[CB]] in
// CHECK: bufferization.materialize_in_destination %[[CA]] in
func.func @swap_after_loop(%a: tensor<8xf32> {amsp.result = 0 : i64}, %b: tensor<8xf32> {amsp.result = 1 : i64})
    -> (tensor<8xf32> {amsp.argument = 0 : i64}, tensor<8xf32> {amsp.argument = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a, %y = %b)
      -> (tensor<8xf32>, tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %1 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1, %y : tensor<8xf32>, tensor<8xf32>
  }
  return %0#1, %0#0 : tensor<8xf32>, tensor<8xf32>
}

// A loop of unknown length hands all carries on, so that each keeps its buffer,
// also one that only its condition reads.
// CHECK-LABEL: func.func @unknown_length
// CHECK: scf.while (%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK: scf.condition(%{{.*}}) %[[X]], %[[Y]] : tensor<f32>, tensor<8xf32>
// CHECK: ^bb0(%[[BX:.*]]: tensor<f32>, %[[BY:.*]]: tensor<8xf32>):
// CHECK-DAG: bufferization.materialize_in_destination %{{.*}} in %[[BX]]
// CHECK-DAG: bufferization.materialize_in_destination %{{.*}} in %[[BY]]
func.func @unknown_length(%a: tensor<8xf32> {amsp.result = 0 : i64}, %n: tensor<f32>)
    -> (tensor<8xf32> {amsp.argument = 0 : i64}) {
  %one = arith.constant 1.0 : f32
  %0 = scf.while (%x = %n, %y = %a) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.extract %x[] : tensor<f32>
    %more = arith.cmpf olt, %e, %one : f32
    scf.condition(%more) %y : tensor<8xf32>
  } do {
  ^bb0(%y: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %1 = linalg.exp ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %c0 = arith.constant 0 : index
    %2 = tensor.extract %1[%c0] : tensor<8xf32>
    %3 = tensor.from_elements %2 : tensor<f32>
    scf.yield %3, %1 : tensor<f32>, tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// A carry that begins with a value that is read later, in the loop or behind
// it, begins with a copy: not in the buffer of what the loop makes of it.
// CHECK-LABEL: func.func @shared_init
// CHECK: %[[W:.*]] = linalg.exp
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[W]])
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[C]])
// CHECK: bufferization.materialize_in_destination %[[W]] in
func.func @shared_init(%a: tensor<8xf32> {amsp.result = 0 : i64})
    -> (tensor<8xf32> {amsp.argument = 0 : i64}, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %w = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %w) -> (tensor<8xf32>) {
    %empty = tensor.empty() : tensor<8xf32>
    %1 = linalg.log ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %0, %w : tensor<8xf32>, tensor<8xf32>
}

// What is read before the loop only needs none.
// CHECK-LABEL: func.func @init_read_before
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: return
func.func @init_read_before(%a: tensor<8xf32> {amsp.result = 0 : i64})
    -> (tensor<8xf32> {amsp.argument = 0 : i64}, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %w = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = tensor.empty() : tensor<8xf32>
  %square = linalg.square ins(%w : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %w) -> (tensor<8xf32>) {
    %empty = tensor.empty() : tensor<8xf32>
    %1 = linalg.log ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %0, %square : tensor<8xf32>, tensor<8xf32>
}
