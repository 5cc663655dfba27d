// Every kind of collective over both levels of 2 x 2 ranks: gathers of flat and
// of whole rows, sums and maxima of each rank's row. 15 elements leave padding.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
#rows = #amsp.placement<split, 0, [1:2, 2:2]>
#batch = #amsp.placement<split, 0, [1:4]>
#whole = #amsp.placement<replicated>
module @two_levels attributes {amsp.levels = array<i64: 2, 2>, amsp.strategy = {p = array<i64: 2, 2>, g = array<i64: 2, 2>, os = array<i64: 2, 2>}} {
  func.func @main(
      %w: tensor<4xf32> {amsp.placement = #flat, amsp.global_type = tensor<3x5xf32>},
      %v: tensor<2x3xf32> {amsp.placement = #rows, amsp.global_type = tensor<8x3xf32>},
      %x: tensor<1x15xf32> {amsp.role = #amsp.role<batch>, amsp.placement = #batch, amsp.global_type = tensor<4x15xf32>})
      -> (tensor<3x5xf32> {amsp.placement = #whole},
          tensor<8x3xf32> {amsp.placement = #whole},
          tensor<4xf32> {amsp.placement = #flat, amsp.global_type = tensor<15xf32>},
          tensor<4xf32> {amsp.placement = #flat, amsp.global_type = tensor<15xf32>},
          tensor<15xf32> {amsp.placement = #whole},
          tensor<15xf32> {amsp.placement = #whole}) {
    %row = tensor.collapse_shape %x [[0, 1]] : tensor<1x15xf32> into tensor<15xf32>
    %0 = amsp.all_gather %w group = <[1:2, 2:2]> : tensor<4xf32> -> tensor<3x5xf32>
    %1 = amsp.all_gather %v group = <[1:2, 2:2]> dim = 0 : tensor<2x3xf32> -> tensor<8x3xf32>
    %2 = amsp.reduce_scatter sum %row group = <[1:2, 2:2]> : tensor<15xf32> -> tensor<4xf32>
    %3 = amsp.reduce_scatter max %row group = <[1:2, 2:2]> : tensor<15xf32> -> tensor<4xf32>
    %4 = amsp.all_reduce sum %row group = <[1:4]> : tensor<15xf32>
    %5 = amsp.all_reduce max %row group = <[1:4]> : tensor<15xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<3x5xf32>, tensor<8x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<15xf32>, tensor<15xf32>
  }
}
