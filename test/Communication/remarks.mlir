// What each pass decided, and what it left alone, is a remark for who asks.
// RUN: amsp-opt %s --remarks-filter='amsp-.*' --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=64},amsp-schedule-collectives))' 2>&1 >/dev/null | FileCheck %s
// RUN: amsp-opt %s --remarks-filter-missed='amsp-fuse-.*' --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=64},amsp-schedule-collectives))' 2>&1 >/dev/null | FileCheck %s --check-prefix=MISSED
// RUN: amsp-opt %s --remarks-filter='amsp-.*' --amsp-decompose-collectives=cluster=%S/Inputs/thin-links.yaml 2>&1 >/dev/null | FileCheck %s --check-prefix=DECOMPOSE
// RUN: amsp-opt %s --remarks-filter='amsp-.*' --amsp-quantize-collectives='reductions=true' 2>&1 >/dev/null | FileCheck %s --check-prefix=QUANTIZE
// RUN: amsp-opt %S/peel-microbatches.mlir --split-input-file --remarks-filter='amsp-.*' --amsp-peel-microbatches 2>&1 >/dev/null | FileCheck %s --check-prefix=PEEL
// RUN: sed s/expected-// %S/pipeline-microbatches.mlir | amsp-opt --split-input-file --amsp-pipeline-loops 2>&1 >/dev/null | count 0
// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-fuse-collectives{bytes=64},amsp-schedule-collectives))' 2>&1 >/dev/null | count 0

// CHECK: remarks.mlir:[[#]]:{{.*}} remark: [Missed] apart | Category:amsp-fuse-collectives | Remark="reduce_scatter of 1 tensor, 32 bytes, for 'h.0': more than the limit with those before it"
// CHECK: remark: [Passed] fused | Category:amsp-fuse-collectives | Remark="reduce_scatter of 2 tensors, 64 bytes, for 'h.0'"
// CHECK: remark: [Passed] split | Category:amsp-schedule-collectives | Remark="reduce_scatter of 2 tensors, 64 bytes, for 'h.0': {{[0-9.]+}} us, in flight over 3 ops of {{[0-9.]+}} us"
// CHECK: remark: [Missed] whole | Category:amsp-schedule-collectives | Remark="reduce_scatter of 1 tensor, 32 bytes, for 'h.0': what follows needs it at once"

// MISSED: remark: [Missed] apart
// MISSED-NOT: remark:

// DECOMPOSE-COUNT-2: remark: [Missed] whole | Category:amsp-decompose-collectives | Remark="reduce_scatter of 1 tensor, 32 bytes, for 'h.0': no parts are faster by 1 %"
// DECOMPOSE: remark: [Passed] decomposed | Category:amsp-decompose-collectives | Remark="reduce_scatter of 1 tensor, 12032 bytes: reduce_scatter over [1:8], reduce_scatter over [8:4]: 11.857 us"

// QUANTIZE: remark: [Missed] kept | Category:amsp-quantize-collectives | Remark="reduce_scatter of 1 tensor, 32 bytes, for 'h.0': no pieces of a parameter that get smaller"

// PEEL: remark: [Passed] peeled | Category:amsp-peel-microbatches | Remark="the first and the last of 4 iterations"
module attributes {amsp.levels = array<i64: 8, 4>} {
  func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %m: tensor<8x8xf32>,
      %w: tensor<4x4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x8xf32>) {
    %0 = amsp.reduce_scatter sum %a group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
    %1 = amsp.reduce_scatter sum %b group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
    %2 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %d = stablehlo.dot_general %2, %c, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = amsp.reduce_scatter sum %d group = <[1:2]> parameter = 2 unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
    %4 = stablehlo.dot_general %w, %3, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %4, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x8xf32>
  }
  func.func private @large(%x: tensor<1000x3xf32>) -> tensor<94xf32> {
    %0 = amsp.reduce_scatter sum %x group = <[1:8, 8:4]> : tensor<1000x3xf32> -> tensor<94xf32>
    return %0 : tensor<94xf32>
  }
}
