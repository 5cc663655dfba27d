// The options of communication are those of amsp-compile, read by one function,
// and the step is simulated with them.
// DEFINE: %{options} =
// DEFINE: %{plan} = amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy zero3 --top 1 --list-collectives %{options}
// RUN: %{plan} | FileCheck %s --check-prefixes=CHECK,ON
// REDEFINE: %{options} = --overlap off
// RUN: %{plan} | FileCheck %s --check-prefixes=CHECK,OFF
// REDEFINE: %{options} = --overlap=uses --prefetch-bytes 100000
// RUN: %{plan} | FileCheck %s --check-prefixes=CHECK,ON
// REDEFINE: %{options} = --no-decompose-collectives --fuse-bytes 0
// RUN: %{plan} | FileCheck %s --check-prefix=APART
// REDEFINE: %{options} = --no-decompose-collectives --fuse-bytes 100000
// RUN: %{plan} | FileCheck %s --check-prefix=FUSED

// Exposed is all of it if nothing runs beside compute.
// CHECK: step {{.*}} ms, simulated: compute {{.*}}, exposed communication [[EXPOSED:[0-9.]+]]
// ON: estimate {{.*}} of the simulated step
// ON-NOT: nothing overlapped
// OFF: estimate {{.*}}, nothing overlapped

// A collective for each tensor, or one for both.
// APART: kind type group
// APART-NEXT: all_gather f32 1:2,2:2 node 1 4096 rest
// APART-NEXT: all_gather f32 1:2,2:2 node 1 4096 rest
// APART-NEXT: reduce_scatter f32 1:2,2:2 node 1 4096 rest
// APART-NEXT: reduce_scatter f32 1:2,2:2 node 1 4096 rest
// FUSED: kind type group
// FUSED-NEXT: all_gather f32 1:2,2:2 node 1 8192 rest
// FUSED-NEXT: reduce_scatter f32 1:2,2:2 node 1 8192 rest
// FUSED-NOT: rest

// REDEFINE: %{options} = --prefetch-bytes=-1
// RUN: not %{plan} 2>&1 | FileCheck %s --check-prefix=PREFETCH
// REDEFINE: %{options} = --pipeline-bytes=-3
// RUN: not %{plan} 2>&1 | FileCheck %s --check-prefix=PIPELINE
// REDEFINE: %{options} = --pack-bytes=some
// RUN: not %{plan} 2>&1 | FileCheck %s --check-prefix=PACK
// REDEFINE: %{options} = --overlap=gathers
// RUN: not %{plan} 2>&1 | FileCheck %s --check-prefix=OVERLAP
// REDEFINE: %{options} = --quantize-gathers --quantize-type fp8
// RUN: not %{plan} 2>&1 | FileCheck %s --check-prefix=FP8
// REDEFINE: %{options} = --prefetch-bytes=1
// RUN: not %{plan} 2>&1 | FileCheck %s --check-prefix=SMALL

// PREFETCH: error: --prefetch-bytes -1: expected a whole number, at least 0 and below 2^63
// PIPELINE: error: --pipeline-bytes -3: expected a whole number, at least 0 and below 2^63
// PACK: error: --pack-bytes some: expected a whole number, at least 0 and below 2^63
// OVERLAP: error: --overlap gathers: expected on, off, or a list of uses, parameters and gradients
// FP8: error: --quantize-type fp8: the target cpu has no arithmetic or conversions of fp8; it has int8
// SMALL: error: {{.*}}a bound of 1 bytes in flight (prefetch-bytes) is too small
func.func public @main(
    %w: tensor<32x32xf32> {tf.aliasing_output = 0 : i32} loc("p['w']"),
    %v: tensor<32x32xf32> {tf.aliasing_output = 1 : i32} loc("p['v']"),
    %x: tensor<64x32xf32> loc("x")) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %y = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %dv = stablehlo.dot_general %h, %y, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %dh = stablehlo.dot_general %y, %v, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %dw = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %nw = stablehlo.subtract %w, %dw : tensor<32x32xf32>
  %nv = stablehlo.subtract %v, %dv : tensor<32x32xf32>
  return %nw, %nv : tensor<32x32xf32>, tensor<32x32xf32>
}
