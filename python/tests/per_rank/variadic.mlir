// Three parameters, all under ZeRO-3 on 2 ranks: gathered by one collective,
// their gradients reduced by one. 15 and 5 elements leave padding.
#w = #amsp.placement<flat, 0, [1:2]>
#v = #amsp.placement<split, 0, [1:2]>
#s = #amsp.placement<flat, 1, [1:2]>
#id2 = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>
module @variadic attributes {amsp.levels = array<i64: 2>, amsp.strategy = {p = array<i64: 2>, g = array<i64: 2>, os = array<i64: 2>}} {
  func.func @main(
      %w: tensor<8xf32> {amsp.role = #amsp.role<param>, amsp.result = 0 : i64, amsp.placement = #w, amsp.global_type = tensor<3x5xf32>, amsp.name = "w", amsp.unit = "u"},
      %v: tensor<2x3xf32> {amsp.role = #amsp.role<param>, amsp.result = 1 : i64, amsp.placement = #v, amsp.global_type = tensor<4x3xf32>, amsp.name = "v", amsp.unit = "u"},
      %s: tensor<2x3xf32> {amsp.role = #amsp.role<param>, amsp.result = 2 : i64, amsp.placement = #s, amsp.global_type = tensor<2x5xf32>, amsp.name = "s", amsp.unit = "t"},
      %x: tensor<1xf32> {amsp.role = #amsp.role<batch>, amsp.placement = #v, amsp.global_type = tensor<2xf32>, amsp.name = "x"})
      -> (tensor<8xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>, amsp.placement = #w, amsp.global_type = tensor<3x5xf32>},
          tensor<2x3xf32> {amsp.argument = 1 : i64, amsp.role = #amsp.role<param>, amsp.placement = #v, amsp.global_type = tensor<4x3xf32>},
          tensor<2x3xf32> {amsp.argument = 2 : i64, amsp.role = #amsp.role<param>, amsp.placement = #s, amsp.global_type = tensor<2x5xf32>},
          tensor<f32> {amsp.placement = #amsp.placement<replicated>},
          tensor<f32> {amsp.placement = #amsp.placement<replicated>}) {
    %full:3 = amsp.all_gather %w, %v, %s group = <[1:2]> dim = [none, 0, none] keep = [0, 0, 1] parameter = [0, 1, 2] unit = ["u", "u", "t"]
        : tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<3x5xf32>, tensor<4x3xf32>, tensor<2x5xf32>
    %factor = tensor.collapse_shape %x [] : tensor<1xf32> into tensor<f32>

    // The gradient of each is the parameter times this rank's row of the batch.
    %ew = tensor.empty() : tensor<3x5xf32>
    %gw = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]} ins(%full#0, %factor : tensor<3x5xf32>, tensor<f32>) outs(%ew : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<3x5xf32>
    %ev = tensor.empty() : tensor<4x3xf32>
    %gv = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]} ins(%full#1, %factor : tensor<4x3xf32>, tensor<f32>) outs(%ev : tensor<4x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x3xf32>
    %es = tensor.empty() : tensor<2x5xf32>
    %gs = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]} ins(%full#2, %factor : tensor<2x5xf32>, tensor<f32>) outs(%es : tensor<2x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5xf32>
    %g:3 = amsp.reduce_scatter sum %gw, %gv, %gs group = <[1:2]> dim = [none, 0, none] keep = [0, 0, 1] parameter = [0, 1, 2] unit = ["u", "u", "t"]
        : tensor<3x5xf32>, tensor<4x3xf32>, tensor<2x5xf32> -> tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>

    %nw = linalg.sub ins(%w, %g#0 : tensor<8xf32>, tensor<8xf32>) outs(%w : tensor<8xf32>) -> tensor<8xf32>
    %nv = linalg.sub ins(%v, %g#1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%v : tensor<2x3xf32>) -> tensor<2x3xf32>
    %ns = linalg.sub ins(%s, %g#2 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%s : tensor<2x3xf32>) -> tensor<2x3xf32>

    // Two scalars share an all_reduce: the sum of x and of its square.
    %e0 = tensor.empty() : tensor<f32>
    %square = linalg.mul ins(%factor, %factor : tensor<f32>, tensor<f32>) outs(%e0 : tensor<f32>) -> tensor<f32>
    %sums:2 = amsp.all_reduce sum %factor, %square group = <[1:2]> : tensor<f32>, tensor<f32>
    return %nw, %nv, %ns, %sums#0, %sums#1 : tensor<8xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>
  }
}
