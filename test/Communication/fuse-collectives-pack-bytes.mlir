// Tensors of 32, 16 and 32 bytes, 8 and 4 elements, packed below thresholds
// around each size: two small ones make a buffer, one alone does not.
// DEFINE: %{bytes} =
// DEFINE: %{fuse} = 1000000000000000000
// DEFINE: %{run} = amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=%{fuse} pack-bytes=%{bytes}}))'
// REDEFINE: %{bytes} = 0
// RUN: %{run} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{bytes} = 1
// RUN: %{run} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{bytes} = 7
// RUN: %{run} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{bytes} = 8
// RUN: %{run} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{bytes} = 9
// RUN: %{run} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{bytes} = 16
// RUN: %{run} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{bytes} = 31
// RUN: %{run} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{bytes} = 32
// RUN: %{run} | FileCheck %s --check-prefix=ALL
// REDEFINE: %{bytes} = 33
// RUN: %{run} | FileCheck %s --check-prefix=ALL
// REDEFINE: %{bytes} = 1000000000000000000
// RUN: %{run} | FileCheck %s --check-prefix=ALL
// Packed are those of a fused collective, however large the threshold.
// REDEFINE: %{fuse} = 48
// RUN: %{run} | FileCheck %s --check-prefix=TWO
// REDEFINE: %{fuse} = 47
// RUN: %{run} | FileCheck %s --check-prefix=APART
// REDEFINE: %{bytes} = -2
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: bytes and pack-bytes cannot be negative

// NONE-NOT: stablehlo.concatenate
// NONE: amsp.reduce_scatter sum %arg0, %arg1, %arg2 group
// NONE-NOT: reduce_scatter
// ALL: %[[P:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, %{{.*}}, dim = 1 : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x10xf32>
// ALL-NEXT: amsp.reduce_scatter sum %[[P]] group = <[1:2]> unit = "h.0" : tensor<2x10xf32> -> tensor<10xf32>
// ALL-NOT: reduce_scatter
// TWO: %[[P:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1
// TWO-NEXT: amsp.reduce_scatter sum %[[P]] group
// TWO: amsp.reduce_scatter sum %arg2 group
// TWO-NOT: reduce_scatter
// APART-NOT: stablehlo.concatenate
// APART-COUNT-3: amsp.reduce_scatter sum %arg{{[0-2]}} group
// APART-NOT: reduce_scatter
func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) {
  %0 = amsp.reduce_scatter sum %a group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  %1 = amsp.reduce_scatter sum %b group = <[1:2]> unit = "h.0" : tensor<4xf32> -> tensor<2xf32>
  %2 = amsp.reduce_scatter sum %c group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
}
