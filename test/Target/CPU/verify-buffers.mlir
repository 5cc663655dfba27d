// RUN: amsp-opt %s --split-input-file --amsp-verify-buffers --verify-diagnostics -o /dev/null

#map = affine_map<(i) -> (i)>

// Sources may be read in flight; all else may be touched, also what lies beside.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%w: memref<16xf32>, %out: memref<16xf32>) {
    %a = amsp.arena_view 0 : memref<16xf32>
    %b = amsp.arena_view 64 : memref<16xf32>
    %c = amsp.arena_view 128 : memref<16xf32>
    amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
    amsp.launch @kernel(%a, %c) : memref<16xf32>, memref<16xf32>
    %own = memref.subview %w[8][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
    amsp.collective_start <1, all_gather, sum, <[1:2]>, rows = [1], full = [16], piece = [8], "in place"> %own into %w
      : memref<8xf32, strided<[1], offset: 8>> -> memref<16xf32>
    amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
    memref.copy %b, %out : memref<16xf32> to memref<16xf32>
    amsp.collective_await <1, all_gather, sum, <[1:2]>, rows = [1], full = [16], piece = [8], "in place"> %own into %w
      : memref<8xf32, strided<[1], offset: 8>> -> memref<16xf32>
    return
  }
  func.func private @kernel(%x: memref<16xf32>, %y: memref<16xf32>) {
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    return
  }
}

// -----

// A kernel that writes a source, through a view.
#map = affine_map<(i) -> (i)>
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main() {
    %a = amsp.arena_view 0 : memref<16xf32>
    %b = amsp.arena_view 64 : memref<16xf32>
    // expected-note @below {{started here}}
    amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
    %half = memref.subview %a[8][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
    // expected-error @below {{'amsp.launch' op writes a source of collective 0 ('r') while it is in flight}}
    amsp.launch @kernel(%half) : memref<8xf32, strided<[1], offset: 8>>
    amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
    return
  }
  func.func private @kernel(%y: memref<8xf32>) {
    %c = arith.constant 1.0 : f32
    linalg.fill ins(%c : f32) outs(%y : memref<8xf32>)
    return
  }
}

// -----

// Another buffer at the destination's place in the arena, in a loop.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%out: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = amsp.arena_view 0 : memref<16xf32>
    %b = amsp.arena_view 64 : memref<16xf32>
    %d = amsp.arena_view 112 : memref<4xf32>
    // expected-note @below {{started here}}
    amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
    scf.for %i = %c0 to %c1 step %c1 {
      // expected-error @below {{'memref.copy' op touches a destination of collective 0 ('r') while it is in flight}}
      memref.copy %d, %out : memref<4xf32> to memref<4xf32>
    }
    amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

// Two collectives at once: one's destination is the other's source.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>, %b: memref<16xf32>) {
    // expected-note @below {{started here}}
    amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    // expected-error @below {{'amsp.collective_start' op touches a destination of collective 0 ('r') while it is in flight}}
    amsp.collective_start <1, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "s"> %a into %b : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>) {
    %half = memref.subview %a[8][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
    // expected-error @below {{has a destination that shares memory with a source}}
    amsp.collective_start <0, reduce_scatter, sum, <[1:2]>, rows = [1], full = [16], piece = [8], "r"> %a into %half
      : memref<16xf32> -> memref<8xf32, strided<[1], offset: 8>>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>) {
    // expected-error @below {{is not awaited in its block}}
    amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>) {
    // expected-error @below {{awaits collective 0 ('r'), which is not in flight}}
    amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>, %b: memref<16xf32>) {
    amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    // expected-error @below {{differs from its start}}
    amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>, %p: i1) {
    amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    scf.if %p {
      // expected-error @below {{is in another block than its start}}
      amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    }
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>) {
    amsp.collective_start <3, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    amsp.collective_await <3, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    // expected-error @below {{has id 2 after 3: ids follow the program's order}}
    amsp.collective_start <2, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<8xf32>, %b: memref<17xf32>) {
    // expected-error @below {{has pieces of 8 for 17 elements over 2 ranks}}
    amsp.collective_start <0, all_gather, sum, <[1:2]>, rows = [1], full = [17], piece = [8], "r"> %a into %b : memref<8xf32> -> memref<17xf32>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>) {
    // expected-error @below {{digit 2:2 does not fit a world of 2 ranks}}
    amsp.collective_start <0, all_reduce, sum, <[2:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xf32>) {
    %r = amsp.rank_number
    %c0 = arith.constant 0 : index
    %p = arith.cmpi eq, %r, %c0 : index
    // expected-error @below {{runs collectives depending on the rank's number}}
    scf.if %p {
      amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
      amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %a : memref<16xf32> -> memref<16xf32>
    }
    return
  }
}

// -----

// The bound of the schedule: of the full sides, with padding.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%w: memref<8xf32>, %x: memref<16xf32>) attributes {amsp.prefetch_bytes = 127 : i64} {
    %a = amsp.arena_view 0 : memref<15xf32>
    %b = amsp.arena_view 64 : memref<16xf32>
    amsp.collective_start <0, all_gather, sum, <[1:2]>, rows = [1], full = [15], piece = [8], "g"> %w into %a : memref<8xf32> -> memref<15xf32>
    // expected-error @below {{'amsp.collective_start' op puts 128 bytes in flight, the bound is 127}}
    amsp.collective_start <1, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %x into %b : memref<16xf32> -> memref<16xf32>
    amsp.collective_await <0, all_gather, sum, <[1:2]>, rows = [1], full = [15], piece = [8], "g"> %w into %a : memref<8xf32> -> memref<15xf32>
    amsp.collective_await <1, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %x into %b : memref<16xf32> -> memref<16xf32>
    return
  }
}

// -----

// Nothing is exchanged in place: a peer may still read what another one wrote.
module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<16xi8>) {
    // expected-error @below {{has a destination that shares memory with a source}}
    amsp.collective_start <0, all_to_all, sum, <[1:2]>, rows = [1], full = [16], piece = [8], "x"> %a into %a : memref<16xi8> -> memref<16xi8>
    amsp.collective_await <0, all_to_all, sum, <[1:2]>, rows = [1], full = [16], piece = [8], "x"> %a into %a : memref<16xi8> -> memref<16xi8>
    return
  }
}

// -----

module attributes {amsp.levels = array<i64: 2>} {
  func.func @main(%a: memref<15xi8>, %b: memref<15xi8>) {
    // expected-error @below {{has pieces of 8 for 15 elements over 2 ranks}}
    amsp.collective_start <0, all_to_all, sum, <[1:2]>, rows = [1], full = [15], piece = [8], "x"> %a into %b : memref<15xi8> -> memref<15xi8>
    amsp.collective_await <0, all_to_all, sum, <[1:2]>, rows = [1], full = [15], piece = [8], "x"> %a into %b : memref<15xi8> -> memref<15xi8>
    return
  }
}
