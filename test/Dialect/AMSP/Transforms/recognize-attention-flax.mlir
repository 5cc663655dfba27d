// Training steps of one attention module, as jax 0.10.2 and flax 0.12.8 export
// them: loss and gradients with respect to all parameters. Both directions are
// found.

// DEFINE: %{find} = amsp-opt --amsp-inline-calls --symbol-dce --canonicalize --amsp-legalize-chlo --amsp-hoist-loop-invariants --canonicalize --cse --amsp-recognize-attention

// flax.linen.MultiHeadDotProductAttention with nn.make_causal_mask, which
// compares numbers of the batch's type: an operand, not the attribute.
// RUN: %{find} %S/Inputs/flax-linen-causal.mlir | FileCheck %s --check-prefixes=CHECK,MASKED
// dropout_rate=0.25, broadcast over rows and heads, and nn.make_attention_mask.
// RUN: %{find} %S/Inputs/flax-linen-dropout-padding.mlir | FileCheck %s --check-prefixes=CHECK,DROPPED
// flax.nnx.MultiHeadAttention, likewise.
// RUN: %{find} %S/Inputs/flax-nnx-padding.mlir | FileCheck %s --check-prefixes=CHECK,SCALED
// RUN: %{find} %S/Inputs/flax-nnx-dropout-causal.mlir | FileCheck %s --check-prefixes=CHECK,DROPPED

// CHECK-LABEL: func.func public @main
// CHECK-NOT: tensor<4x3x8x8xf32>
// MASKED: %[[R:.*]], %[[M:.*]], %[[S:.*]] = amsp.attention %[[Q:.*]], %[[K:.*]], %[[V:.*]] mask %[[B:.*]] scale = 1.000000e+00 masked_score = -3.4028234663852886E+38 : {{.*}}tensor<4x1x8x8xi1>
// MASKED: amsp.attention_backward %[[Q]], %[[K]], %[[V]], %[[M]], %[[S]], %{{.*}} mask %[[B]] scale = 1.000000e+00
// SCALED: %[[R:.*]], %[[M:.*]], %[[S:.*]] = amsp.attention %[[Q:.*]], %[[K:.*]], %[[V:.*]] mask %[[B:.*]] scale = 5.000000e-01 masked_score = {{.*}}tensor<4x1x8x8xi1>
// SCALED: amsp.attention_backward %[[Q]], %[[K]], %[[V]], %[[M]], %[[S]], %{{.*}} mask %[[B]] scale = 5.000000e-01
// DROPPED: %[[R:.*]], %[[M:.*]], %[[S:.*]] = amsp.attention %[[Q:.*]], %[[K:.*]], %[[V:.*]] mask %[[B:.*]] keep %[[D:.*]] scale = 1.000000e+00 {{.*}} keep_scale = 1.3333333730697632 : {{.*}}tensor<1x1x8x8xi1>
// DROPPED: amsp.attention_backward %[[Q]], %[[K]], %[[V]], %[[M]], %[[S]], %{{.*}} mask %[[B]] keep %[[D]] scale = 1.000000e+00
// CHECK-NOT: tensor<4x3x8x8xf32>
// CHECK: return
