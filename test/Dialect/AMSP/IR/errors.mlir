// RUN: amsp-opt %s -split-input-file -verify-diagnostics

func.func @too_small(%piece: tensor<7xf32>) -> tensor<31xf32> {
  // expected-error @+1 {{pieces of 7 elements on 4 ranks cannot hold 31}}
  %0 = amsp.all_gather %piece group = <[1:4]> : tensor<7xf32> -> tensor<31xf32>
  return %0 : tensor<31xf32>
}

// -----

func.func @not_divided(%full: tensor<5x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{a group of 2 does not divide dimension 0 of 'tensor<5x2xf32>'}}
  %0 = amsp.reduce_scatter sum %full group = <[1:2]> dim = 0 : tensor<5x2xf32> -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @wrong_piece(%full: tensor<4x2xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{expected a piece of shape [2, 2], got 'tensor<2x3xf32>'}}
  %0 = amsp.local_slice %full group = <[1:2]> dim = 0 : tensor<4x2xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @dim_range(%full: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{dim 1 is out of range for 'tensor<4xf32>'}}
  %0 = amsp.local_slice %full group = <[1:1]> dim = 1 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @flat_rank(%full: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{a flat piece of 'tensor<4x4xf32>' has its 0 kept dimensions and one more, got 'tensor<2x4xf32>'}}
  %0 = amsp.local_slice %full group = <[1:2]> : tensor<4x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @types(%full: tensor<4xf32>) -> tensor<2xf64> {
  // expected-error @+1 {{full side and piece differ in element type}}
  %0 = amsp.local_slice %full group = <[1:2]> : tensor<4xf32> -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// -----

func.func @digit(%full: tensor<4xf32>) {
  // expected-error @+1 {{a digit needs a positive stride and size, got 0:2}}
  %0 = amsp.all_reduce sum %full group = <[0:2]> : tensor<4xf32>
  return
}

// -----

func.func @element_types(%a: tensor<4xf32>, %b: tensor<4xbf16>) {
  // expected-error @+1 {{tensors differ in element type: 'f32' and 'bf16'}}
  %0:2 = amsp.all_reduce sum %a, %b group = <[1:2]> : tensor<4xf32>, tensor<4xbf16>
  return
}

// -----

func.func @no_pieces(%a: tensor<4xf32>) {
  // expected-error @+1 {{has no pieces, so neither dim nor keep}}
  %0 = amsp.all_reduce sum %a group = <[1:2]> dim = 0 : tensor<4xf32>
  return
}

// -----

func.func @unequal_pieces(%a: tensor<6x4xi8>) {
  // expected-error @+1 {{cannot cut 'tensor<6x4xi8>' in 4 equal pieces}}
  %0 = amsp.all_to_all %a group = <[1:4]> dim = 0 : tensor<6x4xi8>
  return
}

// -----

func.func @unequal_flat_pieces(%a: tensor<6x5xi8>) {
  // expected-error @+1 {{cannot cut 'tensor<6x5xi8>' in 4 equal pieces}}
  %0 = amsp.all_to_all %a group = <[1:4]> : tensor<6x5xi8>
  return
}

// -----

func.func @no_such_dimension(%a: tensor<4xi8>) {
  // expected-error @+1 {{cannot cut 'tensor<4xi8>' along dimension 1}}
  %0 = amsp.all_to_all %a group = <[1:4]> dim = 1 : tensor<4xi8>
  return
}

// -----

func.func @too_many_kept(%a: tensor<4xi8>) {
  // expected-error @+1 {{cannot keep 2 dimensions of 'tensor<4xi8>'}}
  %0 = amsp.all_to_all %a group = <[1:4]> keep = 2 : tensor<4xi8>
  return
}

// -----

func.func @exchanged_type(%a: tensor<4xi8>) {
  // expected-error @+1 {{changes 'tensor<4xi8>' to 'tensor<2x2xi8>'}}
  %0 = "amsp.all_to_all"(%a) <{group = #amsp.group<[1:2]>, parts = [#amsp.part<>]}> : (tensor<4xi8>) -> tensor<2x2xi8>
  return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{moves no tensor}}
  "amsp.all_gather"() <{group = #amsp.group<[1:2]>, parts = []}> : () -> ()
  return
}

// -----

func.func @parts(%a: tensor<4xf32>) {
  // expected-error @+1 {{has 1 operands, 1 results and 2 parts}}
  %0 = "amsp.all_gather"(%a) <{group = #amsp.group<[1:2]>, parts = [#amsp.part<>, #amsp.part<>]}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @results(%a: tensor<4xf32>) {
  // expected-error @+1 {{has 1 operands, 0 results and 1 parts}}
  "amsp.all_gather"(%a) <{group = #amsp.group<[1:2]>, parts = [#amsp.part<>]}> : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @list(%a: tensor<4xf32>) {
  // expected-error @+1 {{parameter lists 2 values for 1 tensors}}
  %0 = amsp.all_gather %a group = <[1:2]> parameter = [1, 2] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @await_argument(%p: !amsp.pending<tensor<4xf32>>) {
  // expected-error @+1 {{awaits what no start made here: a pending tensor is not carried through loops or branches}}
  %0 = amsp.await %p : !amsp.pending<tensor<4xf32>>
  return
}

// -----

func.func @await_part(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %p:2 = amsp.all_reduce_start sum %a, %b group = <[1:2]> : tensor<4xf32>, tensor<4xf32>
  // expected-error @+1 {{awaits something else than all results of one start}}
  %0 = amsp.await %p#0 : !amsp.pending<tensor<4xf32>>
  return
}

// -----

func.func @await_elsewhere(%a: tensor<4xf32>, %b: i1) {
  %p = amsp.all_reduce_start sum %a group = <[1:2]> : tensor<4xf32>
  scf.if %b {
    // expected-error @+1 {{is in another block than its start}}
    %0 = amsp.await %p : !amsp.pending<tensor<4xf32>>
  }
  return
}

// -----

func.func @await_twice(%a: tensor<4xf32>) {
  %p = amsp.all_reduce_start sum %a group = <[1:2]> : tensor<4xf32>
  // expected-error @+1 {{is not the only use of its start}}
  %0 = amsp.await %p : !amsp.pending<tensor<4xf32>>
  %1 = amsp.await %p : !amsp.pending<tensor<4xf32>>
  return
}

// -----

func.func @await_nothing() {
  // expected-error @+1 {{awaits nothing}}
  "amsp.await"() : () -> ()
  return
}

// -----

func.func @pending_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{changes 'tensor<4xf32>' to 'tensor<5xf32>'}}
  %p = "amsp.all_reduce_start"(%a) <{group = #amsp.group<[1:2]>, parts = [#amsp.part<>], reduction = #amsp<reduction sum>}> : (tensor<4xf32>) -> !amsp.pending<tensor<5xf32>>
  return
}

// -----

func.func @in_flight_elsewhere(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %f = amsp.exchange_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [4], piece = [4], "a"> %a into %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected sources and results of one exchange_start in this block}}
  %0 = amsp.exchange_await %b into %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @in_flight_used(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %f = amsp.exchange_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [4], piece = [4], "a"> %a into %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{a tensor in flight has another use}}
  %0 = amsp.exchange_await %a into %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}

// -----

func.func @mask_of_no_dimension(%piece: tensor<8xf32>, %value: tensor<f32>) -> tensor<8xf32> {
  // expected-error @+1 {{dim 1 is out of range for 'tensor<8xf32>'}}
  %0 = amsp.mask_padding %piece, %value group = <[1:4]> elements = 31 dim = 1 : tensor<8xf32>, tensor<f32>
  return %0 : tensor<8xf32>
}

// -----

func.func @mask_by_another_type(%piece: tensor<8xf32>, %value: tensor<i32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a value of type 'tensor<f32>', got 'tensor<i32>'}}
  %0 = amsp.mask_padding %piece, %value group = <[1:4]> elements = 31 : tensor<8xf32>, tensor<i32>
  return %0 : tensor<8xf32>
}

// -----

func.func @mask_of_more_than_there_is(%piece: tensor<2x8xf32>, %value: tensor<f32>) -> tensor<2x8xf32> {
  %0 = amsp.mask_padding %piece, %value group = <[1:4]> elements = 32 : tensor<2x8xf32>, tensor<f32>
  %1 = amsp.mask_padding %0, %value group = <[1:4]> elements = 0 dim = 0 : tensor<2x8xf32>, tensor<f32>
  // expected-error @+1 {{expected 0 to 32 elements in pieces of 8, got 33}}
  %2 = amsp.mask_padding %1, %value group = <[1:4]> elements = 33 : tensor<2x8xf32>, tensor<f32>
  return %2 : tensor<2x8xf32>
}

// -----

func.func @mask_of_more_rows_than_there_are(%piece: tensor<2x8xf32>, %value: tensor<f32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected 0 to 8 elements in pieces of 2, got 9}}
  %0 = amsp.mask_padding %piece, %value group = <[1:4]> elements = 9 dim = 0 : tensor<2x8xf32>, tensor<f32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @mask_of_less_than_nothing(%piece: tensor<8xf32>, %value: tensor<f32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected 0 to 32 elements in pieces of 8, got -1}}
  %0 = amsp.mask_padding %piece, %value group = <[1:4]> elements = -1 : tensor<8xf32>, tensor<f32>
  return %0 : tensor<8xf32>
}
