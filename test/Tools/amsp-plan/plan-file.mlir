// RUN: rm -rf %t && mkdir %t
// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy mics:2 -o %t/plan.yaml > %t/plan.txt
// RUN: FileCheck %s --input-file %t/plan.yaml --check-prefix=FILE
// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy %t/plan.yaml | FileCheck %s --check-prefix=READ
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-plan='cluster=%S/Inputs/two-levels.yaml strategy=%t/plan.yaml' | FileCheck %s --check-prefix=OPT
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-plan='cluster=%S/Inputs/two-levels.yaml' | FileCheck %s --check-prefix=AUTO
// RUN: not amsp-plan %s --cluster %S/Inputs/one.yaml --strategy %t/plan.yaml 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not amsp-opt %s --amsp-annotate-roles --amsp-plan='cluster=levels=2x2' 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy %t/none.yaml -o %t/other.yaml 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ls %t/other.yaml
// RUN: sed 's/reduce_type: f32/reduce_type: bf16\nloops: [peeled]/' %t/plan.yaml > %t/bf16.yaml
// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy %t/bf16.yaml -o %t/again.yaml
// RUN: FileCheck %s --input-file %t/again.yaml --check-prefix=AGAIN
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy %t/bf16.yaml --reduce-type graph 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not amsp-opt %s --amsp-annotate-roles --amsp-plan='cluster=%S/Inputs/two-levels.yaml strategy=%t/bf16.yaml' 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-plan='cluster=%S/Inputs/two-levels.yaml strategy=%t/bf16.yaml reduce-type=bf16' 2>&1 | FileCheck %s --check-prefix=LOOPS

// A plan is written, and read back by every tool; for another cluster it is refused.

// FILE: # step on two-levels: {{.*}} ms, {{.*}} kB of a rank
// FILE-NEXT: version: 1
// FILE-NEXT: cluster: {name: two-levels, levels: 2x2}
// FILE-NEXT: model:
// FILE-NEXT:   rest: 1024
// FILE-NEXT: reduce_type: f32
// FILE-NEXT: strategy: p=2x1,g=2x1,os=2x1

// READ: strategy   p=2x1,g=2x1,os=2x1
// READ: memory     {{.*}} MB of 1000.000 MB, of the compiled step
// READ: at_rest                     0.004 MB

// OPT: func.func public @main(%arg0: {{.*}}amsp.strategy = {g = array<i64: 2, 1>, os = array<i64: 2, 1>, p = array<i64: 2, 1>}
// AUTO: func.func public @main(%arg0: {{.*}}amsp.strategy = {g = array<i64: 1, 1>, os = array<i64: 1, 1>, p = array<i64: 1, 1>}

// CLUSTER: error: plan '{{.*}}plan.yaml' is for another cluster: its number of levels is 2, here it is 1
// BARE: error: cluster 'levels=2x2' cannot be planned for: it does not give bandwidth of level 'level0'
// What a plan says of reductions is kept, or contradicted with an error; of loops, another pass decides.
// AGAIN: reduce_type: bf16
// OTHER: error: --reduce-type graph: plan '{{.*}}bf16.yaml' says bf16
// PASS: error: reduce-type=f32: plan '{{.*}}bf16.yaml' says bf16
// LOOPS: remark: plan '{{.*}}bf16.yaml' says loops: microbatches peeled, which the options of amsp-communicate ask for
// LOOPS: amsp.strategy = {g = array<i64: 2, 1>

// NONE: error: plan '{{.*}}none.yaml': {{[Nn]}}o such file or directory
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
