// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @dynamicSliceSize(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice' op part of size 5 does not fit dimension 0 of 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @dynamicSliceIndices(%x: tensor<4x4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{requires one start index and one size for each of the 2 dimensions, but got 1 and 2}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @updateElementType(%x: tensor<4xf32>, %u: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error@+1 {{requires an update of element type 'f32', but it is 'tensor<2xi32>'}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xi32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @updateSize(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{part of size 5 does not fit dimension 0 of 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @gatherDimensions(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{requires window, collapsed and batching dimensions for the operand's 2 dimensions, but names 1}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gatherComponents(%x: tensor<7x3xf32>, %i: tensor<5x2xi32>) {
  // expected-error@+1 {{maps 1 components of an index, but it has 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<5x2xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gatherIndexVector(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{index_vector_dim 3 is out of range for indices of rank 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gatherOffsets(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{dimension 2 in the window dimensions is out of range for rank 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gatherSliceSize(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{slice of size 4 does not fit dimension 1 of 'tensor<7x3xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @gatherCollapsed(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{leaves out dimension 0 of a slice, of size 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>}> : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gatherBatching(%x: tensor<4x7xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{batching dimensions differ in size: 0 of 'tensor<4x7xf32>' and 0 of 'tensor<5x1xi32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return
}

// -----

func.func @gatherResult(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{requires a result of type 'tensor<5x3xf32>', but it is 'tensor<3x5xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @scatterRank(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>) {
  // expected-error@+1 {{requires updates of rank 2, but got 'tensor<5xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<7x3xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @scatterWindow(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) {
  // expected-error@+1 {{window dimension 1 of the updates, 'tensor<5x4xf32>', is larger than the operand's, 'tensor<7x3xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<7x3xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @scatterIndices(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>, %u: tensor<6x3xf32>) {
  // expected-error@+1 {{dimension 0 of the updates, 'tensor<6x3xf32>', differs in size from the indices', 'tensor<5x1xi32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<7x3xf32>, tensor<5x1xi32>, tensor<6x3xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @scatterRegion(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>, %u: tensor<5x3xf32>) {
  // expected-error@+1 {{requires a region with 2 arguments, but it has 1}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<7x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<7x3xf32>
  return
}
