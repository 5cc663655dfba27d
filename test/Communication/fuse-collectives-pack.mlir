// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{pack-bytes=24}))' --remarks-filter-passed='amsp-fuse-.*' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{pack-bytes=1000000000000000000}))' 2>/dev/null | FileCheck %s --check-prefix=ALL
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{pack-bytes=1}))' 2>/dev/null | FileCheck %s --check-prefix=NONE

// Every tensor is below any bound, or none is.
// ALL-LABEL: func.func @gathers
// ALL: amsp.all_gather %{{.*}} group = <[1:2]> unit = "a" {amsp.packed = {elements = array<i64: 6, 16, 4>, parameters = array<i64: 0, 1, 2>}} : tensor<13xf32> -> tensor<2x13xf32>
// NONE-LABEL: func.func @gathers
// NONE-NOT: stablehlo.concatenate

// In and out: 2 x 5 + 5 elements, as many, and twice 9.
// REMARK: remark: [Passed] packed {{.*}} Remark="copies 60 bytes"
// REMARK: remark: [Passed] packed {{.*}} Remark="copies 60 bytes"
// REMARK: remark: [Passed] packed {{.*}} Remark="copies 72 bytes"
// REMARK-NOT: packed

// The last piece of five elements on two ranks has one element of padding.
// CHECK-LABEL: func.func @gathers
func.func @gathers(%a: tensor<3xf32>, %big: tensor<8xf32>, %b: tensor<2xf32>) -> (tensor<5xf32>, tensor<16xf32>, tensor<2x2xf32>) {
  // CHECK-NEXT: %[[P:.*]] = stablehlo.concatenate %arg0, %arg2, dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  // CHECK-NEXT: %[[G:.*]]:2 = amsp.all_gather %arg1, %[[P]] group = <[1:2]> parameter = [1, none] unit = "a" {amsp.packed = {elements = array<i64: 6, 4>, parameters = array<i64: 0, 2>}} : tensor<8xf32>, tensor<5xf32> -> tensor<16xf32>, tensor<2x5xf32>
  // CHECK: %[[A:.*]] = stablehlo.slice %[[G]]#1 [0:2, 0:3]
  // CHECK: %[[A6:.*]] = stablehlo.reshape %[[A]] : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: %[[A5:.*]] = stablehlo.slice %[[A6]] [0:5]
  // CHECK: %[[B:.*]] = stablehlo.slice %[[G]]#1 [0:2, 3:5]
  // CHECK: return %[[A5]], %[[G]]#0, %{{.*}}
  %0 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "a" : tensor<3xf32> -> tensor<5xf32>
  %1 = amsp.all_gather %big group = <[1:2]> parameter = 1 unit = "a" : tensor<8xf32> -> tensor<16xf32>
  %2 = amsp.all_gather %b group = <[1:2]> parameter = 2 unit = "a" : tensor<2xf32> -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<5xf32>, tensor<16xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @scatters
func.func @scatters(%a: tensor<5xf32>, %b: tensor<2x2xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  // CHECK: %[[A:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [0], high = [1]
  // CHECK: %[[A2:.*]] = stablehlo.reshape %[[A]] : (tensor<6xf32>) -> tensor<2x3xf32>
  // CHECK: %[[P:.*]] = stablehlo.concatenate %[[A2]], %{{.*}}, dim = 1 : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  // CHECK: %[[S:.*]] = amsp.reduce_scatter sum %[[P]] group = <[1:2]> unit = "a" {amsp.packed = {elements = array<i64: 6, 4>, parameters = array<i64: 0, 1>}} : tensor<2x5xf32> -> tensor<5xf32>
  // CHECK: stablehlo.slice %[[S]] [0:3]
  // CHECK: stablehlo.slice %[[S]] [3:5]
  %0 = amsp.reduce_scatter sum %a group = <[1:2]> parameter = 0 unit = "a" : tensor<5xf32> -> tensor<3xf32>
  %1 = amsp.reduce_scatter sum %b group = <[1:2]> parameter = 1 unit = "a" : tensor<2x2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<3xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @sums
func.func @sums(%a: tensor<5xf32>, %b: tensor<2x2xf32>) -> (tensor<5xf32>, tensor<2x2xf32>) {
  // CHECK: %[[P:.*]] = stablehlo.concatenate %arg0, %{{.*}}, dim = 0 : (tensor<5xf32>, tensor<4xf32>) -> tensor<9xf32>
  // CHECK: %[[S:.*]] = amsp.all_reduce sum %[[P]] group = <[1:2]> unit = "a" {amsp.packed = {elements = array<i64: 5, 4>, parameters = array<i64: 0, 1>}} : tensor<9xf32>
  // CHECK: stablehlo.slice %[[S]] [0:5]
  // CHECK: %[[B:.*]] = stablehlo.slice %[[S]] [5:9]
  // CHECK: stablehlo.reshape %[[B]] : (tensor<4xf32>) -> tensor<2x2xf32>
  %0 = amsp.all_reduce sum %a group = <[1:2]> parameter = 0 unit = "a" : tensor<5xf32>
  %1 = amsp.all_reduce sum %b group = <[1:2]> parameter = 1 unit = "a" : tensor<2x2xf32>
  return %0, %1 : tensor<5xf32>, tensor<2x2xf32>
}

// One alone is not copied, nor is one that is not flat.
// CHECK-LABEL: func.func @not_packed
func.func @not_packed(%a: tensor<2xf32>, %b: tensor<8xf32>, %c: tensor<2xf32>) -> (tensor<4xf32>, tensor<16xf32>, tensor<4xf32>) {
  // CHECK-NEXT: amsp.all_gather %arg0, %arg1, %arg2 group = <[1:2]> dim = [none, none, 0]
  %0 = amsp.all_gather %a group = <[1:2]> unit = "a" : tensor<2xf32> -> tensor<4xf32>
  %1 = amsp.all_gather %b group = <[1:2]> unit = "a" : tensor<8xf32> -> tensor<16xf32>
  %2 = amsp.all_gather %c group = <[1:2]> dim = 0 unit = "a" : tensor<2xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<16xf32>, tensor<4xf32>
}
