// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --finalists 0 --no-decompose-collectives --top 100 | FileCheck %s
// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --finalists 0 --no-decompose-collectives --memory 12000 --top 100 | FileCheck %s --check-prefix=TIGHT
// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --finalists 0 --top 1 --format json | FileCheck %s --check-prefix=SPEED
// RUN: sed 's/loc("x")/loc("x"), %ids: tensor<64x5xi32> loc("ids"), %mask: tensor<64x9xi1> loc("mask")/' %s > %t.tokens.mlir
// RUN: amsp-plan %t.tokens.mlir --cluster %S/Inputs/two-levels.yaml --finalists 0 --top 1 | FileCheck %s --check-prefix=TOKENS
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --finalists 0 --memory 1000 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --finalists 0 --strategy zero1 --top 1 --list-collectives | FileCheck %s --check-prefix=LIST

// One linear layer with momentum: all strategies, and those that fit.

// CHECK: cluster    two-levels, 4 ranks (2x2)
// CHECK: model      1024 parameters in 1 units, 1 microbatches
// CHECK: strategy   p=1x1,g=1x1,os=2x1
// CHECK: parameters_kept             0.004 MB
// CHECK: gradients                   0.002 MB
// CHECK: states                      0.004 MB
// CHECK: other_arguments             0.002 MB
// CHECK: 1  p=1x1,g=1x1,os=2x1 {{.*}} best
// CHECK: 2  p=2x1,g=2x1,os=2x1 {{.*}} as fast within 1 %, larger groups
// CHECK: 9  p=1x1,g=1x1,os=2x2 {{.*}} slower: gathers over level node take
// CHECK-NOT: 10  p=

// Rows of the global batch; tokens where a batch argument has integers for each row.
// SPEED: "plan": {
// SPEED: "seconds": {{.*}},
// SPEED-NEXT: "rows_per_second": {{[0-9.e+]+}},
// SPEED-NEXT: "estimated_seconds"
// TOKENS: estimate
// TOKENS: speed      {{[0-9.]+}} rows/s, {{[0-9.]+}} tokens/s

// TIGHT: strategy   p=1x1,g=1x1,os=2x2
// TIGHT: memory     0.011 MB of 0.012 MB
// TIGHT: 2  p=2x2,g=2x2,os=2x2
// TIGHT: 3  p={{.*}} does not fit: {{.*}} more than a rank has

// NONE: error: the step fits under no strategy: the smallest, p={{.*}},os=2x2, needs 11.{{.*}} kB of a rank (11{{.*}} bytes), and cluster 'two-levels' has 1.00 kB

// The program's own collectives, by level where that is faster.
// LIST: strategy   p=1x1,g=1x1,os=2x2
// LIST: kind            type  group          level     count          bytes  unit
// LIST-NEXT: all_gather      f32   2:2            node          1           2048  rest
// LIST-NEXT: all_gather      f32   1:2            core          1           4096  rest
// LIST-NEXT: reduce_scatter  f32   1:2            core          1           4096  rest
// LIST-NEXT: reduce_scatter  f32   2:2            node          1           2048  rest
func.func public @main(
    %w: tensor<32x32xf32> {tf.aliasing_output = 0 : i32} loc("p['w']"),
    %m: tensor<32x32xf32> {tf.aliasing_output = 1 : i32} loc("s['w']"),
    %x: tensor<64x32xf32> loc("x")) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %rate = stablehlo.constant dense<0.5> : tensor<32x32xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %decayed = stablehlo.multiply %m, %rate : tensor<32x32xf32>
  %momentum = stablehlo.add %decayed, %g : tensor<32x32xf32>
  %update = stablehlo.multiply %momentum, %rate : tensor<32x32xf32>
  %new = stablehlo.subtract %w, %update : tensor<32x32xf32>
  return %new, %momentum : tensor<32x32xf32>, tensor<32x32xf32>
}
