// What may be in flight, by digits: of P [1:2] and G [1:4], each use and each
// microbatch; what goes beyond them, once a step.
// DEFINE: %{what} = on
// DEFINE: %{run} = amsp-opt %s --amsp-schedule-collectives='overlap=%{what}' --amsp-verify-program
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,USES,PARAMETERS,GRADIENTS
// REDEFINE: %{what} = uses
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,USES,NO-PARAMETERS,NO-GRADIENTS
// REDEFINE: %{what} = parameters,gradients
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,NO-USES,PARAMETERS,GRADIENTS
// REDEFINE: %{what} = gradients
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,NO-USES,NO-PARAMETERS,GRADIENTS
// REDEFINE: %{what} = off
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,NO-USES,NO-PARAMETERS,NO-GRADIENTS
// REDEFINE: %{what} = parts
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not amsp-opt %s --amsp-schedule-collectives=prefetch-bytes=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not amsp-opt %s --amsp-verify-program=prefetch-bytes=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-pipeline-loops{max-bytes=-1}))' 2>&1 | FileCheck %s --check-prefix=LOOPS

// ERROR: error: overlap: expected on, off, or a list of uses, parameters and gradients
// NEGATIVE: error: prefetch-bytes -2: expected a number of bytes, or -1 for
// LOOPS: error: max-bytes -1: expected a number of bytes, or 0 for no bound

module attributes {amsp.levels = array<i64: 8>,
    amsp.strategy = {p = array<i64: 2>, g = array<i64: 4>, os = array<i64: 8>}} {
  // CHECK-LABEL: func.func @main
  // PARAMETERS-DAG: amsp.all_gather_start %arg1 group = <[2:4]>
  // NO-PARAMETERS-DAG: amsp.all_gather %arg1 group = <[2:4]>
  // USES-DAG: amsp.all_gather_start %arg2 group = <[1:2]>
  // NO-USES-DAG: amsp.all_gather %arg2 group = <[1:2]>
  // USES: amsp.reduce_scatter_start sum %{{.*}} group = <[1:2, 2:2]>
  // NO-USES: amsp.reduce_scatter sum %{{.*}} group = <[1:2, 2:2]>
  // GRADIENTS: amsp.reduce_scatter_start sum %{{.*}} group = <[4:2]>
  // NO-GRADIENTS: amsp.reduce_scatter sum %{{.*}} group = <[4:2]>
  func.func @main(%a: tensor<8x8xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
                  %b: tensor<16xf32>, %c: tensor<32xf32>)
      -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16xf32>, tensor<8xf32>) {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %once = amsp.all_gather %b group = <[2:4]> parameter = 0 unit = "a" : tensor<16xf32> -> tensor<8x8xf32>
    %1 = stablehlo.dot_general %0, %once, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %use = amsp.all_gather %c group = <[1:2]> parameter = 0 unit = "a" : tensor<32xf32> -> tensor<8x8xf32>
    %3 = stablehlo.dot_general %2, %use, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %each = amsp.reduce_scatter sum %3 group = <[1:2, 2:2]> parameter = 0 unit = "a" : tensor<8x8xf32> -> tensor<16xf32>
    %4 = stablehlo.dot_general %3, %3, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.dot_general %4, %4, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %rows = stablehlo.slice %4 [0:2, 0:8] : (tensor<8x8xf32>) -> tensor<2x8xf32>
    %last = amsp.reduce_scatter sum %rows group = <[4:2]> parameter = 0 unit = "a" : tensor<2x8xf32> -> tensor<8xf32>
    %6 = stablehlo.dot_general %5, %5, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %3, %5, %6, %each, %last : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<16xf32>, tensor<8xf32>
  }
}
