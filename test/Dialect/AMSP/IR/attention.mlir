// RUN: amsp-opt %s -split-input-file -verify-diagnostics | amsp-opt -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @grouped
func.func @grouped(%q: tensor<2x8x6x16xbf16>, %k: tensor<2x4x9x16xbf16>, %v: tensor<2x4x9x3xbf16>,
                   %bias: tensor<1x8x6x9xf32>, %mask: tensor<2x1x1x9xi1>, %d: tensor<2x8x6x3xbf16>) {
  // CHECK: %[[R:.*]], %[[MAX:.*]], %[[SUM:.*]] = amsp.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} scale = 2.500000e-01 causal masked_score = 0xFFF0000000000000
  %r, %max, %sum = amsp.attention %q, %k, %v bias %bias mask %mask scale = 0.25 causal masked_score = 0xFFF0000000000000
      : (tensor<2x8x6x16xbf16>, tensor<2x4x9x16xbf16>, tensor<2x4x9x3xbf16>, tensor<1x8x6x9xf32>, tensor<2x1x1x9xi1>)
      -> (tensor<2x8x6x3xbf16>, tensor<2x8x6xf32>, tensor<2x8x6xf32>)
  // CHECK: amsp.attention_backward %{{.*}}, %{{.*}}, %{{.*}}, %[[MAX]], %[[SUM]], %{{.*}} scale = 1.000000e+00
  %dq, %dk, %dv = amsp.attention_backward %q, %k, %v, %max, %sum, %d scale = 1.0
      : (tensor<2x8x6x16xbf16>, tensor<2x4x9x16xbf16>, tensor<2x4x9x3xbf16>, tensor<2x8x6xf32>, tensor<2x8x6xf32>, tensor<2x8x6x3xbf16>)
      -> (tensor<2x8x6x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x3xbf16>)
  return
}

// Dropout, and the gradient of a bias.
// CHECK-LABEL: func.func @dropped
func.func @dropped(%q: tensor<2x8x6x16xf32>, %k: tensor<2x4x9x16xf32>, %bias: tensor<2x8x6x9xf32>, %keep: tensor<1x8x6x9xi1>) {
  // CHECK: amsp.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} keep %{{.*}} scale = 1.000000e+00 keep_scale = 1.250000e+00
  %r, %max, %sum = amsp.attention %q, %k, %k bias %bias keep %keep scale = 1.0 keep_scale = 1.25
      : (tensor<2x8x6x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<2x8x6x9xf32>, tensor<1x8x6x9xi1>)
      -> (tensor<2x8x6x16xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>)
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = amsp.attention_backward {{.*}} bias %{{.*}} keep %{{.*}} scale = 1.000000e+00 keep_scale = 1.250000e+00
  %dq, %dk, %dv, %dbias = amsp.attention_backward %q, %k, %k, %max, %sum, %r bias %bias keep %keep scale = 1.0 keep_scale = 1.25
      : (tensor<2x8x6x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>, tensor<2x8x6x16xf32>, tensor<2x8x6x9xf32>, tensor<1x8x6x9xi1>)
      -> (tensor<2x8x6x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<1x8x6x9xf32>)
  return
}

// -----

func.func @heads(%q: tensor<8x6x16xf32>, %k: tensor<3x9x16xf32>) {
  // expected-error @+1 {{keys 'tensor<3x9x16xf32>' do not fit the queries 'tensor<8x6x16xf32>'}}
  %r, %max, %sum = amsp.attention %q, %k, %k scale = 1.0
      : (tensor<8x6x16xf32>, tensor<3x9x16xf32>, tensor<3x9x16xf32>) -> (tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  return
}

// -----

func.func @values(%q: tensor<8x6x16xf32>, %k: tensor<4x9x16xf32>, %v: tensor<4x8x16xf32>) {
  // expected-error @+1 {{expected values of shape [4, 9, 16], got 'tensor<4x8x16xf32>'}}
  %r, %max, %sum = amsp.attention %q, %k, %v scale = 1.0
      : (tensor<8x6x16xf32>, tensor<4x9x16xf32>, tensor<4x8x16xf32>) -> (tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  return
}

// -----

func.func @mask(%q: tensor<8x6x16xf32>, %k: tensor<4x9x16xf32>, %mask: tensor<2x6x9xi1>) {
  // expected-error @+1 {{expected a mask of the scores' shape [8, 6, 9] with dimensions of size 1 for those repeated, got 'tensor<2x6x9xi1>'}}
  %r, %max, %sum = amsp.attention %q, %k, %k mask %mask scale = 1.0 masked_score = -1.0
      : (tensor<8x6x16xf32>, tensor<4x9x16xf32>, tensor<4x9x16xf32>, tensor<2x6x9xi1>) -> (tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  return
}

// -----

func.func @score(%q: tensor<8x6x16xf32>, %k: tensor<4x9x16xf32>) {
  // expected-error @+1 {{has a mask, so it needs a masked_score}}
  %r, %max, %sum = amsp.attention %q, %k, %k scale = 1.0 causal
      : (tensor<8x6x16xf32>, tensor<4x9x16xf32>, tensor<4x9x16xf32>) -> (tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  return
}

// -----

func.func @gradient(%q: tensor<8x6x16xf32>, %k: tensor<4x9x16xf32>, %max: tensor<8x6xf32>) {
  // expected-error @+1 {{expected dk of shape [4, 9, 16], got 'tensor<8x9x16xf32>'}}
  %dq, %dk, %dv = amsp.attention_backward %q, %k, %k, %max, %max, %q scale = 1.0
      : (tensor<8x6x16xf32>, tensor<4x9x16xf32>, tensor<4x9x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6x16xf32>)
      -> (tensor<8x6x16xf32>, tensor<8x9x16xf32>, tensor<4x9x16xf32>)
  return
}

// -----

func.func @kept(%q: tensor<8x6x16xf32>, %keep: tensor<8x1x5xi1>) {
  // expected-error @+1 {{expected kept weights of the scores' shape [8, 6, 6] with dimensions of size 1 for those repeated, got 'tensor<8x1x5xi1>'}}
  %r, %max, %sum = amsp.attention %q, %q, %q keep %keep scale = 1.0 keep_scale = 2.0
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x1x5xi1>) -> (tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  return
}

// -----

func.func @no_keep_scale(%q: tensor<8x6x16xf32>, %keep: tensor<8x6x6xi1>) {
  // expected-error @+1 {{drops weights, so it needs a keep_scale}}
  %r, %max, %sum = amsp.attention %q, %q, %q keep %keep scale = 1.0
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x6xi1>) -> (tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  return
}

// -----

func.func @keep_scale_only(%q: tensor<8x6x16xf32>) {
  // expected-error @+1 {{has a keep_scale, but drops no weights}}
  %r, %max, %sum = amsp.attention %q, %q, %q scale = 1.0 keep_scale = 2.0
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>) -> (tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  return
}

// -----

func.func @gradient_of_no_bias(%q: tensor<8x6x16xf32>, %max: tensor<8x6xf32>) {
  // expected-error @+1 {{gives the gradient of a bias, but has none}}
  %dq, %dk, %dv, %dbias = amsp.attention_backward %q, %q, %q, %max, %max, %q scale = 1.0
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6x16xf32>)
      -> (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<1x6x6xf32>)
  return
}

// -----

func.func @gradient_of_bias(%q: tensor<8x6x16xf32>, %max: tensor<8x6xf32>, %bias: tensor<8x6x6xf32>) {
  // expected-error @+1 {{expected a gradient of the bias of the scores' shape [8, 6, 6] with dimensions of size 1 for those repeated, got 'tensor<4x6x6xf32>'}}
  %dq, %dk, %dv, %dbias = amsp.attention_backward %q, %q, %q, %max, %max, %q bias %bias scale = 1.0
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6x16xf32>, tensor<8x6x6xf32>)
      -> (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<4x6x6xf32>)
  return
}
