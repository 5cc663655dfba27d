// RUN: amsp-opt %s --split-input-file --amsp-verify-program=prefetch-bytes=100 --verify-diagnostics -o /dev/null

// expected-error @below {{no program of one rank}}
module {
  func.func @main() {
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2, 2>} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    // expected-error @below {{'amsp.all_reduce' op digit 1:3 does not fit a world of 4 ranks}}
    %0 = amsp.all_reduce sum %x group = <[1:3]> : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2, 2>} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    // expected-error @below {{'amsp.all_reduce' op digit 1:2 overlaps another digit of its group}}
    %0 = amsp.all_reduce sum %x group = <[1:2, 1:2]> : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2, 3>} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    // expected-error @below {{'amsp.all_reduce' op digit 1:3 crosses the bounds of a level}}
    %0 = amsp.all_reduce sum %x group = <[1:3]> : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// The predicate is equal within a node only.
module attributes {amsp.levels = array<i64: 2, 2>} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %i = amsp.group_index group = <[1:4]> : tensor<i32>
    %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %s = amsp.all_reduce sum %f group = <[1:2]> : tensor<f32>
    %p = stablehlo.compare EQ, %s, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // expected-note @below {{decided here}}
    %0 = "stablehlo.if"(%p) ({
      // expected-error @below {{'amsp.all_reduce' op runs only on some ranks: what decides may differ along 2:2}}
      %1 = amsp.all_reduce max %x group = <[1:2]> : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }, {
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// A trip count that grows by what ranks hold differently, in the second iteration.
#rows = #amsp.placement<split, 0, [1:2]>
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<1xi32> {amsp.placement = #rows}, %n: tensor<i32>) -> tensor<i32> {
    %own = stablehlo.reshape %x : (tensor<1xi32>) -> tensor<i32>
    // expected-note @below {{decided here}}
    %0:2 = stablehlo.while(%i = %n, %j = %n) : tensor<i32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      // expected-error @below {{'amsp.all_reduce' op runs only on some ranks}}
      %1 = amsp.all_reduce sum %j group = <[1:2]> : tensor<i32>
      stablehlo.return %j, %own : tensor<i32>, tensor<i32>
    }
    return %0#0 : tensor<i32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      // expected-error @below {{'amsp.all_reduce' op is in the body of 'stablehlo.reduce', which is no loop or branch}}
      %1 = amsp.all_reduce sum %a group = <[1:2]> : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    // expected-error @below {{'amsp.all_reduce_start' op is never awaited}}
    %0 = amsp.all_reduce_start sum %x group = <[1:2]> : tensor<f32>
    return %x : tensor<f32>
  }
}

// -----

// 64 bytes each; the first one is awaited too late.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
    %0 = amsp.all_gather_start %x group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<16xf32>>
    // expected-error @below {{'amsp.all_gather_start' op puts 128 bytes in flight, the bound is 100}}
    %1 = amsp.all_gather_start %y group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<16xf32>>
    %2 = amsp.await %0 : !amsp.pending<tensor<16xf32>>
    %3 = amsp.await %1 : !amsp.pending<tensor<16xf32>>
    return %2, %3 : tensor<16xf32>, tensor<16xf32>
  }
}

// -----

// The option comes before the bound of the schedule.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<32xf32>) -> tensor<64xf32> attributes {amsp.prefetch_bytes = 256 : i64} {
    // expected-error @below {{'amsp.all_gather_start' op puts 256 bytes in flight, the bound is 100}}
    %0 = amsp.all_gather_start %x group = <[1:2]> : tensor<32xf32> -> !amsp.pending<tensor<64xf32>>
    %1 = amsp.await %0 : !amsp.pending<tensor<64xf32>>
    return %1 : tensor<64xf32>
  }
}

// -----

// The sum over the nodes is missing.
#rows = #amsp.placement<split, 0, [1:4]>
#replicated = #amsp.placement<replicated>
module attributes {amsp.levels = array<i64: 2, 2>} {
  func.func @main(%x: tensor<1xf32> {amsp.placement = #rows}) -> (tensor<1xf32> {amsp.placement = #replicated}) {
    // expected-error @below {{result 0 is replicated, but may differ between ranks along 2:2}}
    %0 = amsp.all_reduce sum %x group = <[1:2]> : tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}

// -----

// What members exchange differs between them.
#whole = #amsp.placement<replicated>
module attributes {amsp.levels = array<i64: 2, 2>} {
  func.func @main(%x: tensor<4xf32> {amsp.placement = #whole}) -> (tensor<4xf32> {amsp.placement = #whole}) {
    // expected-error @below {{result 0 is replicated, but may differ between ranks along 2:2}}
    %0 = amsp.all_to_all %x group = <[2:2]> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Of the whole side, once.
module attributes {amsp.levels = array<i64: 8>} {
  func.func @main(%x: tensor<8x16xi8>) -> tensor<8x16xi8> {
    // expected-error @below {{'amsp.all_to_all_start' op puts 128 bytes in flight, the bound is 100}}
    %p = amsp.all_to_all_start %x group = <[1:8]> dim = 0 : tensor<8x16xi8>
    %0 = amsp.await %p : !amsp.pending<tensor<8x16xi8>>
    return %0 : tensor<8x16xi8>
  }
}

// -----

// One that is not split is in flight, too, on top of what is.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<8xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {amsp.prefetch_bytes = 100 : i64} {
    %p = amsp.all_gather_start %x group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<16xf32>>
    // expected-error @below {{'amsp.all_gather' op puts 128 bytes in flight, the bound is 100}}
    %1 = amsp.all_gather %x group = <[1:2]> : tensor<8xf32> -> tensor<16xf32>
    %0 = amsp.await %p : !amsp.pending<tensor<16xf32>>
    return %0, %1 : tensor<16xf32>, tensor<16xf32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<32xf32>) -> tensor<64xf32> attributes {amsp.prefetch_bytes = 100 : i64} {
    // expected-error @below {{'amsp.all_gather' op puts 256 bytes in flight, the bound is 100}}
    %0 = amsp.all_gather %x group = <[1:2]> : tensor<32xf32> -> tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    // expected-error @below {{'amsp.all_reduce' op is for parameter 1, which is no argument: the step has 1}}
    %0 = amsp.all_reduce sum %x group = <[1:2]> parameter = 1 : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<4xf32>) -> tensor<2x4xf32> {
    // expected-error @below {{'amsp.all_gather' op is for parameter 3, which is no argument: the step has 1}}
    %0 = amsp.all_gather %x group = <[1:2]> {amsp.packed = {elements = array<i64: 4, 4>, parameters = array<i64: 0, 3>}} : tensor<4xf32> -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<4xf32>) -> tensor<2x4xf32> {
    // expected-error @below {{'amsp.all_gather' op amsp.packed is not two lists of numbers, of equal length: elements and parameters}}
    %0 = amsp.all_gather %x group = <[1:2]> {amsp.packed = {elements = array<i64: 4, 4>, parameters = array<i64: 0>}} : tensor<4xf32> -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}
