// RUN: not amsp-plan %s --cluster nodes=2,gpus=2 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not amsp-plan %s --cluster no-such.yaml 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy p=3,os=4 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --memory -1 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not amsp-plan %s --cluster %S/Inputs/seven.yaml 2>&1 | FileCheck %s --check-prefix=SEVEN
// RUN: amsp-plan %s --cluster %S/Inputs/one.yaml | FileCheck %s --check-prefix=ONE

// MISSING: error: cluster 'nodes=2,gpus=2' cannot be planned for: it does not give bandwidth of level 'gpu', latency of level 'gpu', bandwidth of level 'node', latency of level 'node', device.memory, device.memory_bandwidth, device.peak
// FILE: error: cluster file 'no-such.yaml': {{[Nn]}}o such file or directory
// STRATEGY: error: strategy 'p=3,os=4': 
// MEMORY: error: --memory must be a positive number of bytes
// SEVEN: error: {{.*}}batch argument 'x' has 8 rows, which 7 ranks do not divide; 7 or 14 rows would work
// ONE: cluster    one, 1 ranks (1)
// ONE: strategy   p=1,g=1,os=1
func.func public @main(
    %w: tensor<2x2xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<8x2xf32> loc("x")) -> tensor<2x2xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  %new = stablehlo.subtract %w, %g : tensor<2x2xf32>
  return %new : tensor<2x2xf32>
}
