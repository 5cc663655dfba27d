// RUN: amsp-opt %s --amsp-schedule-collectives | FileCheck %s

// A loop gathers for itself. What is needed at once behind it is gathered over it;
// what computation behind it hides does not take the turn of the loop's own gathers,
// nor bytes in flight from its iterations.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<8192xf32>, %b: tensor<8192xf32>, %c: tensor<8192xf32>, %x: tensor<512x128xf32>) -> tensor<512x128xf32> {
  // CHECK: %[[B:.*]] = amsp.all_gather_start %arg1
  // CHECK-NOT: amsp.all_gather_start
  // CHECK: stablehlo.while
  // CHECK: amsp.all_gather %arg0
  // CHECK: stablehlo.return
  // CHECK: %[[C:.*]] = amsp.all_gather_start %arg2
  // CHECK-NEXT: %[[B1:.*]] = amsp.await %[[B]]
  // CHECK-NEXT: stablehlo.dot_general {{.*}}, %[[B1]]
  // CHECK-NEXT: %[[C1:.*]] = amsp.await %[[C]]
  // CHECK-NEXT: stablehlo.dot_general {{.*}}, %[[C1]]
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<512x128xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %w = amsp.all_gather %a group = <[1:2]> : tensor<8192xf32> -> tensor<128x128xf32>
    %n = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x128xf32>) -> tensor<512x128xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n : tensor<i32>, tensor<512x128xf32>
  }
  %2 = amsp.all_gather %b group = <[1:2]> : tensor<8192xf32> -> tensor<128x128xf32>
  %3 = stablehlo.dot_general %0#1, %2, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x128xf32>) -> tensor<512x128xf32>
  %4 = amsp.all_gather %c group = <[1:2]> : tensor<8192xf32> -> tensor<128x128xf32>
  %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x128xf32>) -> tensor<512x128xf32>
  return %5 : tensor<512x128xf32>
}
