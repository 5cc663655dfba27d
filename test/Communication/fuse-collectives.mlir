// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives))' | FileCheck %s

// A unit's gathers of a window, at the first one's place; what their operands
// need comes along.
// CHECK-LABEL: func.func @gathers
func.func @gathers(%a: tensor<4xf32>, %b: tensor<3xf32>, %x: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<6xbf16>, tensor<6xf32>, tensor<6xf32>) {
  // CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %arg1
  // CHECK-NEXT: %[[G:.*]]:2 = amsp.all_gather %arg0, %[[B]] group = <[1:2]> parameter = [0, 1] unit = "h.0" window = 1 : tensor<4xf32>, tensor<3xf32> -> tensor<8xf32>, tensor<6xf32>
  // CHECK-NEXT: %[[C:.*]] = stablehlo.convert %arg1
  // CHECK: stablehlo.multiply %arg2, %[[G]]#0
  // CHECK: amsp.all_gather %[[C]] group = <[1:2]> parameter = 2 unit = "h.0" window = 1 : tensor<3xbf16> -> tensor<6xbf16>
  // CHECK: amsp.all_gather %arg1 group = <[1:2]> parameter = 1 unit = "h.0" window = 2
  // CHECK: return %{{.*}}, %{{.*}}, %[[G]]#1, %{{.*}}
  %0 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "h.0" window = 1 : tensor<4xf32> -> tensor<8xf32>
  %1 = stablehlo.convert %b : (tensor<3xf32>) -> tensor<3xbf16>
  %2 = stablehlo.multiply %x, %0 : tensor<8xf32>
  // One type, one window, one group.
  %3 = amsp.all_gather %1 group = <[1:2]> parameter = 2 unit = "h.0" window = 1 : tensor<3xbf16> -> tensor<6xbf16>
  %4 = stablehlo.reshape %b : (tensor<3xf32>) -> tensor<3xf32>
  %5 = amsp.all_gather %4 group = <[1:2]> parameter = 1 unit = "h.0" window = 1 : tensor<3xf32> -> tensor<6xf32>
  %6 = amsp.all_gather %b group = <[1:2]> parameter = 1 unit = "h.0" window = 2 : tensor<3xf32> -> tensor<6xf32>
  return %2, %3, %5, %6 : tensor<8xf32>, tensor<6xbf16>, tensor<6xf32>, tensor<6xf32>
}

// An operand that is computed in between; a gather of what was gathered.
// CHECK-LABEL: func.func @gathers_that_wait
func.func @gathers_that_wait(%a: tensor<4xf32>, %m: tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<16xf32>) {
  // CHECK: amsp.all_gather %arg0 group
  // CHECK: stablehlo.dot_general
  // CHECK: amsp.all_gather %{{.*}} group
  // CHECK: amsp.all_gather %{{.*}} group
  %0 = amsp.all_gather %a group = <[1:2]> unit = "h.0" : tensor<4xf32> -> tensor<8xf32>
  %1 = stablehlo.dot_general %0, %m, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  %2 = amsp.all_gather %1 group = <[1:2]> unit = "h.0" : tensor<4xf32> -> tensor<8xf32>
  %3 = amsp.all_gather %2 group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<16xf32>
  return %0, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<16xf32>
}

// Another unit's use lies between: neither waits for the other.
// CHECK-LABEL: func.func @units
func.func @units(%a: tensor<4xf32>, %b: tensor<4xf32>, %g: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: amsp.all_gather %arg0, %arg1 group = <[1:2]> unit = "h.0"
  // CHECK: amsp.reduce_scatter sum %arg2, %arg2 group = <[1:2]> unit = "h.1"
  // CHECK: amsp.all_gather %arg1 group = <[1:2]> unit = "h.1"
  // CHECK: amsp.all_gather %arg1 group = <[1:2]> unit = "h.0"
  %0 = amsp.all_gather %a group = <[1:2]> unit = "h.0" : tensor<4xf32> -> tensor<8xf32>
  // Reductions and gathers do not part each other.
  %1 = amsp.reduce_scatter sum %g group = <[1:2]> unit = "h.1" : tensor<8xf32> -> tensor<4xf32>
  %2 = amsp.all_gather %b group = <[1:2]> unit = "h.0" : tensor<4xf32> -> tensor<8xf32>
  %3 = amsp.reduce_scatter sum %g group = <[1:2]> unit = "h.1" : tensor<8xf32> -> tensor<4xf32>
  %4 = amsp.all_gather %b group = <[1:2]> unit = "h.1" : tensor<4xf32> -> tensor<8xf32>
  %5 = amsp.all_gather %b group = <[1:2]> unit = "h.0" : tensor<4xf32> -> tensor<8xf32>
  return %2, %4, %5, %1, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>
}

// At the last gradient of the unit; the update, and the sum over the replicas,
// move behind. Then the sums become one, too.
// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<8xf32>, %p: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[G1:.*]] = stablehlo.negate %arg0
  // CHECK-NEXT: %[[G2:.*]] = stablehlo.exponential %[[G1]]
  // CHECK-NEXT: %[[S:.*]]:2 = amsp.reduce_scatter sum %[[G1]], %[[G2]] group = <[1:2]> parameter = [1, 0] unit = "h.0"
  // CHECK-NEXT: %[[R:.*]]:2 = amsp.all_reduce sum %[[S]]#0, %[[S]]#1 group = <[2:2]> parameter = [1, 0] unit = "h.0"
  // CHECK-NEXT: stablehlo.subtract %arg1, %[[R]]#0
  // CHECK-NEXT: stablehlo.subtract %arg1, %[[R]]#1
  %0 = stablehlo.negate %x : tensor<8xf32>
  %1 = amsp.reduce_scatter sum %0 group = <[1:2]> parameter = 1 unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  %2 = amsp.all_reduce sum %1 group = <[2:2]> parameter = 1 unit = "h.0" : tensor<4xf32>
  %3 = stablehlo.subtract %p, %2 : tensor<4xf32>
  %4 = stablehlo.exponential %0 : tensor<8xf32>
  %5 = amsp.reduce_scatter sum %4 group = <[1:2]> parameter = 0 unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  %6 = amsp.all_reduce sum %5 group = <[2:2]> parameter = 0 unit = "h.0" : tensor<4xf32>
  %7 = stablehlo.subtract %p, %6 : tensor<4xf32>
  return %3, %7 : tensor<4xf32>, tensor<4xf32>
}

// The third gradient needs the second one's sum, within a branch.
// CHECK-LABEL: func.func @dependent_reductions
func.func @dependent_reductions(%x: tensor<8xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: amsp.reduce_scatter sum %arg0, %arg0
  // CHECK: stablehlo.case
  // CHECK: amsp.reduce_scatter sum %{{.*}} group
  %0 = amsp.reduce_scatter sum %x group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  %1 = amsp.reduce_scatter sum %x group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  %2 = "stablehlo.case"(%i) ({
    %3 = stablehlo.concatenate %1, %1, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  %4 = amsp.reduce_scatter sum %2 group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  return %0, %1, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Kinds of reduction, types and groups stay apart.
// CHECK-LABEL: func.func @apart
func.func @apart(%x: tensor<f32>, %y: tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>) {
  // CHECK-COUNT-4: amsp.all_reduce {{sum|max}} %{{[a-z0-9]+}} group
  %0 = amsp.all_reduce sum %x group = <[1:2]> : tensor<f32>
  %1 = amsp.all_reduce max %x group = <[1:2]> : tensor<f32>
  %2 = amsp.all_reduce sum %x group = <[2:2]> : tensor<f32>
  %3 = amsp.all_reduce sum %y group = <[1:2]> : tensor<i32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>
}

// A loss waits for the norm, as only its scaling waits with it.
// CHECK-LABEL: func.func @loss_and_norm
func.func @loss_and_norm(%loss: tensor<f32>, %n: tensor<f32>, %x: tensor<4096xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[N:.*]] = stablehlo.reduce
  // CHECK-NEXT: %[[S:.*]]:2 = amsp.all_reduce sum %arg0, %[[N]] group = <[1:2]> : tensor<f32>, tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = stablehlo.divide %[[S]]#0, %arg1
  // CHECK-NEXT: return %[[L]], %[[S]]#1
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = amsp.all_reduce sum %loss group = <[1:2]> : tensor<f32>
  %1 = stablehlo.divide %0, %n : tensor<f32>
  %2 = stablehlo.multiply %x, %x : tensor<4096xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %4 = amsp.all_reduce sum %3 group = <[1:2]> : tensor<f32>
  return %1, %4 : tensor<f32>, tensor<f32>
}

// A count by which the backward pass divides does not.
// CHECK-LABEL: func.func @count_and_norm
func.func @count_and_norm(%loss: tensor<f32>, %n: tensor<f32>, %x: tensor<4096xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK: amsp.all_reduce sum %arg0, %arg1 group
  // CHECK: amsp.all_reduce sum %{{[0-9]+}} group
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = amsp.all_reduce sum %loss group = <[1:2]> : tensor<f32>
  %1 = amsp.all_reduce sum %n group = <[1:2]> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4096xf32>
  %3 = stablehlo.divide %x, %2 : tensor<4096xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %5 = amsp.all_reduce sum %4 group = <[1:2]> : tensor<f32>
  return %0, %1, %5 : tensor<f32>, tensor<f32>, tensor<f32>
}

// Gathers of no unit: the operands of one op that has no local rule.
// CHECK-LABEL: func.func @fallback
func.func @fallback(%a: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: amsp.all_gather %arg0, %arg1 group = <[1:2]> dim = 0
  // CHECK: stablehlo.dot_general
  // CHECK: amsp.all_gather %arg1 group = <[1:2]> dim = 0
  %0 = amsp.all_gather %a group = <[1:2]> dim = 0 : tensor<4xf32> -> tensor<8xf32>
  %1 = amsp.all_gather %b group = <[1:2]> dim = 0 : tensor<4xf32> -> tensor<8xf32>
  %2 = stablehlo.dot_general %m, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = amsp.all_gather %b group = <[1:2]> dim = 0 : tensor<4xf32> -> tensor<8xf32>
  return %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// In the body of a loop as anywhere; what is tuples already grows.
// CHECK-LABEL: func.func @loop
func.func @loop(%g: tensor<8xf32>, %n: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.while
  // CHECK: %[[S:.*]]:3 = amsp.reduce_scatter sum %arg0, %arg0, %{{.*}} group = <[1:2]> unit = "h.0"
  // CHECK: stablehlo.add %{{.*}}, %[[S]]#0
  // CHECK: stablehlo.add %{{.*}}, %[[S]]#2
  %0 = stablehlo.while(%i = %n) : tensor<4xf32>
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = amsp.reduce_scatter sum %g, %g group = <[1:2]> unit = "h.0" : tensor<8xf32>, tensor<8xf32> -> tensor<4xf32>, tensor<4xf32>
    %2 = stablehlo.add %i, %1#0 : tensor<4xf32>
    %3 = stablehlo.negate %g : tensor<8xf32>
    %4 = amsp.reduce_scatter sum %3 group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
    %5 = stablehlo.add %2, %4 : tensor<4xf32>
    stablehlo.return %5 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Two layers of a stack: the gradients of the first do not wait for the second.
// CHECK-LABEL: func.func @layers_of_a_stack
// CHECK: amsp.reduce_scatter sum %arg0, %arg1
// CHECK: stablehlo.dot_general
// CHECK: amsp.reduce_scatter sum %arg2, %arg3
func.func @layers_of_a_stack(%a: tensor<1x8xf32>, %b: tensor<1x6xf32>, %c: tensor<1x8xf32>, %d: tensor<1x6xf32>, %x: tensor<8x8xf32>)
    -> (tensor<1x4xf32>, tensor<1x3xf32>, tensor<8x8xf32>, tensor<1x4xf32>, tensor<1x3xf32>) {
  %0 = amsp.reduce_scatter sum %a group = <[1:2]> keep = 1 parameter = 0 unit = "h" : tensor<1x8xf32> -> tensor<1x4xf32>
  %1 = amsp.reduce_scatter sum %b group = <[1:2]> keep = 1 parameter = 1 unit = "h" : tensor<1x6xf32> -> tensor<1x3xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = amsp.reduce_scatter sum %c group = <[1:2]> keep = 1 parameter = 0 unit = "h" : tensor<1x8xf32> -> tensor<1x4xf32>
  %4 = amsp.reduce_scatter sum %d group = <[1:2]> keep = 1 parameter = 1 unit = "h" : tensor<1x6xf32> -> tensor<1x3xf32>
  return %0, %1, %2, %3, %4 : tensor<1x4xf32>, tensor<1x3xf32>, tensor<8x8xf32>, tensor<1x4xf32>, tensor<1x3xf32>
}

// As reductions are; codes and scales apart.
// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%a: tensor<2x4xi8>, %b: tensor<2x1xf32>, %c: tensor<2x6xi8>, %d: tensor<2x2xf32>) -> (tensor<2x4xi8>, tensor<2x1xf32>, tensor<2x6xi8>, tensor<2x2xf32>) {
  // CHECK: amsp.all_to_all %arg0, %arg2 group = <[1:2]> dim = 0 parameter = [0, 1] unit = "h.0" : tensor<2x4xi8>, tensor<2x6xi8>
  // CHECK: amsp.all_to_all %arg1, %arg3 group = <[1:2]> dim = 0 parameter = [0, 1] unit = "h.0" : tensor<2x1xf32>, tensor<2x2xf32>
  // CHECK-NOT: amsp.all_to_all
  %0 = amsp.all_to_all %a group = <[1:2]> dim = 0 parameter = 0 unit = "h.0" : tensor<2x4xi8>
  %1 = amsp.all_to_all %b group = <[1:2]> dim = 0 parameter = 0 unit = "h.0" : tensor<2x1xf32>
  %2 = amsp.all_to_all %c group = <[1:2]> dim = 0 parameter = 1 unit = "h.0" : tensor<2x6xi8>
  %3 = amsp.all_to_all %d group = <[1:2]> dim = 0 parameter = 1 unit = "h.0" : tensor<2x2xf32>
  return %0, %1, %2, %3 : tensor<2x4xi8>, tensor<2x1xf32>, tensor<2x6xi8>, tensor<2x2xf32>
}

// What makes codes and scales comes along: a unit's int8 gathers are two.
// CHECK-LABEL: func.func @scales
func.func @scales(%a: tensor<1x4xf32>, %b: tensor<2x4xf32>, %x: tensor<8x8xf32>) -> (tensor<2xf32>, tensor<8x8xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = stablehlo.reduce(%arg0
  // CHECK-NEXT: %[[B:.*]] = stablehlo.reduce(%arg1
  // CHECK-NEXT: amsp.all_gather %[[A]], %[[B]] group = <[1:2]> parameter = [0, 1] unit = "h.0"
  // CHECK-NEXT: stablehlo.dot_general
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<1x4xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = amsp.all_gather %0 group = <[1:2]> parameter = 0 unit = "h.0" : tensor<1xf32> -> tensor<2xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.reduce(%b init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = amsp.all_gather %3 group = <[1:2]> parameter = 1 unit = "h.0" : tensor<2xf32> -> tensor<4xf32>
  return %1, %2, %4 : tensor<2xf32>, tensor<8x8xf32>, tensor<4xf32>
}
