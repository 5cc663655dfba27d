// RUN: amsp-opt %s --amsp-recognize-attention --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// The scan of the backward pass reads the keys that are saved, and the statistics
// of a layer; the softmax is not saved.
// CHECK-LABEL: func.func @saved
// CHECK-SAME: %[[Q:[^,]*]]: tensor<3x8x16xf32>, %[[K:[^,]*]]: tensor<3x7x16xf32>, %[[V:[^ ]*]]: tensor<3x7x16xf32>)
// CHECK-NOT: tensor<4x3x8x7xf32>
// CHECK: %[[F:.*]]:5 = stablehlo.while(%[[LAYER:[^ ]*]] = {{.*}}, %[[MAXS:[^ ]*]] = %[[ZEROS:[^ ]*]], %[[SUMS:[^ ]*]] = %[[ZEROS]]) : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8xf32>, tensor<4x3x8xf32>
// CHECK: %{{.*}}, %[[MAX:.*]], %[[SUM:.*]] = amsp.attention %[[Q]], %{{.*}}, %[[V]] scale = 1.000000e+00
// CHECK: %[[ROWMAX:.*]] = stablehlo.reshape %[[MAX]] : (tensor<3x8xf32>) -> tensor<1x3x8xf32>
// CHECK: stablehlo.dynamic_update_slice %[[MAXS]], %[[ROWMAX]], %[[LAYER]],
// CHECK: %[[ROWSUM:.*]] = stablehlo.reshape %[[SUM]] : (tensor<3x8xf32>) -> tensor<1x3x8xf32>
// CHECK: stablehlo.dynamic_update_slice %[[SUMS]], %[[ROWSUM]], %[[LAYER]],
// CHECK: stablehlo.while(%[[I:[^ ]*]] = %{{.*}}, %[[D:[^ ]*]] = %[[F]]#1)
// CHECK: %[[AT:.*]] = stablehlo.subtract %{{.*}}, %[[I]] : tensor<i32>
// CHECK: %[[SLICE:.*]] = stablehlo.dynamic_slice %[[F]]#2, %[[AT]]
// CHECK: %[[KEYS:.*]] = stablehlo.reshape %[[SLICE]] : (tensor<1x3x7x16xf32>) -> tensor<3x7x16xf32>
// CHECK-NOT: amsp.attention %
// CHECK: %[[MAXAT:.*]] = stablehlo.dynamic_slice %[[F]]#3, %[[AT]],
// CHECK: %[[M:.*]] = stablehlo.reshape %[[MAXAT]] : (tensor<1x3x8xf32>) -> tensor<3x8xf32>
// CHECK: %[[SUMAT:.*]] = stablehlo.dynamic_slice %[[F]]#4, %[[AT]],
// CHECK: %[[S:.*]] = stablehlo.reshape %[[SUMAT]] : (tensor<1x3x8xf32>) -> tensor<3x8xf32>
// CHECK: amsp.attention_backward %[[Q]], %[[KEYS]], %[[V]], %[[M]], %[[S]], %[[D]] scale = 1.000000e+00
// CHECK-NOT: tensor<4x3x8x7xf32>
func.func @saved(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %kstack = stablehlo.constant dense<0.0> : tensor<4x3x7x16xf32>
  %pstack = stablehlo.constant dense<0.0> : tensor<4x3x8x7xf32>
  %f:4 = stablehlo.while(%i = %none, %x = %q, %ks = %kstack, %ps = %pstack) : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %shift = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %shifts = stablehlo.broadcast_in_dim %shift, dims = [] : (tensor<f32>) -> tensor<3x7x16xf32>
    %kk = stablehlo.add %k, %shifts : tensor<3x7x16xf32>
    %0 = stablehlo.dot_general %q, %kk, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
    %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
    %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %y = stablehlo.add %x, %r : tensor<3x8x16xf32>
    %uk = stablehlo.reshape %kk : (tensor<3x7x16xf32>) -> tensor<1x3x7x16xf32>
    %sk = stablehlo.dynamic_update_slice %ks, %uk, %i, %none, %none, %none : (tensor<4x3x7x16xf32>, tensor<1x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x7x16xf32>
    %up = stablehlo.reshape %p : (tensor<3x8x7xf32>) -> tensor<1x3x8x7xf32>
    %sp = stablehlo.dynamic_update_slice %ps, %up, %i, %none, %none, %none : (tensor<4x3x8x7xf32>, tensor<1x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x8x7xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y, %sk, %sp : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  }
  %b:2 = stablehlo.while(%i = %none, %d = %f#1) : tensor<i32>, tensor<3x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %lp = stablehlo.dynamic_slice %f#3, %at, %none, %none, %none, sizes = [1, 3, 8, 7] : (tensor<4x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x8x7xf32>
    %rp = stablehlo.reshape %lp : (tensor<1x3x8x7xf32>) -> tensor<3x8x7xf32>
    %lk = stablehlo.dynamic_slice %f#2, %at, %none, %none, %none, sizes = [1, 3, 7, 16] : (tensor<4x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x7x16xf32>
    %rk = stablehlo.reshape %lk : (tensor<1x3x7x16xf32>) -> tensor<3x7x16xf32>
    %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %7 = stablehlo.multiply %rp, %g : tensor<3x8x7xf32>
    %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %10 = stablehlo.multiply %rp, %9 : tensor<3x8x7xf32>
    %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
    %dq = stablehlo.dot_general %ds, %rk, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %e = stablehlo.add %d, %dq : tensor<3x8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %e : tensor<i32>, tensor<3x8x16xf32>
  }
  return %b#1 : tensor<3x8x16xf32>
}

// -----

// The step returns the weights of all layers.
// CHECK-LABEL: func.func @returned
// CHECK-NOT: amsp.attention
func.func @returned(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x16xf32>) -> (tensor<3x8x16xf32>, tensor<4x3x8x7xf32>) {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %kstack = stablehlo.constant dense<0.0> : tensor<4x3x7x16xf32>
  %pstack = stablehlo.constant dense<0.0> : tensor<4x3x8x7xf32>
  %f:4 = stablehlo.while(%i = %none, %x = %q, %ks = %kstack, %ps = %pstack) : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %shift = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %shifts = stablehlo.broadcast_in_dim %shift, dims = [] : (tensor<f32>) -> tensor<3x7x16xf32>
    %kk = stablehlo.add %k, %shifts : tensor<3x7x16xf32>
    // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.dynamic_update_slice' reads it, or what is made of it}}
    %0 = stablehlo.dot_general %q, %kk, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
    %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
    %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %y = stablehlo.add %x, %r : tensor<3x8x16xf32>
    %uk = stablehlo.reshape %kk : (tensor<3x7x16xf32>) -> tensor<1x3x7x16xf32>
    %sk = stablehlo.dynamic_update_slice %ks, %uk, %i, %none, %none, %none : (tensor<4x3x7x16xf32>, tensor<1x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x7x16xf32>
    %up = stablehlo.reshape %p : (tensor<3x8x7xf32>) -> tensor<1x3x8x7xf32>
    // expected-note @+1 {{here, into 2688 bytes of all iterations}}
    %sp = stablehlo.dynamic_update_slice %ps, %up, %i, %none, %none, %none : (tensor<4x3x8x7xf32>, tensor<1x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x8x7xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y, %sk, %sp : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  }
  %b:2 = stablehlo.while(%i = %none, %d = %f#1) : tensor<i32>, tensor<3x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %lp = stablehlo.dynamic_slice %f#3, %at, %none, %none, %none, sizes = [1, 3, 8, 7] : (tensor<4x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x8x7xf32>
    %rp = stablehlo.reshape %lp : (tensor<1x3x8x7xf32>) -> tensor<3x8x7xf32>
    %lk = stablehlo.dynamic_slice %f#2, %at, %none, %none, %none, sizes = [1, 3, 7, 16] : (tensor<4x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x7x16xf32>
    %rk = stablehlo.reshape %lk : (tensor<1x3x7x16xf32>) -> tensor<3x7x16xf32>
    %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %7 = stablehlo.multiply %rp, %g : tensor<3x8x7xf32>
    %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %10 = stablehlo.multiply %rp, %9 : tensor<3x8x7xf32>
    %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
    %dq = stablehlo.dot_general %ds, %rk, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %e = stablehlo.add %d, %dq : tensor<3x8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %e : tensor<i32>, tensor<3x8x16xf32>
  }
  return %b#1, %f#3 : tensor<3x8x16xf32>, tensor<4x3x8x7xf32>
}

// -----

// The first slice is not written, so what is read of it is no softmax.
// CHECK-LABEL: func.func @written_in_part
// CHECK-NOT: amsp.attention
func.func @written_in_part(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %kstack = stablehlo.constant dense<0.0> : tensor<4x3x7x16xf32>
  %pstack = stablehlo.constant dense<0.0> : tensor<4x3x8x7xf32>
  %f:4 = stablehlo.while(%i = %one, %x = %q, %ks = %kstack, %ps = %pstack) : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %shift = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %shifts = stablehlo.broadcast_in_dim %shift, dims = [] : (tensor<f32>) -> tensor<3x7x16xf32>
    %kk = stablehlo.add %k, %shifts : tensor<3x7x16xf32>
    // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.dynamic_update_slice' reads it, or what is made of it}}
    %0 = stablehlo.dot_general %q, %kk, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
    %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
    %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %y = stablehlo.add %x, %r : tensor<3x8x16xf32>
    %uk = stablehlo.reshape %kk : (tensor<3x7x16xf32>) -> tensor<1x3x7x16xf32>
    %sk = stablehlo.dynamic_update_slice %ks, %uk, %i, %none, %none, %none : (tensor<4x3x7x16xf32>, tensor<1x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x7x16xf32>
    %up = stablehlo.reshape %p : (tensor<3x8x7xf32>) -> tensor<1x3x8x7xf32>
    // expected-note @+1 {{here, into 2688 bytes of all iterations}}
    %sp = stablehlo.dynamic_update_slice %ps, %up, %i, %none, %none, %none : (tensor<4x3x8x7xf32>, tensor<1x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x8x7xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y, %sk, %sp : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  }
  %b:2 = stablehlo.while(%i = %none, %d = %f#1) : tensor<i32>, tensor<3x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %lp = stablehlo.dynamic_slice %f#3, %at, %none, %none, %none, sizes = [1, 3, 8, 7] : (tensor<4x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x8x7xf32>
    %rp = stablehlo.reshape %lp : (tensor<1x3x8x7xf32>) -> tensor<3x8x7xf32>
    %lk = stablehlo.dynamic_slice %f#2, %at, %none, %none, %none, sizes = [1, 3, 7, 16] : (tensor<4x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x7x16xf32>
    %rk = stablehlo.reshape %lk : (tensor<1x3x7x16xf32>) -> tensor<3x7x16xf32>
    %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %7 = stablehlo.multiply %rp, %g : tensor<3x8x7xf32>
    %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %10 = stablehlo.multiply %rp, %9 : tensor<3x8x7xf32>
    %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
    %dq = stablehlo.dot_general %ds, %rk, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %e = stablehlo.add %d, %dq : tensor<3x8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %e : tensor<i32>, tensor<3x8x16xf32>
  }
  return %b#1 : tensor<3x8x16xf32>
}

// -----

// The scan of the backward pass makes no gradient of an attention of what it
// reads: it reads the softmax as before.
// CHECK-LABEL: func.func @other_gradient
// CHECK-NOT: amsp.attention
func.func @other_gradient(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %kstack = stablehlo.constant dense<0.0> : tensor<4x3x7x16xf32>
  %pstack = stablehlo.constant dense<0.0> : tensor<4x3x8x7xf32>
  %f:4 = stablehlo.while(%i = %none, %x = %q, %ks = %kstack, %ps = %pstack) : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %shift = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %shifts = stablehlo.broadcast_in_dim %shift, dims = [] : (tensor<f32>) -> tensor<3x7x16xf32>
    %kk = stablehlo.add %k, %shifts : tensor<3x7x16xf32>
    // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.dynamic_update_slice' reads it, or what is made of it}}
    %0 = stablehlo.dot_general %q, %kk, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
    %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
    %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %y = stablehlo.add %x, %r : tensor<3x8x16xf32>
    %uk = stablehlo.reshape %kk : (tensor<3x7x16xf32>) -> tensor<1x3x7x16xf32>
    %sk = stablehlo.dynamic_update_slice %ks, %uk, %i, %none, %none, %none : (tensor<4x3x7x16xf32>, tensor<1x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x7x16xf32>
    %up = stablehlo.reshape %p : (tensor<3x8x7xf32>) -> tensor<1x3x8x7xf32>
    // expected-note @+1 {{here, into 2688 bytes of all iterations}}
    %sp = stablehlo.dynamic_update_slice %ps, %up, %i, %none, %none, %none : (tensor<4x3x8x7xf32>, tensor<1x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x8x7xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y, %sk, %sp : tensor<i32>, tensor<3x8x16xf32>, tensor<4x3x7x16xf32>, tensor<4x3x8x7xf32>
  }
  %b:2 = stablehlo.while(%i = %none, %d = %f#1) : tensor<i32>, tensor<3x8x16xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %lp = stablehlo.dynamic_slice %f#3, %at, %none, %none, %none, sizes = [1, 3, 8, 7] : (tensor<4x3x8x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x8x7xf32>
    %rp = stablehlo.reshape %lp : (tensor<1x3x8x7xf32>) -> tensor<3x8x7xf32>
    %lk = stablehlo.dynamic_slice %f#2, %at, %none, %none, %none, sizes = [1, 3, 7, 16] : (tensor<4x3x7x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x7x16xf32>
    %rk = stablehlo.reshape %lk : (tensor<1x3x7x16xf32>) -> tensor<3x7x16xf32>
    %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
    %7 = stablehlo.multiply %rp, %g : tensor<3x8x7xf32>
    %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
    %10 = stablehlo.add %rp, %9 : tensor<3x8x7xf32>
    %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
    %dq = stablehlo.dot_general %ds, %rk, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
    %e = stablehlo.add %d, %dq : tensor<3x8x16xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %e : tensor<i32>, tensor<3x8x16xf32>
  }
  return %b#1 : tensor<3x8x16xf32>
}
