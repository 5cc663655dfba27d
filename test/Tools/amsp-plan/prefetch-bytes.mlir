// A bound on the bytes in flight that is enough for some strategies only: the
// others are left out, and with none left the error says what the least needs.
// RUN: amsp-plan %s --cluster %S/Inputs/thin.yaml --prefetch-bytes 4500 --top 1 | FileCheck %s
// RUN: amsp-plan %s --cluster %S/Inputs/thin.yaml --prefetch-bytes 4500 --strategy ddp --top 1 | FileCheck %s
// RUN: amsp-compile %s --cluster %S/Inputs/thin.yaml --prefetch-bytes 4500 --strategy auto --emit stablehlo -o %t 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: not amsp-plan %s --cluster %S/Inputs/thin.yaml --prefetch-bytes 4500 --strategy zero3 --top 1 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not amsp-plan %s --cluster %S/Inputs/thin.yaml --prefetch-bytes 4000 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: strategy   p=1,g=1,os=1
// CHECK-NOT: os=4 {{.*}} best
// AUTO: p=1,g=1,os=1
// GIVEN: error: {{.*}}: a bound of 4500 bytes in flight (prefetch-bytes) is too small {{.*}} need 8192
// NONE: error: a bound of 4000 bytes in flight (prefetch-bytes) is too small for every strategy that was tried: the least, 4096, for p=1,g=1,os=1
func.func public @main(
    %w: tensor<32x32xf32> {tf.aliasing_output = 0 : i32} loc("p['w']"),
    %x: tensor<64x32xf32> loc("x")) -> tensor<32x32xf32> {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %g = stablehlo.dot_general %x, %h, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %n = stablehlo.subtract %w, %g : tensor<32x32xf32>
  return %n : tensor<32x32xf32>
}
