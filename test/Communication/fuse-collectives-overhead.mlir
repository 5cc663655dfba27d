// Where the cluster says what a tensor costs, those are packed whose copies take
// less time: with a full side and a half one, of up to 32 bytes. What is stated
// wins; without such a cluster nothing is packed, nor over threads, where a
// tensor costs nothing.
// DEFINE: %{fuse} = amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{cluster=%S/Inputs/tensor-overhead.yaml
// RUN: %{fuse}}))' | FileCheck %s --check-prefixes=CHECK,COST
// RUN: %{fuse} pack-bytes=0}))' | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: %{fuse} pack-bytes=36}))' | FileCheck %s --check-prefixes=CHECK,STATED
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{cluster=%source/clusters/cpu-2core-vm.yaml}))' | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives))' | FileCheck %s --check-prefixes=CHECK,NONE

// CHECK-LABEL: func.func @gathers
// COST: %[[P:.*]] = stablehlo.concatenate %arg0, %arg1, dim = 0
// COST-NEXT: amsp.all_gather %arg2, %[[P]] group
// STATED: %[[P:.*]] = stablehlo.concatenate %arg0, %arg1, %arg2, dim = 0
// STATED-NEXT: amsp.all_gather %[[P]] group
// NONE-NEXT: amsp.all_gather %arg0, %arg1, %arg2 group
func.func @gathers(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<5xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<9xf32>) {
  %0 = amsp.all_gather %a group = <[1:2]> unit = "a" : tensor<4xf32> -> tensor<8xf32>
  %1 = amsp.all_gather %b group = <[1:2]> unit = "a" : tensor<2xf32> -> tensor<4xf32>
  %2 = amsp.all_gather %c group = <[1:2]> unit = "a" : tensor<5xf32> -> tensor<9xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<4xf32>, tensor<9xf32>
}

// An all_reduce is copied in and out in full: up to 24 bytes.
// CHECK-LABEL: func.func @sums
// COST: %[[P:.*]] = stablehlo.concatenate %arg1, %arg2, dim = 0
// COST-NEXT: amsp.all_reduce sum %arg0, %[[P]] group
// STATED: %[[P:.*]] = stablehlo.concatenate %arg0, %arg1, %arg2, dim = 0
// NONE-NEXT: amsp.all_reduce sum %arg0, %arg1, %arg2 group
func.func @sums(%a: tensor<7xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>) -> (tensor<7xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = amsp.all_reduce sum %a group = <[1:2]> unit = "a" : tensor<7xf32>
  %1 = amsp.all_reduce sum %b group = <[1:2]> unit = "a" : tensor<6xf32>
  %2 = amsp.all_reduce sum %c group = <[1:2]> unit = "a" : tensor<6xf32>
  return %0, %1, %2 : tensor<7xf32>, tensor<6xf32>, tensor<6xf32>
}
