// RUN: amsp-opt %s --amsp-expand-attention --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: amsp-opt %s --amsp-expand-attention=block-bytes=12000 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,BLOCK

// CHECK-LABEL: func.func @forward
// WHOLE-NOT: while
// WHOLE: stablehlo.dot_general {{.*}} batching_dims = [0, 1] x [0, 1], contracting_dims = [4] x [3] : (tensor<1x2x2x40x8xf32>, tensor<1x2x30x8xf32>) -> tensor<1x2x2x40x30xf32>
// Blocks of 16 queries, and the 8 that are left.
// BLOCK: stablehlo.while
// BLOCK: stablehlo.dynamic_slice {{.*}} sizes = [1, 4, 16, 8]
// BLOCK: stablehlo.compare GE
// BLOCK: stablehlo.dot_general {{.*}} -> tensor<1x2x2x16x30xf32>
// BLOCK: stablehlo.select
// BLOCK: stablehlo.dynamic_update_slice {{.*}} (tensor<1x4x40x5xf32>, tensor<1x4x16x5xf32>
// BLOCK: stablehlo.dynamic_slice {{.*}} sizes = [1, 4, 8, 8]
// BLOCK: stablehlo.dot_general {{.*}} -> tensor<1x2x2x8x30xf32>
// CHECK-NOT: amsp.attention
func.func @forward(%q: tensor<1x4x40x8xf32>, %k: tensor<1x2x30x8xf32>, %v: tensor<1x2x30x5xf32>) -> tensor<1x4x40x5xf32> {
  %r, %max, %sum = amsp.attention %q, %k, %v scale = 0.5 causal masked_score = -1.0e9
      : (tensor<1x4x40x8xf32>, tensor<1x2x30x8xf32>, tensor<1x2x30x5xf32>) -> (tensor<1x4x40x5xf32>, tensor<1x4x40xf32>, tensor<1x4x40xf32>)
  return %r : tensor<1x4x40x5xf32>
}

// What nothing reads is not computed.
// CHECK-LABEL: func.func @values_only
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK-NOT: stablehlo.dot_general
// CHECK: return
func.func @values_only(%q: tensor<4x16x8xbf16>, %max: tensor<4x16xf32>, %d: tensor<4x16x8xbf16>) -> tensor<4x16x8xbf16> {
  %dq, %dk, %dv = amsp.attention_backward %q, %q, %q, %max, %max, %d scale = 1.0
      : (tensor<4x16x8xbf16>, tensor<4x16x8xbf16>, tensor<4x16x8xbf16>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16x8xbf16>)
      -> (tensor<4x16x8xbf16>, tensor<4x16x8xbf16>, tensor<4x16x8xbf16>)
  return %dv : tensor<4x16x8xbf16>
}

// Gradients of keys and values add up over the blocks, in f32.
// CHECK-LABEL: func.func @backward
// BLOCK: stablehlo.while({{.*}}) : tensor<i32>, tensor<4x48x8xbf16>, tensor<4x48x8xf32>, tensor<4x48x8xf32>
// CHECK: return
func.func @backward(%q: tensor<4x48x8xbf16>, %max: tensor<4x48xf32>, %d: tensor<4x48x8xbf16>) -> (tensor<4x48x8xbf16>, tensor<4x48x8xbf16>, tensor<4x48x8xbf16>) {
  %dq, %dk, %dv = amsp.attention_backward %q, %q, %q, %max, %max, %d scale = 1.0
      : (tensor<4x48x8xbf16>, tensor<4x48x8xbf16>, tensor<4x48x8xbf16>, tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x48x8xbf16>)
      -> (tensor<4x48x8xbf16>, tensor<4x48x8xbf16>, tensor<4x48x8xbf16>)
  return %dq, %dk, %dv : tensor<4x48x8xbf16>, tensor<4x48x8xbf16>, tensor<4x48x8xbf16>
}

// Dropout comes behind the softmax, in the size that the mask has; so do the
// gradients of the weights, before the rows' sums.
// CHECK-LABEL: func.func @dropped
// CHECK: %[[HALF:.*]] = stablehlo.divide {{.*}} : tensor<4x[[ROWS:40|16]]x40xf32>
// CHECK: %[[KEEP:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 1, 2] : (tensor<1x[[ROWS]]x40xi1>) -> tensor<4x[[ROWS]]x40xi1>
// CHECK: %[[SCALED:.*]] = stablehlo.multiply %[[HALF]], %{{cst.*}} :
// CHECK: %[[DROPPED:.*]] = stablehlo.select %[[KEEP]], %[[SCALED]], %{{.*}}
// CHECK: stablehlo.dot_general %[[DROPPED]], %{{.*}}
func.func @dropped(%q: tensor<4x40x8xf32>, %keep: tensor<1x40x40xi1>) -> tensor<4x40x8xf32> {
  %r, %max, %sum = amsp.attention %q, %q, %q keep %keep scale = 1.0 keep_scale = 2.0
      : (tensor<4x40x8xf32>, tensor<4x40x8xf32>, tensor<4x40x8xf32>, tensor<1x40x40xi1>) -> (tensor<4x40x8xf32>, tensor<4x40xf32>, tensor<4x40xf32>)
  return %r : tensor<4x40x8xf32>
}

// CHECK-LABEL: func.func @dropped_backward
// CHECK: %[[P:.*]] = stablehlo.divide
// CHECK: %[[D:.*]] = stablehlo.dot_general
// BLOCK: stablehlo.dynamic_slice %{{.*}} sizes = [1, 16, 48] : (tensor<1x48x48xi1>
// CHECK: %[[SCALED:.*]] = stablehlo.multiply %[[D]]
// CHECK: %[[DP:.*]] = stablehlo.select %{{.*}}, %[[SCALED]]
// CHECK: %[[PDP:.*]] = stablehlo.multiply %[[P]], %[[DP]]
// CHECK: stablehlo.reduce(%[[PDP]]
// CHECK: %[[P2:.*]] = stablehlo.multiply %[[P]], %{{cst.*}} :
// CHECK: %[[W:.*]] = stablehlo.select %{{.*}}, %[[P2]]
// CHECK: stablehlo.dot_general %[[W]]
func.func @dropped_backward(%q: tensor<4x48x8xf32>, %max: tensor<4x48xf32>, %d: tensor<4x48x8xf32>, %keep: tensor<1x48x48xi1>) -> (tensor<4x48x8xf32>, tensor<4x48x8xf32>) {
  %dq, %dk, %dv = amsp.attention_backward %q, %q, %q, %max, %max, %d keep %keep scale = 1.0 keep_scale = 2.0
      : (tensor<4x48x8xf32>, tensor<4x48x8xf32>, tensor<4x48x8xf32>, tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x48x8xf32>, tensor<1x48x48xi1>)
      -> (tensor<4x48x8xf32>, tensor<4x48x8xf32>, tensor<4x48x8xf32>)
  return %dq, %dv : tensor<4x48x8xf32>, tensor<4x48x8xf32>
}

// The gradient of a bias: summed over the heads that share it (in both
// dimensions in which heads are apart), before scaling. One that all queries share
// adds up over the blocks in f32; of another each block writes its rows.
// CHECK-LABEL: func.func @bias
// BLOCK: stablehlo.while({{.*}}) : tensor<i32>, tensor<2x4x1x30xf32>
// BLOCK: stablehlo.reduce({{.*}} across dimensions = [3] : (tensor<2x2x2x16x30xf32>
// BLOCK: stablehlo.add {{.*}} : tensor<2x4x1x30xf32>
// BLOCK: stablehlo.while({{.*}}) : tensor<i32>, tensor<2x1x48x30xbf16>
// BLOCK: stablehlo.reduce({{.*}} across dimensions = [1, 2] : (tensor<2x2x2x16x30xf32>
// BLOCK: stablehlo.dynamic_update_slice {{.*}} (tensor<2x1x48x30xbf16>, tensor<2x1x16x30xbf16>
// WHOLE: stablehlo.reduce({{.*}} across dimensions = [3] : (tensor<2x2x2x48x30xf32>
// WHOLE: stablehlo.reduce({{.*}} across dimensions = [1, 2] : (tensor<2x2x2x48x30xf32>
func.func @bias(%q: tensor<2x4x48x8xbf16>, %k: tensor<2x2x30x8xbf16>, %max: tensor<2x4x48xf32>, %d: tensor<2x4x48x8xbf16>, %bias: tensor<1x1x48x30xf32>)
    -> (tensor<2x4x1x30xbf16>, tensor<2x1x48x30xbf16>) {
  %dq, %dk, %dv, %shared = amsp.attention_backward %q, %k, %k, %max, %max, %d bias %bias scale = 0.5
      : (tensor<2x4x48x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x4x48xf32>, tensor<2x4x48xf32>, tensor<2x4x48x8xbf16>, tensor<1x1x48x30xf32>)
      -> (tensor<2x4x48x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x4x1x30xbf16>)
  %eq, %ek, %ev, %each = amsp.attention_backward %q, %k, %k, %max, %max, %d bias %bias scale = 0.5
      : (tensor<2x4x48x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x4x48xf32>, tensor<2x4x48xf32>, tensor<2x4x48x8xbf16>, tensor<1x1x48x30xf32>)
      -> (tensor<2x4x48x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x2x30x8xbf16>, tensor<2x1x48x30xbf16>)
  return %shared, %each : tensor<2x4x1x30xbf16>, tensor<2x1x48x30xbf16>
}
