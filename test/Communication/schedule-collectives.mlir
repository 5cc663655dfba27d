// RUN: amsp-opt %s --amsp-schedule-collectives=prefetch-bytes=96 | FileCheck %s
// RUN: not amsp-opt %s --amsp-schedule-collectives=prefetch-bytes=63 2>&1 | FileCheck %s --check-prefix=SMALL

// SMALL: error: a bound of 63 bytes in flight (prefetch-bytes) is too small for the largest gather and the largest reduction, which need 64

// Three gathers of 32 bytes fit: the fourth starts when the first is awaited.
// CHECK-LABEL: func.func @gathers
// CHECK-SAME: amsp.prefetch_bytes = 96 : i64
func.func @gathers(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[A:.*]] = amsp.all_gather_start %arg0
  // CHECK-NEXT: %[[B:.*]] = amsp.all_gather_start %arg1
  // CHECK-NEXT: %[[C:.*]] = amsp.all_gather_start %arg2
  // CHECK-NEXT: %[[A1:.*]] = amsp.await %[[A]]
  // CHECK-NEXT: %[[D:.*]] = amsp.all_gather_start %arg3
  // CHECK-NEXT: stablehlo.dot_general %arg4, %[[A1]]
  // CHECK-NEXT: amsp.await %[[B]]
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[C]]
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[D]]
  // CHECK-NEXT: stablehlo.dot_general
  %0 = amsp.all_gather %a group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = amsp.all_gather %b group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = amsp.all_gather %c group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %6 = amsp.all_gather %d group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %7 = stablehlo.dot_general %x, %6, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1, %3, %5, %7 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Half of the bytes for each channel: one gather and one reduction in flight.
// CHECK-LABEL: func.func @both
func.func @both(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<8x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) {
  // CHECK: %[[A1:.*]] = amsp.all_gather %arg0
  // CHECK-NEXT: %[[B:.*]] = amsp.all_gather_start %arg1
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.dot_general %arg2, %[[A1]]
  // The reduction starts at once; what reads it waits for the next one, whose
  // bytes do not fit beside it.
  // CHECK-NEXT: %[[R:.*]] = amsp.reduce_scatter_start sum %[[Y]]
  // CHECK-NEXT: %[[B1:.*]] = amsp.await %[[B]]
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.dot_general %arg2, %[[B1]]
  // CHECK-NEXT: %[[R1:.*]] = amsp.await %[[R]]
  // CHECK-NEXT: %[[S:.*]] = amsp.reduce_scatter_start sum %[[Z]]
  // CHECK-NEXT: stablehlo.add %[[R1]], %[[R1]]
  // CHECK-NEXT: stablehlo.dot_general %arg2, %[[Z]]
  // CHECK-NEXT: amsp.await %[[S]]
  %0 = amsp.all_gather %a group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = amsp.reduce_scatter sum %1 group = <[1:2]> : tensor<8xf32> -> tensor<4xf32>
  %3 = stablehlo.add %2, %2 : tensor<4xf32>
  %4 = amsp.all_gather %b group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %6 = amsp.reduce_scatter sum %5 group = <[1:2]> : tensor<8xf32> -> tensor<4xf32>
  %7 = stablehlo.dot_general %x, %5, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
}

// The conversion that a gather reads moves ahead with its start.
// CHECK-LABEL: func.func @converted
func.func @converted(%a: tensor<4xf32>, %x: tensor<8x8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xbf16>) {
  // CHECK: %[[A:.*]] = stablehlo.convert %arg0
  // CHECK-NEXT: %[[P:.*]] = amsp.all_gather_start %[[A]]
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[P]]
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = amsp.all_gather %1 group = <[1:2]> : tensor<4xbf16> -> tensor<8xbf16>
  return %0, %2 : tensor<8xf32>, tensor<8xbf16>
}

// With nothing to hide behind, a collective stays whole.
// CHECK-LABEL: func.func @whole
func.func @whole(%a: tensor<4xf32>, %x: tensor<8x8xf32>) -> tensor<8xf32> {
  // CHECK-NOT: amsp.all_gather_start
  // CHECK: amsp.all_gather %
  %0 = amsp.all_gather %a group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A loop's collectives are scheduled in its body; those around it leave them
// their 32 bytes of the 96, so that a gather of 80 bytes waits for its end.
// CHECK-LABEL: func.func @loop
func.func @loop(%a: tensor<4xf32>, %b: tensor<10xf32>, %n: tensor<i32>, %x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<20xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<8xf32>
  // CHECK: stablehlo.while
  // CHECK: do {
  // CHECK: %[[P:.*]] = amsp.all_gather_start %arg0
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[P]]
  // CHECK: stablehlo.return
  // CHECK: }
  // CHECK: %[[Q:.*]] = amsp.all_gather_start %arg1
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[Q]]
  %0:2 = stablehlo.while(%i = %zero, %c = %init) : tensor<i32>, tensor<8xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = amsp.all_gather %a group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
    %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %4 = stablehlo.add %1, %3 : tensor<8xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %4 : tensor<i32>, tensor<8xf32>
  }
  %6 = stablehlo.dot_general %x, %0#1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = amsp.all_gather %b group = <[1:2]> : tensor<10xf32> -> tensor<20xf32>
  return %6, %7 : tensor<8xf32>, tensor<20xf32>
}

// What is written into a stack is awaited when the iteration ends, not before.
// CHECK-LABEL: func.func @stack
// CHECK: %[[P:.*]] = amsp.reduce_scatter_start
// CHECK: stablehlo.dot_general
// CHECK: %[[R:.*]] = amsp.await %[[P]]
// CHECK: stablehlo.dynamic_update_slice %arg0, %[[R]]
func.func @stack(%s: tensor<3x4xf32>, %g: tensor<1x8xf32>, %i: tensor<i32>, %x: tensor<8x8xf32>) -> (tensor<3x4xf32>, tensor<8x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = amsp.reduce_scatter sum %g group = <[1:2]> keep = 1 : tensor<1x8xf32> -> tensor<1x4xf32>
  %1 = stablehlo.dynamic_update_slice %s, %0, %i, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<3x4xf32>, tensor<8x8xf32>
}

// An exchange starts where what it sends is made, as a reduction does.
// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%a: tensor<4x4xi8>, %x: tensor<8x8xf32>) -> (tensor<4x4xi8>, tensor<8x8xf32>) {
  // CHECK: %[[P:.*]] = amsp.all_to_all_start %arg0 group = <[1:2]> dim = 0 : tensor<4x4xi8>
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[P]]
  %0 = amsp.all_to_all %a group = <[1:2]> dim = 0 : tensor<4x4xi8>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<4x4xi8>, tensor<8x8xf32>
}

// Updates follow the order in which gradients arrive, not that of the program,
// and none waits for the await of the next.
// CHECK-LABEL: func.func @updates
func.func @updates(%p: tensor<2xf32>, %q: tensor<2xf32>, %g: tensor<4xf32>, %x: tensor<4x4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[G:.*]] = amsp.reduce_scatter_start sum %arg2
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[H:.*]] = amsp.reduce_scatter_start sum %[[Y]]
  // CHECK-NEXT: %[[G1:.*]] = amsp.await %[[G]]
  // CHECK-NEXT: stablehlo.subtract %arg1, %[[G1]]
  // CHECK-NEXT: %[[H1:.*]] = amsp.await %[[H]]
  // CHECK-NEXT: stablehlo.subtract %arg0, %[[H1]]
  %0 = amsp.reduce_scatter sum %g group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
  %1 = stablehlo.dot_general %x, %g, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = amsp.reduce_scatter sum %1 group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
  %3 = stablehlo.subtract %p, %2 : tensor<2xf32>
  %4 = stablehlo.subtract %q, %0 : tensor<2xf32>
  return %3, %4 : tensor<2xf32>, tensor<2xf32>
}

// So do the parts of a norm, though the program begins with the last gradient.
// CHECK-LABEL: func.func @norm
func.func @norm(%g: tensor<4xf32>, %x: tensor<4x4xf32>) -> tensor<f32> {
  // CHECK: %[[G:.*]] = amsp.reduce_scatter_start sum %arg0
  // CHECK: stablehlo.dot_general
  // CHECK: %[[H:.*]] = amsp.reduce_scatter_start
  // CHECK-NEXT: %[[G1:.*]] = amsp.await %[[G]]
  // CHECK-NEXT: %[[G2:.*]] = stablehlo.reduce(%[[G1]] init:
  // CHECK-NEXT: %[[H1:.*]] = amsp.await %[[H]]
  // CHECK-NEXT: %[[H2:.*]] = stablehlo.reduce(%[[H1]] init:
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[H2]], %[[G2]]
  // CHECK-NEXT: amsp.all_reduce sum %[[SUM]]
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = amsp.reduce_scatter sum %g group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
  %1 = stablehlo.dot_general %x, %g, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = amsp.reduce_scatter sum %1 group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.add %3, %4 : tensor<f32>
  %6 = amsp.all_reduce sum %5 group = <[1:2]> : tensor<f32>
  return %6 : tensor<f32>
}

// A reduction is a pass over memory, too: the scale that a gather moves comes
// along with it, and the sum of what was exchanged waits for its use.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%a: tensor<1x4xf32>, %b: tensor<2x4xf32>, %x: tensor<8x8xf32>) -> (tensor<2x1xf32>, tensor<4xf32>, tensor<8x8xf32>) {
  // CHECK: %[[E:.*]] = amsp.all_to_all_start %arg1
  // CHECK: %[[L:.*]] = stablehlo.reduce(%arg0
  // CHECK-NEXT: %[[G:.*]] = amsp.all_gather_start %[[L]]
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: %[[R:.*]] = amsp.await %[[E]]
  // CHECK-NEXT: stablehlo.reduce(%[[R]]
  // CHECK-NEXT: amsp.await %[[G]]
  // CHECK-NEXT: return
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = amsp.all_to_all %b group = <[1:2]> : tensor<2x4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<1x4xf32>, tensor<f32>) -> tensor<1xf32>
  %4 = amsp.all_gather %3 group = <[1:2]> : tensor<1xf32> -> tensor<2x1xf32>
  return %4, %1, %2 : tensor<2x1xf32>, tensor<4xf32>, tensor<8x8xf32>
}
