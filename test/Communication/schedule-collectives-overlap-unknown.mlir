// Where a program does not say its strategies, all collectives are of each use.
// RUN: amsp-opt %s --amsp-schedule-collectives=overlap=uses | FileCheck %s --check-prefixes=CHECK,USES
// RUN: amsp-opt %s --amsp-schedule-collectives=overlap=parameters,gradients | FileCheck %s --check-prefixes=CHECK,OTHERS

module attributes {amsp.levels = array<i64: 8>} {
  // CHECK-LABEL: func.func @main
  // USES: amsp.all_gather_start %arg1
  // OTHERS: amsp.all_gather %arg1
  func.func @main(%a: tensor<8x8xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
                  %b: tensor<32xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = amsp.all_gather %b group = <[1:2]> parameter = 0 unit = "a" : tensor<32xf32> -> tensor<8x8xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}
