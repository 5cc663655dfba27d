// RUN: sed 's/size: 2/size: 4/' %S/Inputs/two-levels.yaml > %t.larger.yaml
// RUN: amsp-plan %s --cluster %t.larger.yaml --strategy zero2 --list-collectives --top 1 | grep -v '^cluster' > %t.file.txt
// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --levels 4x4 --strategy zero2 --list-collectives --top 1 | grep -v '^cluster' > %t.levels.txt
// RUN: diff %t.file.txt %t.levels.txt
// RUN: FileCheck %s --input-file %t.levels.txt
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-plan='cluster=%S/Inputs/two-levels.yaml,levels=4x4 strategy=zero2' | FileCheck %s --check-prefix=OPT
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --levels 4 2>&1 | FileCheck %s --check-prefix=ONE

// Other sizes are those of all passes: collectives are decomposed by the links of the file.
// CHECK: all_gather {{.*}} node
// CHECK-NEXT: all_gather {{.*}} core
// OPT: amsp.strategy = {g = array<i64: 4, 4>
// ONE: error: levels=4: the cluster has 2 levels
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
