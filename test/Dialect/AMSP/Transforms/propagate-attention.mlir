// RUN: amsp-opt %s --amsp-annotate-roles='batch-args=0' --amsp-propagate-placements='world=4' -split-input-file | FileCheck %s

// Rows of the batch.
// CHECK-LABEL: func.func public @rows
func.func public @rows(%q: tensor<8x6x16x4xf32>, %k: tensor<8x2x16x4xf32>, %mask: tensor<8x1x1x16xi1>) -> (tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>) {
  // CHECK: amsp.attention {{.*}}amsp.made = ["split(0)", "split(0)", "split(0)"]
  %r, %max, %sum = amsp.attention %q, %k, %k mask %mask scale = 1.0 masked_score = -1.0
      : (tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x1x1x16xi1>) -> (tensor<8x6x16x4xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>)
  // CHECK: amsp.attention_backward {{.*}}amsp.made = ["split(0)", "split(0)", "split(0)"]
  %dq, %dk, %dv = amsp.attention_backward %q, %k, %k, %max, %sum, %r mask %mask scale = 1.0 masked_score = -1.0
      : (tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16x4xf32>, tensor<8x1x1x16xi1>)
      -> (tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x2x16x4xf32>)
  return %dq, %dk : tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>
}

// -----

// Queries: each rank's add to the gradients of all keys.
// CHECK-LABEL: func.func public @queries
func.func public @queries(%x: tensor<16x4xf32>, %k: tensor<2x16x4xf32>) -> (tensor<2x16x4xf32>, tensor<2x16x4xf32>) {
  %q = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<16x4xf32>) -> tensor<6x16x4xf32>
  // CHECK: amsp.attention {{.*}}amsp.made = ["split(1)", "split(1)", "split(1)"]
  %r, %max, %sum = amsp.attention %q, %k, %k scale = 1.0
      : (tensor<6x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>) -> (tensor<6x16x4xf32>, tensor<6x16xf32>, tensor<6x16xf32>)
  // CHECK: amsp.attention_backward {{.*}}amsp.made = ["split(1)", "partial(sum, batch)", "partial(sum, batch)"]
  %dq, %dk, %dv = amsp.attention_backward %q, %k, %k, %max, %sum, %r scale = 1.0
      : (tensor<6x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16x4xf32>)
      -> (tensor<6x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>)
  return %dk, %dv : tensor<2x16x4xf32>, tensor<2x16x4xf32>
}

// -----

// A causal mask must know which queries they are; heads that share keys stay together.
// CHECK-LABEL: func.func public @whole
func.func public @whole(%x: tensor<16x4xf32>, %k: tensor<2x16x4xf32>) -> (tensor<6x16x4xf32>, tensor<2x16x4xf32>) {
  %q = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<16x4xf32>) -> tensor<6x16x4xf32>
  // CHECK: amsp.attention {{.*}}amsp.made = ["replicated", "replicated", "replicated"]
  %r, %max, %sum = amsp.attention %q, %k, %k scale = 1.0 causal masked_score = -1.0
      : (tensor<6x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>) -> (tensor<6x16x4xf32>, tensor<6x16xf32>, tensor<6x16xf32>)
  return %r, %k : tensor<6x16x4xf32>, tensor<2x16x4xf32>
}

// -----

// A mask of dropout that each row has is split with the rows; the gradient of a
// bias that they share is a sum over the ranks.
// CHECK-LABEL: func.func public @dropped
func.func public @dropped(%q: tensor<8x6x16x4xf32>, %k: tensor<8x2x16x4xf32>, %keep: tensor<8x6x16x16xi1>, %bias: tensor<1x6x16x16xf32>) -> (tensor<8x6x16x4xf32>, tensor<1x6x16x16xf32>) {
  // CHECK: amsp.attention {{.*}}amsp.made = ["split(0)", "split(0)", "split(0)"]
  // CHECK-SAME: tensor<8x6x16x16xi1>
  %r, %max, %sum = amsp.attention %q, %k, %k bias %bias keep %keep scale = 1.0 keep_scale = 2.0
      : (tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x2x16x4xf32>, tensor<1x6x16x16xf32>, tensor<8x6x16x16xi1>) -> (tensor<8x6x16x4xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>)
  // CHECK: amsp.attention_backward {{.*}}amsp.made = ["split(0)", "split(0)", "split(0)", "partial(sum, batch)"]
  %dq, %dk, %dv, %dbias = amsp.attention_backward %q, %k, %k, %max, %sum, %r bias %bias keep %keep scale = 1.0 keep_scale = 2.0
      : (tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<8x6x16x4xf32>, tensor<1x6x16x16xf32>, tensor<8x6x16x16xi1>)
      -> (tensor<8x6x16x4xf32>, tensor<8x2x16x4xf32>, tensor<8x2x16x4xf32>, tensor<1x6x16x16xf32>)
  return %dq, %dbias : tensor<8x6x16x4xf32>, tensor<1x6x16x16xf32>
}

// -----

// Split queries: the gradient of a bias that each query has is split, too.
// CHECK-LABEL: func.func public @bias_of_queries
func.func public @bias_of_queries(%x: tensor<16x4xf32>, %k: tensor<6x16x4xf32>, %bias: tensor<1x16x16xf32>) -> (tensor<1x16x16xf32>, tensor<6x1x16xf32>) {
  %q = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<16x4xf32>) -> tensor<6x16x4xf32>
  %r, %max, %sum = amsp.attention %q, %k, %k bias %bias scale = 1.0
      : (tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<1x16x16xf32>) -> (tensor<6x16x4xf32>, tensor<6x16xf32>, tensor<6x16xf32>)
  // CHECK: amsp.attention_backward {{.*}}amsp.made = ["split(1)", "partial(sum, batch)", "partial(sum, batch)", "split(1)"]
  %dq, %dk, %dv, %each = amsp.attention_backward %q, %k, %k, %max, %sum, %r bias %bias scale = 1.0
      : (tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16x4xf32>, tensor<1x16x16xf32>)
      -> (tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<1x16x16xf32>)
  // CHECK: amsp.attention_backward {{.*}}amsp.made = ["split(1)", "partial(sum, batch)", "partial(sum, batch)", "partial(sum, batch)"]
  %eq, %ek, %ev, %shared = amsp.attention_backward %q, %k, %k, %max, %sum, %r bias %bias scale = 1.0
      : (tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x16xf32>, tensor<6x16xf32>, tensor<6x16x4xf32>, tensor<1x16x16xf32>)
      -> (tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x16x4xf32>, tensor<6x1x16xf32>)
  return %each, %shared : tensor<1x16x16xf32>, tensor<6x1x16xf32>
}
