// A loop whose collectives all stay whole: they are in flight while they run, so
// the bound counts them. Without that, the verifier refuses the program.
// RUN: amsp-opt %s --amsp-schedule-collectives=overlap=parameters --amsp-verify-program | FileCheck %s
// RUN: not amsp-opt %s --amsp-schedule-collectives='overlap=parameters prefetch-bytes=255' 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: amsp-opt %s --amsp-schedule-collectives='overlap=parameters prefetch-bytes=255 raise-bound' --amsp-verify-program | FileCheck %s --check-prefix=RAISED

// SMALL: error: a bound of 255 bytes in flight (prefetch-bytes) is too small {{.*}} which need 256

module attributes {amsp.levels = array<i64: 8>,
    amsp.strategy = {p = array<i64: 8>, g = array<i64: 8>, os = array<i64: 8>}} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: amsp.prefetch_bytes = 512 : i64
  // CHECK: stablehlo.while
  // CHECK: amsp.all_gather %
  // RAISED: amsp.prefetch_bytes = 256 : i64
  func.func @main(%a: tensor<8xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
                  %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<4> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<8x8xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %w = amsp.all_gather %a group = <[1:8]> parameter = 0 unit = "a" : tensor<8xf32> -> tensor<8x8xf32>
      %n = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %n : tensor<i32>, tensor<8x8xf32>
    }
    return %0#1 : tensor<8x8xf32>
  }
}
