// What passes count is printed by the project's own table: MLIR's is empty in
// an LLVM that was built without statistics.
// RUN: amsp-opt %s --amsp-print-statistics --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{pack-bytes=16},amsp-schedule-collectives),amsp-verify-program,amsp-verify-program)' 2>&1 >/dev/null | FileCheck %s
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives))' 2>&1 >/dev/null | count 0
// RUN: amsp-opt %s --amsp-print-statistics --split-input-file --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=0}))' 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE

// Counts of functions add up, in the order in which passes ran first; what a
// pass states of a program (bytes, collectives) does not when it runs twice.
// Two gathers of 8 bytes a piece are packed: 16 + 32 bytes copied.
// CHECK: pass number statistic what
// CHECK-NEXT: amsp-fuse-collectives 5 fused collectives that became part of another
// CHECK-NEXT: amsp-fuse-collectives 96 packed-bytes bytes copied for packed buffers
// CHECK-NEXT: amsp-schedule-collectives 2 split collectives in two halves
// CHECK-NEXT: amsp-schedule-collectives 0 whole collectives that nothing can hide
// CHECK-NEXT: amsp-schedule-collectives 192 bound-bytes bound on the bytes in flight
// CHECK-NEXT: amsp-schedule-collectives 96 peak-bytes most bytes in flight
// CHECK: amsp-verify-program 1 collectives collectives in the program
// CHECK-NEXT: amsp-verify-program 
// CHECK-NOT: amsp-verify-program
// NONE: amsp-fuse-collectives 0 fused
// NONE-NEXT: amsp-fuse-collectives 0 packed-bytes
module attributes {amsp.levels = array<i64: 2>} {
  func.func private @other(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = amsp.all_gather %a group = <[1:2]> unit = "b" : tensor<2xf32> -> tensor<4xf32>
    %1 = amsp.all_gather %b group = <[1:2]> unit = "b" : tensor<2xf32> -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) {
    %0 = amsp.all_gather %a group = <[1:2]> unit = "a" : tensor<2xf32> -> tensor<4xf32>
    %1 = amsp.all_gather %b group = <[1:2]> unit = "a" : tensor<2xf32> -> tensor<4xf32>
    %2 = amsp.all_gather %c group = <[1:2]> unit = "a" : tensor<8xf32> -> tensor<16xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<16xf32>
  }
}
