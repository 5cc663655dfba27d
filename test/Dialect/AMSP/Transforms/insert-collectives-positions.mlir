// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=zero2' --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// Picks an element of each column of a value whose rows are cut: each rank has
// those in its own rows. Only their sum moves, and scatters of the gradient
// write what lies in the rank's rows.

// CHECK-LABEL: func.func public @main
// CHECK-DAG: %[[C23:.*]] = stablehlo.constant dense<23> : tensor<i32>
// CHECK-DAG: %[[C0:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG: %[[C6:.*]] = stablehlo.constant dense<6> : tensor<i32>
// CHECK-NOT: amsp.all_gather
// CHECK: %[[INSIDE:.*]] = stablehlo.clamp %[[C0]], %arg1, %[[C23]] : {{.*}}tensor<6x1xi32>
// CHECK: %[[RANK:.*]] = amsp.group_index
// CHECK: %[[FIRST:.*]] = stablehlo.multiply %[[RANK]], %[[C6]] : tensor<i32>
// CHECK: %[[FIRSTS:.*]] = stablehlo.broadcast_in_dim %[[FIRST]], dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// CHECK: %[[OWN:.*]] = stablehlo.subtract %[[INSIDE]], %[[FIRSTS]] : tensor<6x1xi32>
// CHECK: %[[PICKED:.*]] = "stablehlo.gather"(%arg2, %[[OWN]])
// CHECK-SAME: slice_sizes = array<i64: 1, 1>
// CHECK-SAME: (tensor<6x6xf32>, tensor<6x1xi32>) -> tensor<6xf32>
// CHECK-DAG: stablehlo.compare GE, %[[OWN]], %{{.*}} : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
// CHECK-DAG: stablehlo.compare LT, %[[OWN]], %{{.*}} : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
// CHECK: %[[MINE:.*]] = stablehlo.select %{{.*}}, %[[PICKED]], %{{.*}} : tensor<6xi1>, tensor<6xf32>
// CHECK: amsp.all_reduce sum %[[MINE]] group = <[1:4]> : tensor<6xf32>
// CHECK: %[[TO:.*]] = stablehlo.subtract %arg1, %[[FIRSTS]] : tensor<6x1xi32>
// CHECK: "stablehlo.scatter"(%{{.*}}, %[[TO]], %{{.*}})
// CHECK: (tensor<6x6xf32>, tensor<6x1xi32>, tensor<6xf32>) -> tensor<6x6xf32>
// CHECK-NOT: amsp.all_gather
// CHECK: return
func.func public @main(
    %w: tensor<6xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %i: tensor<6x1xi32> {tf.aliasing_output = 1 : i32} loc("i"),
    %x: tensor<24x6xf32> loc("x")) -> (tensor<6xf32>, tensor<6x1xi32>, tensor<24x6xf32>) {
  %picked = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<24x6xf32>, tensor<6x1xi32>) -> tensor<6xf32>
  %square = stablehlo.multiply %picked, %picked : tensor<6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<24x6xf32>
  %put = "stablehlo.scatter"(%zeros, %i, %square) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<24x6xf32>, tensor<6x1xi32>, tensor<6xf32>) -> tensor<24x6xf32>
  %both = stablehlo.add %x, %put : tensor<24x6xf32>
  %w1 = stablehlo.subtract %w, %square : tensor<6xf32>
  return %w1, %i, %both : tensor<6xf32>, tensor<6x1xi32>, tensor<24x6xf32>
}

// -----

// Indices of 8 bits do not hold the size of the dimension: they are widened
// before anything is compared with them or taken from them. The other component
// of their vectors goes with them.

// CHECK-LABEL: func.func public @main
// CHECK-DAG: %[[C199:.*]] = stablehlo.constant dense<199> : tensor<i32>
// CHECK-DAG: %[[C0:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG: %[[C50:.*]] = stablehlo.constant dense<50> : tensor<i32>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg1 : (tensor<6x2xi8>) -> tensor<6x2xi32>
// CHECK: %[[ROWS:.*]] = stablehlo.slice %[[WIDE]] [0:6, 0:1] : (tensor<6x2xi32>) -> tensor<6x1xi32>
// CHECK: %[[INSIDE:.*]] = stablehlo.clamp %[[C0]], %[[ROWS]], %[[C199]] : {{.*}}tensor<6x1xi32>
// CHECK: %[[RANK:.*]] = amsp.group_index
// CHECK: %[[FIRST:.*]] = stablehlo.multiply %[[RANK]], %[[C50]] : tensor<i32>
// CHECK: %[[FIRSTS:.*]] = stablehlo.broadcast_in_dim %[[FIRST]], dims = [] : (tensor<i32>) -> tensor<6x1xi32>
// CHECK: %[[OWN:.*]] = stablehlo.subtract %[[INSIDE]], %[[FIRSTS]] : tensor<6x1xi32>
// CHECK: %[[COLUMNS:.*]] = stablehlo.slice %[[WIDE]] [0:6, 1:2] : (tensor<6x2xi32>) -> tensor<6x1xi32>
// CHECK: %[[INDICES:.*]] = stablehlo.concatenate %[[OWN]], %[[COLUMNS]], dim = 1 : {{.*}}tensor<6x2xi32>
// CHECK: "stablehlo.gather"(%arg2, %[[INDICES]])
// CHECK-SAME: (tensor<50x6xf32>, tensor<6x2xi32>) -> tensor<6xf32>
// CHECK-DAG: stablehlo.compare LT, %[[OWN]], %{{.*}} : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
// CHECK: %[[TO:.*]] = stablehlo.subtract %[[ROWS]], %[[FIRSTS]] : tensor<6x1xi32>
// CHECK: %[[TOS:.*]] = stablehlo.concatenate %[[TO]], %[[COLUMNS]], dim = 1 : {{.*}}tensor<6x2xi32>
// CHECK: "stablehlo.scatter"(%{{.*}}, %[[TOS]], %{{.*}})
// CHECK: (tensor<50x6xf32>, tensor<6x2xi32>, tensor<6xf32>) -> tensor<50x6xf32>
// CHECK: return
func.func public @main(
    %w: tensor<6xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %i: tensor<6x2xi8> {tf.aliasing_output = 1 : i32} loc("i"),
    %x: tensor<200x6xf32> loc("x")) -> (tensor<6xf32>, tensor<6x2xi8>, tensor<200x6xf32>) {
  %picked = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<200x6xf32>, tensor<6x2xi8>) -> tensor<6xf32>
  %square = stablehlo.multiply %picked, %picked : tensor<6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<200x6xf32>
  %put = "stablehlo.scatter"(%zeros, %i, %square) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<200x6xf32>, tensor<6x2xi8>, tensor<6xf32>) -> tensor<200x6xf32>
  %both = stablehlo.add %x, %put : tensor<200x6xf32>
  %w1 = stablehlo.subtract %w, %square : tensor<6xf32>
  return %w1, %i, %both : tensor<6xf32>, tensor<6x2xi8>, tensor<200x6xf32>
}

// -----

// Unsigned indices become signed ones: a rank's own positions count from before
// its first one.

// CHECK-LABEL: func.func public @main
// CHECK-NOT: amsp.all_gather
// CHECK: %[[SIGNED:.*]] = stablehlo.convert %arg1 : (tensor<6x1xui32>) -> tensor<6x1xi64>
// CHECK: %[[INSIDE:.*]] = stablehlo.clamp %{{.*}}, %[[SIGNED]], %{{.*}} : {{.*}}tensor<6x1xi64>
// CHECK: %[[OWN:.*]] = stablehlo.subtract %[[INSIDE]], %{{.*}} : tensor<6x1xi64>
// CHECK: "stablehlo.gather"(%arg2, %[[OWN]])
// CHECK: %[[TO:.*]] = stablehlo.subtract %[[SIGNED]], %{{.*}} : tensor<6x1xi64>
// CHECK: "stablehlo.scatter"(%{{.*}}, %[[TO]], %{{.*}})
// CHECK-NOT: amsp.all_gather
// CHECK: return
func.func public @main(
    %w: tensor<6xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %i: tensor<6x1xui32> {tf.aliasing_output = 1 : i32} loc("i"),
    %x: tensor<24x6xf32> loc("x")) -> (tensor<6xf32>, tensor<6x1xui32>, tensor<24x6xf32>) {
  %picked = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<24x6xf32>, tensor<6x1xui32>) -> tensor<6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<24x6xf32>
  %put = "stablehlo.scatter"(%zeros, %i, %picked) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<24x6xf32>, tensor<6x1xui32>, tensor<6xf32>) -> tensor<24x6xf32>
  %both = stablehlo.add %x, %put : tensor<24x6xf32>
  %w1 = stablehlo.subtract %w, %picked : tensor<6xf32>
  return %w1, %i, %both : tensor<6xf32>, tensor<6x1xui32>, tensor<24x6xf32>
}

// -----

// Those of 64 bits that no signed one holds are beyond every dimension, as what
// they become is.

// CHECK-LABEL: func.func public @main
// CHECK: %[[LARGEST:.*]] = stablehlo.constant dense<9223372036854775807> : tensor<6x1xui64>
// CHECK: %[[LIMITED:.*]] = stablehlo.minimum %arg1, %[[LARGEST]] : tensor<6x1xui64>
// CHECK: %[[SIGNED:.*]] = stablehlo.convert %[[LIMITED]] : (tensor<6x1xui64>) -> tensor<6x1xi64>
// CHECK: stablehlo.clamp %{{.*}}, %[[SIGNED]], %{{.*}} : {{.*}}tensor<6x1xi64>
// CHECK-NOT: amsp.all_gather
// CHECK: return
func.func public @main(
    %w: tensor<6xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %i: tensor<6x1xui64> {tf.aliasing_output = 1 : i32} loc("i"),
    %x: tensor<24x6xf32> loc("x")) -> (tensor<6xf32>, tensor<6x1xui64>) {
  %picked = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<24x6xf32>, tensor<6x1xui64>) -> tensor<6xf32>
  %w1 = stablehlo.subtract %w, %picked : tensor<6xf32>
  return %w1, %i : tensor<6xf32>, tensor<6x1xui64>
}
