// Collectives in flight over what would harm them: the source is overwritten,
// the destination's buffer is still read, a loop's carry is source and
// destination. 15 elements on 2 ranks leave padding.
#w = #amsp.placement<flat, 0, [1:2]>
#x = #amsp.placement<split, 0, [1:2]>
#all = #amsp.placement<replicated>
#id2 = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>
module @async attributes {amsp.levels = array<i64: 2>, amsp.strategy = {p = array<i64: 2>, g = array<i64: 2>, os = array<i64: 2>}} {
  func.func @main(
      %w: tensor<8xf32> {amsp.role = #amsp.role<param>, amsp.result = 0 : i64, amsp.placement = #w, amsp.global_type = tensor<3x5xf32>, amsp.name = "w"},
      %v: tensor<3x5xf32> {amsp.role = #amsp.role<state>, amsp.result = 1 : i64, amsp.placement = #all, amsp.name = "v"},
      %x: tensor<1xf32> {amsp.role = #amsp.role<batch>, amsp.placement = #x, amsp.global_type = tensor<2xf32>, amsp.name = "x"})
      -> (tensor<8xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>, amsp.placement = #w, amsp.global_type = tensor<3x5xf32>},
          tensor<3x5xf32> {amsp.argument = 1 : i64, amsp.role = #amsp.role<state>, amsp.placement = #all},
          tensor<3x5xf32> {amsp.placement = #all},
          tensor<f32> {amsp.placement = #all}) {
    // The old w is gathered while it is overwritten.
    %old = amsp.all_gather_start %w group = <[1:2]> parameter = 0 : tensor<8xf32> -> !amsp.pending<tensor<3x5xf32>>
    %new = linalg.add ins(%w, %w : tensor<8xf32>, tensor<8xf32>) outs(%w : tensor<8xf32>) -> tensor<8xf32>
    %factor = tensor.collapse_shape %x [] : tensor<1xf32> into tensor<f32>
    %sum = amsp.all_reduce_start sum %factor group = <[1:2]> : tensor<f32>
    %full = amsp.await %old : !amsp.pending<tensor<3x5xf32>>

    // The next v comes from a collective; the old one is read on the way.
    %e = tensor.empty() : tensor<3x5xf32>
    %scaled = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]} ins(%full, %factor : tensor<3x5xf32>, tensor<f32>) outs(%e : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<3x5xf32>
    %next = amsp.all_reduce_start sum %scaled group = <[1:2]> : tensor<3x5xf32>
    %e1 = tensor.empty() : tensor<3x5xf32>
    %double = linalg.add ins(%v, %v : tensor<3x5xf32>, tensor<3x5xf32>) outs(%e1 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %vNew = amsp.await %next : !amsp.pending<tensor<3x5xf32>>

    // Each round sums a rank's carry over both ranks, and adds the carry
    // meanwhile: c becomes sum(c) + 2 c.
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %factor) -> tensor<f32> {
      %p = amsp.all_reduce_start sum %c group = <[1:2]> : tensor<f32>
      %e2 = tensor.empty() : tensor<f32>
      %twice = linalg.add ins(%c, %c : tensor<f32>, tensor<f32>) outs(%e2 : tensor<f32>) -> tensor<f32>
      %s = amsp.await %p : !amsp.pending<tensor<f32>>
      %e3 = tensor.empty() : tensor<f32>
      %n = linalg.add ins(%s, %twice : tensor<f32>, tensor<f32>) outs(%e3 : tensor<f32>) -> tensor<f32>
      scf.yield %n : tensor<f32>
    }
    %all = amsp.await %sum : !amsp.pending<tensor<f32>>
    %total = amsp.all_reduce sum %last group = <[1:2]> : tensor<f32>
    %e4 = tensor.empty() : tensor<f32>
    %both = linalg.add ins(%all, %total : tensor<f32>, tensor<f32>) outs(%e4 : tensor<f32>) -> tensor<f32>
    return %new, %vNew, %double, %both : tensor<8xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<f32>
  }
}
