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
