func.func @main(%w: tensor<3xf32>) -> tensor<3xf32> {
  %0 = amsp.all_gather %w group = <[1:2]> : tensor<3xf32> -> tensor<5xf32>
  %1 = amsp.reduce_scatter sum %0 group = <[1:2]> : tensor<5xf32> -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
