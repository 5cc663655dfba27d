// RUN: amsp-opt %s --split-input-file --amsp-verify-program --verify-diagnostics -o /dev/null

// The schedule's own bound, without an option: of the full buffers, with padding,
// also of what is in flight around a loop.

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<15xf32>, tensor<16xf32>) attributes {amsp.prefetch_bytes = 128 : i64} {
    %0 = amsp.all_gather_start %x group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<15xf32>>
    %1 = amsp.all_gather_start %y group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<16xf32>>
    %2 = amsp.await %0 : !amsp.pending<tensor<15xf32>>
    %3 = amsp.await %1 : !amsp.pending<tensor<16xf32>>
    return %2, %3 : tensor<15xf32>, tensor<16xf32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<15xf32>, tensor<16xf32>) attributes {amsp.prefetch_bytes = 127 : i64} {
    %0 = amsp.all_gather_start %x group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<15xf32>>
    // expected-error @below {{'amsp.all_gather_start' op puts 128 bytes in flight, the bound is 127}}
    %1 = amsp.all_gather_start %y group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<16xf32>>
    %2 = amsp.await %0 : !amsp.pending<tensor<15xf32>>
    %3 = amsp.await %1 : !amsp.pending<tensor<16xf32>>
    return %2, %3 : tensor<15xf32>, tensor<16xf32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%x: tensor<8xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {amsp.prefetch_bytes = 64 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %0 = amsp.all_gather_start %x group = <[1:2]> : tensor<8xf32> -> !amsp.pending<tensor<16xf32>>
    %1 = scf.for %i = %zero to %two step %one iter_args(%v = %y) -> tensor<16xf32> {
      // expected-error @below {{'amsp.all_reduce_start' op puts 128 bytes in flight, the bound is 64}}
      %2 = amsp.all_reduce_start sum %v group = <[1:2]> : tensor<16xf32>
      %3 = amsp.await %2 : !amsp.pending<tensor<16xf32>>
      scf.yield %3 : tensor<16xf32>
    }
    %4 = amsp.await %0 : !amsp.pending<tensor<16xf32>>
    return %4, %1 : tensor<16xf32>, tensor<16xf32>
  }
}
