#row = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#scalar = affine_map<(d0, d1) -> ()>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#at = affine_map<(m, n, k) -> (k, m)>
module @mlp attributes {amsp.levels = array<i64: 2>, amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 2>}} {
  func.func @main(
      %w: tensor<4x3xf32> {amsp.role = #amsp.role<param>, amsp.result = 0 : i64, amsp.placement = #amsp.placement<replicated>, amsp.name = "w", amsp.unit = "u"},
      %m: tensor<6xf32> {amsp.role = #amsp.role<opt_state>, amsp.result = 1 : i64, amsp.placement = #amsp.placement<flat, 0, [1:2]>, amsp.global_type = tensor<4x3xf32>, amsp.name = "m"},
      %x: tensor<5x4xf32> {amsp.role = #amsp.role<batch>, amsp.placement = #amsp.placement<split, 0, [1:2]>, amsp.global_type = tensor<10x4xf32>, amsp.name = "x"})
      -> (tensor<4x3xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>, amsp.placement = #amsp.placement<replicated>},
          tensor<6xf32> {amsp.argument = 1 : i64, amsp.role = #amsp.role<opt_state>, amsp.placement = #amsp.placement<flat, 0, [1:2]>, amsp.global_type = tensor<4x3xf32>},
          tensor<f32> {amsp.placement = #amsp.placement<replicated>}) {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %e0 = tensor.empty() : tensor<5x3xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<5x3xf32>) -> tensor<5x3xf32>
    %y = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<5x4xf32>, tensor<4x3xf32>) outs(%z0 : tensor<5x3xf32>) -> tensor<5x3xf32>
    %t = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<5x3xf32>) outs(%e0 : tensor<5x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.tanh %a : f32
      linalg.yield %r : f32
    } -> tensor<5x3xf32>
    %es = tensor.empty() : tensor<f32>
    %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
    %s = linalg.generic {indexing_maps = [#row, #scalar], iterator_types = ["reduction", "reduction"]} ins(%t : tensor<5x3xf32>) outs(%zs : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %sq = arith.mulf %a, %a : f32
      %r = arith.addf %sq, %o : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    %loss = amsp.all_reduce sum %s group = <[1:2]> : tensor<f32>
    // dy = 2 t (1 - t^2)
    %dy = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<5x3xf32>) outs(%e0 : tensor<5x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %one = arith.constant 1.0 : f32
      %sq = arith.mulf %a, %a : f32
      %d = arith.subf %one, %sq : f32
      %two = arith.addf %a, %a : f32
      %r = arith.mulf %d, %two : f32
      linalg.yield %r : f32
    } -> tensor<5x3xf32>
    %e1 = tensor.empty() : tensor<4x3xf32>
    %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x3xf32>) -> tensor<4x3xf32>
    %g = linalg.contract indexing_maps = [#at, #b, #c] ins(%x, %dy : tensor<5x4xf32>, tensor<5x3xf32>) outs(%z1 : tensor<4x3xf32>) -> tensor<4x3xf32>
    %gp = amsp.reduce_scatter sum %g group = <[1:2]> parameter = 0 unit = "u" : tensor<4x3xf32> -> tensor<6xf32>
    %e2 = tensor.empty() : tensor<6xf32>
    %mn = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%m, %gp : tensor<6xf32>, tensor<6xf32>) outs(%e2 : tensor<6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %h = arith.mulf %a, %half : f32
      %r = arith.addf %h, %b : f32
      linalg.yield %r : f32
    } -> tensor<6xf32>
    %mf = amsp.all_gather %mn group = <[1:2]> parameter = 0 unit = "u" : tensor<6xf32> -> tensor<4x3xf32>
    %wn = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]} ins(%w, %mf : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e1 : tensor<4x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %lr = arith.constant 0.01 : f32
      %h = arith.mulf %b, %lr : f32
      %r = arith.subf %a, %h : f32
      linalg.yield %r : f32
    } -> tensor<4x3xf32>
    return %wn, %mn, %loss : tensor<4x3xf32>, tensor<6xf32>, tensor<f32>
  }
}
