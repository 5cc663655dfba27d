// States that trade places, stay, or are read after their new value is known.
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
module @states attributes {amsp.levels = array<i64: 1>, amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  func.func @main(
      %a: tensor<9xf32> {amsp.role = #amsp.role<state>, amsp.result = 0 : i64, amsp.placement = #amsp.placement<replicated>},
      %b: tensor<9xf32> {amsp.role = #amsp.role<state>, amsp.result = 1 : i64, amsp.placement = #amsp.placement<replicated>},
      %c: tensor<9xf32> {amsp.role = #amsp.role<state>, amsp.result = 2 : i64, amsp.placement = #amsp.placement<replicated>},
      %d: tensor<3x3xf32> {amsp.role = #amsp.role<state>, amsp.result = 3 : i64, amsp.placement = #amsp.placement<replicated>},
      %e: tensor<9xf32> {amsp.role = #amsp.role<state>, amsp.result = 4 : i64, amsp.placement = #amsp.placement<replicated>},
      %n: tensor<i32> {amsp.role = #amsp.role<state>, amsp.result = 5 : i64, amsp.placement = #amsp.placement<replicated>},
      %x: tensor<9xf32> {amsp.role = #amsp.role<batch>, amsp.placement = #amsp.placement<replicated>})
      -> (tensor<9xf32> {amsp.argument = 0 : i64, amsp.placement = #amsp.placement<replicated>},
          tensor<9xf32> {amsp.argument = 1 : i64, amsp.placement = #amsp.placement<replicated>},
          tensor<9xf32> {amsp.argument = 2 : i64, amsp.placement = #amsp.placement<replicated>},
          tensor<3x3xf32> {amsp.argument = 3 : i64, amsp.placement = #amsp.placement<replicated>},
          tensor<9xf32> {amsp.argument = 4 : i64, amsp.placement = #amsp.placement<replicated>},
          tensor<i32> {amsp.argument = 5 : i64, amsp.placement = #amsp.placement<replicated>},
          tensor<9xf32> {amsp.placement = #amsp.placement<replicated>},
          tensor<f32> {amsp.placement = #amsp.placement<replicated>},
          tensor<9xf32> {amsp.placement = #amsp.placement<replicated>}) {
    // c becomes c + x, but the old c is used afterwards.
    %empty = tensor.empty() : tensor<9xf32>
    %cNew = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%c, %x : tensor<9xf32>, tensor<9xf32>) outs(%empty : tensor<9xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %s = arith.addf %l, %r : f32
      linalg.yield %s : f32
    } -> tensor<9xf32>
    %product = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%c, %cNew : tensor<9xf32>, tensor<9xf32>) outs(%empty : tensor<9xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %s = arith.mulf %l, %r : f32
      linalg.yield %s : f32
    } -> tensor<9xf32>
    // d becomes e, as a matrix; e becomes 3 applications of e + x.
    %dNew = tensor.expand_shape %e [[0, 1]] output_shape [3, 3] : tensor<9xf32> into tensor<3x3xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %eNew = scf.for %i = %c0 to %c3 step %c1 iter_args(%carry = %e) -> (tensor<9xf32>) {
      %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%carry, %x : tensor<9xf32>, tensor<9xf32>) outs(%empty : tensor<9xf32>) {
      ^bb0(%l: f32, %r: f32, %o: f32):
        %s = arith.addf %l, %r : f32
        linalg.yield %s : f32
      } -> tensor<9xf32>
      scf.yield %next : tensor<9xf32>
    }
    // n counts steps.
    %one = arith.constant 1 : i32
    %nOld = tensor.extract %n[] : tensor<i32>
    %nSum = arith.addi %nOld, %one : i32
    %nNew = tensor.from_elements %nSum : tensor<i32>
    // The largest of c's new values.
    %lowest = arith.constant 0xFF800000 : f32
    %scalar = tensor.empty() : tensor<f32>
    %start = linalg.fill ins(%lowest : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
    %max = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
        ins(%cNew : tensor<9xf32>) outs(%start : tensor<f32>) {
    ^bb0(%v: f32, %o: f32):
      %s = arith.maximumf %v, %o : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    // An old value as a result.
    return %b, %a, %cNew, %dNew, %eNew, %nNew, %product, %max, %b
      : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<3x3xf32>, tensor<9xf32>, tensor<i32>, tensor<9xf32>, tensor<f32>, tensor<9xf32>
  }
}
