// RUN: amsp-opt %s | amsp-opt | FileCheck %s

// CHECK-LABEL: func.func @collectives
func.func @collectives(%piece: tensor<101xf32>, %full: tensor<13x31xf32>, %rows: tensor<6x8xf32>) -> (tensor<13x31xf32>, tensor<101xf32>, tensor<13x31xf32>, tensor<24x8xf32>) {
  // CHECK: amsp.all_gather %{{.*}} group = <[1:2, 2:2]> parameter = 1 unit = "h.0" window = 3 : tensor<101xf32> -> tensor<13x31xf32>
  %0 = amsp.all_gather %piece group = <[1:2, 2:2]> parameter = 1 unit = "h.0" window = 3 : tensor<101xf32> -> tensor<13x31xf32>
  // CHECK: amsp.reduce_scatter sum %{{.*}} group = <[1:4]> : tensor<13x31xf32> -> tensor<101xf32>
  %1 = amsp.reduce_scatter sum %full group = <[1:4]> : tensor<13x31xf32> -> tensor<101xf32>
  // CHECK: amsp.all_reduce max %{{.*}} group = <[4:2]> : tensor<13x31xf32>
  %2 = amsp.all_reduce max %full group = <[4:2]> : tensor<13x31xf32>
  // CHECK: amsp.all_gather %{{.*}} group = <[1:4]> dim = 0 : tensor<6x8xf32> -> tensor<24x8xf32>
  %3 = amsp.all_gather %rows group = <[1:4]> dim = 0 : tensor<6x8xf32> -> tensor<24x8xf32>
  return %0, %1, %2, %3 : tensor<13x31xf32>, tensor<101xf32>, tensor<13x31xf32>, tensor<24x8xf32>
}

// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%a: tensor<4x6xi8>, %b: tensor<3x8xi8>, %c: tensor<4x2xf32>) -> (tensor<4x6xi8>, tensor<3x8xi8>, tensor<4x2xf32>) {
  // CHECK: amsp.all_to_all %{{.*}}, %{{.*}} group = <[1:2, 2:2]> dim = [0, none] keep = [0, 1] parameter = 1 unit = "u" : tensor<4x6xi8>, tensor<3x8xi8>
  %0:2 = amsp.all_to_all %a, %b group = <[1:2, 2:2]> dim = [0, none] keep = [0, 1] parameter = 1 unit = "u" : tensor<4x6xi8>, tensor<3x8xi8>
  // CHECK: %[[P:.*]] = amsp.all_to_all_start %{{.*}} group = <[1:4]> : tensor<4x2xf32>
  %p = amsp.all_to_all_start %c group = <[1:4]> : tensor<4x2xf32>
  // CHECK: amsp.await %[[P]] : !amsp.pending<tensor<4x2xf32>>
  %1 = amsp.await %p : !amsp.pending<tensor<4x2xf32>>
  return %0#0, %0#1, %1 : tensor<4x6xi8>, tensor<3x8xi8>, tensor<4x2xf32>
}

// Several tensors are one call; what differs between them is listed.
// CHECK-LABEL: func.func @variadic
func.func @variadic(%a: tensor<6x8xf32>, %b: tensor<2x5xf32>, %c: tensor<f32>, %d: tensor<3xf32>) {
  // CHECK: amsp.all_gather %{{.*}}, %{{.*}} group = <[1:4]> dim = [0, none] keep = [0, 1] parameter = [3, none] unit = ["a", "b"] window = 2 : tensor<6x8xf32>, tensor<2x5xf32> -> tensor<24x8xf32>, tensor<2x20xf32>
  %0:2 = amsp.all_gather %a, %b group = <[1:4]> dim = [0, none] keep = [0, 1] parameter = [3, none] unit = ["a", "b"] window = 2 : tensor<6x8xf32>, tensor<2x5xf32> -> tensor<24x8xf32>, tensor<2x20xf32>
  // CHECK: amsp.reduce_scatter sum %{{.*}}#0, %{{.*}}#1 group = <[1:4]> parameter = [0, 1] unit = "u" : tensor<24x8xf32>, tensor<2x20xf32> -> tensor<48xf32>, tensor<10xf32>
  %1:2 = amsp.reduce_scatter sum %0#0, %0#1 group = <[1:4]> parameter = [0, 1] unit = ["u", "u"] : tensor<24x8xf32>, tensor<2x20xf32> -> tensor<48xf32>, tensor<10xf32>
  // CHECK: amsp.all_reduce sum %{{.*}}, %{{.*}} group = <[1:4]> : tensor<f32>, tensor<3xf32>
  %2:2 = amsp.all_reduce sum %c, %d group = <[1:4]> : tensor<f32>, tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @async
func.func @async(%a: tensor<6x8xf32>, %b: tensor<2x5xf32>) -> (tensor<24x8xf32>, tensor<2x20xf32>, tensor<12xf32>, tensor<6x8xf32>) {
  // CHECK: %[[G:.*]]:2 = amsp.all_gather_start %{{.*}}, %{{.*}} group = <[1:4]> dim = [0, none] keep = [0, 1] window = 2 : tensor<6x8xf32>, tensor<2x5xf32> -> !amsp.pending<tensor<24x8xf32>>, !amsp.pending<tensor<2x20xf32>>
  %g:2 = amsp.all_gather_start %a, %b group = <[1:4]> dim = [0, none] keep = [0, 1] window = 2 : tensor<6x8xf32>, tensor<2x5xf32> -> !amsp.pending<tensor<24x8xf32>>, !amsp.pending<tensor<2x20xf32>>
  // CHECK: %[[S:.*]] = amsp.reduce_scatter_start sum %{{.*}} group = <[1:4]> : tensor<6x8xf32> -> !amsp.pending<tensor<12xf32>>
  %s = amsp.reduce_scatter_start sum %a group = <[1:4]> : tensor<6x8xf32> -> !amsp.pending<tensor<12xf32>>
  // CHECK: %[[R:.*]] = amsp.all_reduce_start max %{{.*}} group = <[1:4]> parameter = 1 : tensor<6x8xf32>
  %r = amsp.all_reduce_start max %a group = <[1:4]> parameter = 1 : tensor<6x8xf32>
  // CHECK: amsp.await %[[G]]#0, %[[G]]#1 : !amsp.pending<tensor<24x8xf32>>, !amsp.pending<tensor<2x20xf32>>
  %0:2 = amsp.await %g#0, %g#1 : !amsp.pending<tensor<24x8xf32>>, !amsp.pending<tensor<2x20xf32>>
  // CHECK: amsp.await %[[S]] : !amsp.pending<tensor<12xf32>>
  %1 = amsp.await %s : !amsp.pending<tensor<12xf32>>
  // CHECK: amsp.await %[[R]] : !amsp.pending<tensor<6x8xf32>>
  %2 = amsp.await %r : !amsp.pending<tensor<6x8xf32>>
  return %0#0, %0#1, %1, %2 : tensor<24x8xf32>, tensor<2x20xf32>, tensor<12xf32>, tensor<6x8xf32>
}

// CHECK-LABEL: func.func @keep
func.func @keep(%stack: tensor<4x5x3xf32>) -> tensor<4x8xf32> {
  // CHECK: amsp.local_slice %{{.*}} group = <[1:2]> keep = 1 : tensor<4x5x3xf32> -> tensor<4x8xf32>
  %0 = amsp.local_slice %stack group = <[1:2]> keep = 1 : tensor<4x5x3xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @local
func.func @local(%piece: tensor<8xf32>, %init: tensor<f32>) -> tensor<8xf32> {
  // CHECK: amsp.group_index group = <[1:2, 4:3]> : tensor<i32>
  %0 = amsp.group_index group = <[1:2, 4:3]> : tensor<i32>
  // CHECK: amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:4]> elements = 31 : tensor<8xf32>, tensor<f32>
  %1 = amsp.mask_padding %piece, %init group = <[1:4]> elements = 31 : tensor<8xf32>, tensor<f32>
  // CHECK: amsp.keep_on_first %{{.*}} group = <[1:4]> : tensor<8xf32>
  %2 = amsp.keep_on_first %1 group = <[1:4]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func.func @padded_rows
func.func @padded_rows(%piece: tensor<8x2xf32>, %init: tensor<f32>) -> tensor<8x2xf32> {
  // CHECK: amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:4]> elements = 31 dim = 0 : tensor<8x2xf32>, tensor<f32>
  %0 = amsp.mask_padding %piece, %init group = <[1:4]> elements = 31 dim = 0 : tensor<8x2xf32>, tensor<f32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @attributes
// CHECK-SAME: amsp.placement = #amsp.placement<flat, 0, [1:2, 2:2]>, amsp.role = #amsp.role<param>
// CHECK-SAME: amsp.placement = #amsp.placement<split, 0, [1:4]>, amsp.role = #amsp.role<batch>
// CHECK-SAME: amsp.placement = #amsp.placement<replicated>
func.func @attributes(
    %arg0: tensor<8xf32> {amsp.placement = #amsp.placement<flat, 0, [1:2, 2:2]>, amsp.role = #amsp.role<param>},
    %arg1: tensor<6xf32> {amsp.placement = #amsp.placement<split, 0, [1:4]>, amsp.role = #amsp.role<batch>},
    %arg2: tensor<f32> {amsp.placement = #amsp.placement<replicated>}) {
  return
}
