// What is packed of several parameters is told apart by their unit's strategy.
// DEFINE: %{what} = uses
// DEFINE: %{run} = amsp-opt %s --amsp-schedule-collectives='overlap=%{what}'
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,NO-PARAMETERS,NO-GRADIENTS
// REDEFINE: %{what} = parameters
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,PARAMETERS,NO-GRADIENTS
// REDEFINE: %{what} = gradients
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,NO-PARAMETERS,GRADIENTS

module attributes {amsp.levels = array<i64: 8>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 8>}} {
  // CHECK-LABEL: func.func @main
  // PARAMETERS: amsp.all_gather_start %arg1
  // NO-PARAMETERS: amsp.all_gather %arg1
  // GRADIENTS: amsp.reduce_scatter_start sum
  // NO-GRADIENTS: amsp.reduce_scatter sum
  func.func @main(%a: tensor<8x8xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
                  %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = amsp.all_gather %b group = <[1:8]> unit = "a" : tensor<8xf32> -> tensor<8x8xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = amsp.reduce_scatter sum %2 group = <[1:8]> unit = "a" : tensor<8x8xf32> -> tensor<8xf32>
    %4 = stablehlo.dot_general %2, %2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %3, %4 : tensor<8xf32>, tensor<8x8xf32>
  }
}
