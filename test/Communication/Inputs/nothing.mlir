module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<0xf32> {amsp.placement = #amsp.placement<flat, 0, [1:2]>})
      -> (tensor<f32> {amsp.placement = #amsp.placement<replicated>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<0xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
