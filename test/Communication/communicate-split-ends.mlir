// RUN: amsp-opt %s --amsp-communicate=overlap=off | FileCheck %s --check-prefix=PIECES
// RUN: amsp-opt %s --amsp-communicate='overlap=off split-ends=false' | FileCheck %s --check-prefix=WHOLE
// RUN: amsp-opt %s --amsp-communicate='overlap=off fuse-bytes=2097152' | FileCheck %s --check-prefix=WHOLE
// RUN: amsp-opt %s --amsp-communicate='overlap=off fuse-bytes=2097151' | FileCheck %s --check-prefix=PIECES

// What the first contraction needs comes in pieces of 1 MiB, if that is not switched
// off, nor bytes are stated: those are meant there, too.
module attributes {amsp.levels = array<i64: 2>} {
  // PIECES-LABEL: func.func public @main
  // PIECES: amsp.all_gather %arg0 group
  // PIECES: amsp.all_gather %arg1 group
  // WHOLE-LABEL: func.func public @main
  // WHOLE: amsp.all_gather %arg0, %arg1 group
  func.func public @main(%a: tensor<131072xf32> {amsp.role = #amsp.role<param>},
      %b: tensor<131072xf32> {amsp.role = #amsp.role<param>}) -> tensor<512x512xf32> {
    %0 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "h.0" window = 0 : tensor<131072xf32> -> tensor<512x512xf32>
    %1 = amsp.all_gather %b group = <[1:2]> parameter = 1 unit = "h.0" window = 0 : tensor<131072xf32> -> tensor<512x512xf32>
    %2 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %3 : tensor<512x512xf32>
  }
}
