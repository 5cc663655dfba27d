// RUN: amsp-opt %s -split-input-file --amsp-collectives-to-stablehlo | FileCheck %s

// CHECK: module attributes {mhlo.num_replicas = 6 : i32}
module attributes {amsp.levels = array<i64: 2, 3>} {
  // CHECK-LABEL: func.func public @main
  // CHECK-SAME: (%arg0: tensor<2xf32>, %arg1: tensor<5xf32>, %arg2: tensor<2x3xf32>)
  func.func public @main(%piece: tensor<2xf32> {amsp.role = #amsp.role<param>},
                         %full: tensor<5xf32>, %rows: tensor<2x3xf32>)
      -> (tensor<5xf32>, tensor<3xf32>, tensor<5xf32>, tensor<i32>, tensor<4x3xf32>) {
    // Members in the order of their index: the outer digit is the lower one.
    // CHECK: %[[G:.*]] = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<{{\[\[}}0, 2, 4], [1, 3, 5]]> : tensor<2x3xi64>}> : (tensor<2xf32>) -> tensor<6xf32>
    // CHECK: stablehlo.slice %[[G]] [0:5] : (tensor<6xf32>) -> tensor<5xf32>
    %0 = amsp.all_gather %piece group = <[2:3]> : tensor<2xf32> -> tensor<5xf32>
    // CHECK: %[[P:.*]] = stablehlo.pad %arg1, %{{.*}}, low = [0], high = [1]
    // CHECK: "stablehlo.reduce_scatter"(%[[P]]) <{replica_groups = dense<{{\[\[}}0, 1], [2, 3], [4, 5]]> : tensor<3x2xi64>, scatter_dimension = 0 : i64}> ({
    // CHECK: stablehlo.add
    // CHECK: (tensor<6xf32>) -> tensor<3xf32>
    %1 = amsp.reduce_scatter sum %full group = <[1:2]> : tensor<5xf32> -> tensor<3xf32>
    // CHECK: "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<{{\[\[}}0, 2, 4, 1, 3, 5]]> : tensor<1x6xi64>}> ({
    // CHECK: stablehlo.maximum
    %2 = amsp.all_reduce max %full group = <[1:2, 2:3]> : tensor<5xf32>
    // CHECK: stablehlo.replica_id : tensor<ui32>
    // CHECK: stablehlo.divide
    // CHECK: stablehlo.remainder
    %3 = amsp.group_index group = <[2:3]> : tensor<i32>
    // CHECK: "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, replica_groups = dense<{{\[\[}}0, 1], [2, 3], [4, 5]]> : tensor<3x2xi64>}> : (tensor<2x3xf32>) -> tensor<4x3xf32>
    %4 = amsp.all_gather %rows group = <[1:2]> dim = 0 : tensor<2x3xf32> -> tensor<4x3xf32>
    return %0, %1, %2, %3, %4 : tensor<5xf32>, tensor<3xf32>, tensor<5xf32>, tensor<i32>, tensor<4x3xf32>
  }
}

// -----

// One collective for each tensor.
module attributes {amsp.levels = array<i64: 2>} {
  // CHECK-LABEL: func.func public @main
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2x3xf32>, %c: tensor<f32>)
      -> (tensor<4xf32>, tensor<4x3xf32>, tensor<f32>, tensor<4xf32>) {
    // CHECK: %[[A:.*]] = "stablehlo.all_gather"(%arg0) {{.*}} : (tensor<2xf32>) -> tensor<4xf32>
    // CHECK: %[[B:.*]] = "stablehlo.all_gather"(%arg1) {{.*}} : (tensor<2x3xf32>) -> tensor<4x3xf32>
    %0:2 = amsp.all_gather %a, %b group = <[1:2]> dim = [none, 0] : tensor<2xf32>, tensor<2x3xf32> -> tensor<4xf32>, tensor<4x3xf32>
    // CHECK: %[[C:.*]] = "stablehlo.all_reduce"(%arg2)
    // CHECK: %[[D:.*]] = "stablehlo.all_reduce"(%[[A]])
    %1:2 = amsp.all_reduce sum %c, %0#0 group = <[1:2]> : tensor<f32>, tensor<4xf32>
    // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
    return %0#0, %0#1, %1#0, %1#1 : tensor<4xf32>, tensor<4x3xf32>, tensor<f32>, tensor<4xf32>
  }
}

// -----

// A split collective is where its start is.
module attributes {amsp.levels = array<i64: 2>} {
  // CHECK-LABEL: func.func public @main
  func.func public @main(%a: tensor<2xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %[[G:.*]] = "stablehlo.all_gather"(%arg0)
    // CHECK: %[[S:.*]] = stablehlo.add %arg1, %arg1
    // CHECK: return %[[S]], %[[G]]
    %p = amsp.all_gather_start %a group = <[1:2]> : tensor<2xf32> -> !amsp.pending<tensor<4xf32>>
    %0 = stablehlo.add %b, %b : tensor<4xf32>
    %1 = amsp.await %p : !amsp.pending<tensor<4xf32>>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Rows as they are; what is flat, behind the kept dimensions.
module attributes {amsp.levels = array<i64: 2, 2>} {
  // CHECK-LABEL: func.func public @main
  func.func public @main(%a: tensor<2x6xi8>, %b: tensor<3x2x4xi8>) -> (tensor<2x6xi8>, tensor<3x2x4xi8>) {
    // CHECK: "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x6xi8>) -> tensor<2x6xi8>
    %0 = amsp.all_to_all %a group = <[1:2]> dim = 0 : tensor<2x6xi8>
    // CHECK: %[[F:.*]] = stablehlo.reshape %arg1 : (tensor<3x2x4xi8>) -> tensor<3x8xi8>
    // CHECK: %[[X:.*]] = "stablehlo.all_to_all"(%[[F]]) <{concat_dimension = 1 : i64, replica_groups = dense<{{\[\[}}0, 2, 1, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<3x8xi8>) -> tensor<3x8xi8>
    // CHECK: stablehlo.reshape %[[X]] : (tensor<3x8xi8>) -> tensor<3x2x4xi8>
    %p = amsp.all_to_all_start %b group = <[1:2, 2:2]> keep = 1 : tensor<3x2x4xi8>
    %1 = amsp.await %p : !amsp.pending<tensor<3x2x4xi8>>
    return %0, %1 : tensor<2x6xi8>, tensor<3x2x4xi8>
  }
}
