// RUN: amsp-opt %s --amsp-recognize-attention --canonicalize --cse -split-input-file | FileCheck %s

// Queries that are computed again, of a parameter's slice and what is saved of
// the layer's input, behind a barrier.
// CHECK-LABEL: func.func @computed_again
// CHECK: amsp.attention %
// CHECK: stablehlo.while
// CHECK-NOT: amsp.attention %
// CHECK: amsp.attention_backward
func.func @computed_again(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %d: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %stack = stablehlo.constant dense<0.0> : tensor<4x8x16xf32>
  %f:3 = stablehlo.while(%i = %none, %h = %x, %hs = %stack) : tensor<i32>, tensor<8x16xf32>, tensor<4x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %w, %i, %none, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %sum = stablehlo.add %h, %rows : tensor<8x16xf32>
    %q = stablehlo.reshape %sum : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %k = stablehlo.reshape %h : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %r:3 = amsp.attention %q, %k, %k scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
    %y = stablehlo.reshape %r#0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %hu = stablehlo.reshape %h : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %s = stablehlo.dynamic_update_slice %hs, %hu, %i, %none, %none : (tensor<4x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y, %s : tensor<i32>, tensor<8x16xf32>, tensor<4x8x16xf32>
  }
  %b:2 = stablehlo.while(%i = %none, %g = %d) : tensor<i32>, tensor<8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %read = stablehlo.dynamic_slice %f#2, %at, %none, %none, sizes = [1, 8, 16] : (tensor<4x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %was = stablehlo.reshape %read : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %part = stablehlo.dynamic_slice %w, %at, %none, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %both:2 = stablehlo.optimization_barrier %was, %part : tensor<8x16xf32>, tensor<1x16xf32>
    %rows = stablehlo.broadcast_in_dim %both#1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %sum = stablehlo.add %both#0, %rows : tensor<8x16xf32>
    %q = stablehlo.reshape %sum : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %k = stablehlo.reshape %both#0 : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %r:3 = amsp.attention %q, %k, %k scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
    %gr = stablehlo.reshape %g : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %t:3 = amsp.attention_backward %q, %k, %k, %r#1, %r#2, %gr scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>)
    %e = stablehlo.reshape %t#0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %e : tensor<i32>, tensor<8x16xf32>
  }
  return %b#1 : tensor<8x16xf32>
}

// -----

// Queries of another layer than the keys.
// CHECK-LABEL: func.func @of_two_layers
// CHECK-COUNT-2: amsp.attention %
// CHECK: amsp.attention_backward
func.func @of_two_layers(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %d: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %stack = stablehlo.constant dense<0.0> : tensor<4x8x16xf32>
  %f:3 = stablehlo.while(%i = %none, %h = %x, %hs = %stack) : tensor<i32>, tensor<8x16xf32>, tensor<4x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %w, %i, %none, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %sum = stablehlo.add %h, %rows : tensor<8x16xf32>
    %q = stablehlo.reshape %sum : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %k = stablehlo.reshape %h : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %r:3 = amsp.attention %q, %k, %k scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
    %y = stablehlo.reshape %r#0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %hu = stablehlo.reshape %h : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %s = stablehlo.dynamic_update_slice %hs, %hu, %i, %none, %none : (tensor<4x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y, %s : tensor<i32>, tensor<8x16xf32>, tensor<4x8x16xf32>
  }
  %b:2 = stablehlo.while(%i = %none, %g = %d) : tensor<i32>, tensor<8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %read = stablehlo.dynamic_slice %f#2, %at, %none, %none, sizes = [1, 8, 16] : (tensor<4x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %was = stablehlo.reshape %read : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %part = stablehlo.dynamic_slice %w, %i, %none, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %both:2 = stablehlo.optimization_barrier %was, %part : tensor<8x16xf32>, tensor<1x16xf32>
    %rows = stablehlo.broadcast_in_dim %both#1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %sum = stablehlo.add %both#0, %rows : tensor<8x16xf32>
    %q = stablehlo.reshape %sum : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %k = stablehlo.reshape %both#0 : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %r:3 = amsp.attention %q, %k, %k scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
    %gr = stablehlo.reshape %g : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %t:3 = amsp.attention_backward %q, %k, %k, %r#1, %r#2, %gr scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>)
    %e = stablehlo.reshape %t#0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %e : tensor<i32>, tensor<8x16xf32>
  }
  return %b#1 : tensor<8x16xf32>
}

// -----

// Queries that are made of the same values otherwise.
// CHECK-LABEL: func.func @of_other_queries
// CHECK-COUNT-2: amsp.attention %
// CHECK: amsp.attention_backward
func.func @of_other_queries(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %d: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %stack = stablehlo.constant dense<0.0> : tensor<4x8x16xf32>
  %f:3 = stablehlo.while(%i = %none, %h = %x, %hs = %stack) : tensor<i32>, tensor<8x16xf32>, tensor<4x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %w, %i, %none, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %sum = stablehlo.add %h, %rows : tensor<8x16xf32>
    %q = stablehlo.reshape %sum : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %k = stablehlo.reshape %h : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %r:3 = amsp.attention %q, %k, %k scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
    %y = stablehlo.reshape %r#0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %hu = stablehlo.reshape %h : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %s = stablehlo.dynamic_update_slice %hs, %hu, %i, %none, %none : (tensor<4x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y, %s : tensor<i32>, tensor<8x16xf32>, tensor<4x8x16xf32>
  }
  %b:2 = stablehlo.while(%i = %none, %g = %d) : tensor<i32>, tensor<8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %read = stablehlo.dynamic_slice %f#2, %at, %none, %none, sizes = [1, 8, 16] : (tensor<4x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %was = stablehlo.reshape %read : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %part = stablehlo.dynamic_slice %w, %at, %none, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %both:2 = stablehlo.optimization_barrier %was, %part : tensor<8x16xf32>, tensor<1x16xf32>
    %rows = stablehlo.broadcast_in_dim %both#1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
    %sum = stablehlo.subtract %both#0, %rows : tensor<8x16xf32>
    %q = stablehlo.reshape %sum : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %k = stablehlo.reshape %both#0 : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %r:3 = amsp.attention %q, %k, %k scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
    %gr = stablehlo.reshape %g : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %t:3 = amsp.attention_backward %q, %k, %k, %r#1, %r#2, %gr scale = 1.0 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<1x8x16xf32>)
    %e = stablehlo.reshape %t#0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %e : tensor<i32>, tensor<8x16xf32>
  }
  return %b#1 : tensor<8x16xf32>
}
