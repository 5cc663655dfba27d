// Three parameters gathered over 2 x 2 ranks: 301 elements leave padding; the
// second is gathered to the pieces of two ranks first; the third is a stack of
// which two dimensions are kept.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
#stack = #amsp.placement<flat, 2, [1:2, 2:2]>
#whole = #amsp.placement<replicated>
module @parameters attributes {amsp.levels = array<i64: 2, 2>, amsp.strategy = {p = array<i64: 2, 1>, g = array<i64: 2, 1>, os = array<i64: 2, 2>}} {
  func.func @main(
      %w: tensor<76xf32> {amsp.role = #amsp.role<param>, amsp.placement = #flat, amsp.global_type = tensor<7x43xf32>},
      %v: tensor<76xbf16> {amsp.role = #amsp.role<param>, amsp.placement = #flat, amsp.global_type = tensor<301xbf16>},
      %s: tensor<2x3x76xf32> {amsp.role = #amsp.role<param>, amsp.placement = #stack, amsp.global_type = tensor<2x3x301xf32>})
      -> (tensor<7x43xf32> {amsp.placement = #whole}, tensor<301xbf16> {amsp.placement = #whole}, tensor<2x3x301xf32> {amsp.placement = #whole}) {
    %0 = amsp.all_gather %w group = <[1:2, 2:2]> parameter = 0 unit = "u" : tensor<76xf32> -> tensor<7x43xf32>
    %1 = amsp.all_gather %v group = <[2:2]> parameter = 1 unit = "u" : tensor<76xbf16> -> tensor<152xbf16>
    %2 = amsp.all_gather %1 group = <[1:2]> parameter = 1 unit = "u" : tensor<152xbf16> -> tensor<301xbf16>
    %3 = amsp.all_gather %s group = <[1:2, 2:2]> keep = 2 parameter = 2 unit = "u" : tensor<2x3x76xf32> -> tensor<2x3x301xf32>
    return %0, %2, %3 : tensor<7x43xf32>, tensor<301xbf16>, tensor<2x3x301xf32>
  }
}
