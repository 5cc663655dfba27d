// Tensors of 32, 16 and 32 bytes against thresholds around each sum.
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=0}))' | FileCheck %s --check-prefix=NONE
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=1}))' | FileCheck %s --check-prefix=NONE
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=31}))' | FileCheck %s --check-prefix=NONE
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=32}))' | FileCheck %s --check-prefix=NONE
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=33}))' | FileCheck %s --check-prefix=NONE
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=47}))' | FileCheck %s --check-prefix=NONE
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=48}))' | FileCheck %s --check-prefix=TWO
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=79}))' | FileCheck %s --check-prefix=TWO
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=80}))' | FileCheck %s --check-prefix=ALL
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=1000000000000000000}))' | FileCheck %s --check-prefix=ALL
// RUN: not amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=-1}))' 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: bytes and pack-bytes cannot be negative

// NONE: amsp.reduce_scatter sum %arg0 group
// NONE: amsp.reduce_scatter sum %arg1 group
// NONE: amsp.reduce_scatter sum %arg2 group
// NONE-NOT: reduce_scatter
// TWO: amsp.reduce_scatter sum %arg0, %arg1 group
// TWO: amsp.reduce_scatter sum %arg2 group
// TWO-NOT: reduce_scatter
// ALL: amsp.reduce_scatter sum %arg0, %arg1, %arg2 group
// ALL-NOT: reduce_scatter
func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) {
  %0 = amsp.reduce_scatter sum %a group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  %1 = amsp.reduce_scatter sum %b group = <[1:2]> unit = "h.0" : tensor<4xf32> -> tensor<2xf32>
  %2 = amsp.reduce_scatter sum %c group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
}
