// RUN: amsp-opt %s | FileCheck %s
// RUN: amsp-opt %s --mlir-print-op-generic | amsp-opt | FileCheck %s

// CHECK-LABEL: func.func @loops
func.func @loops(%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) {
  // CHECK: stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg0) : tensor<i32>, tensor<4xf32> attributes {note.kept}
  %0:2 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg0) : tensor<i32>, tensor<4xf32> attributes {note.kept}
  // CHECK: cond {
  cond {
    // CHECK: stablehlo.compare LT, %iterArg, %arg1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.compare LT, %iterArg, %arg1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: stablehlo.return %1 : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  // CHECK: } do {
  } do {
    // CHECK: stablehlo.while(%iterArg_1 = %iterArg) : tensor<i32>
    %1 = stablehlo.while(%iterArg_1 = %iterArg) : tensor<i32>
    // CHECK: cond {
    cond {
      // CHECK: stablehlo.return %arg2 : tensor<i1>
      stablehlo.return %arg2 : tensor<i1>
    // CHECK: } do {
    } do {
      // CHECK: stablehlo.return %iterArg_1 : tensor<i32>
      stablehlo.return %iterArg_1 : tensor<i32>
    }
    // CHECK: stablehlo.return %1, %iterArg_0 : tensor<i32>, tensor<4xf32>
    stablehlo.return %1, %iterArg_0 : tensor<i32>, tensor<4xf32>
  }
  // CHECK: stablehlo.while()
  stablehlo.while()
  // CHECK: cond {
  cond {
    // CHECK: stablehlo.return %arg2 : tensor<i1>
    stablehlo.return %arg2 : tensor<i1>
  // CHECK: } do {
  } do {
    // CHECK: stablehlo.return
    stablehlo.return
  }
  return
}

// CHECK-LABEL: func.func @branches
func.func @branches(%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) {
  // CHECK: "stablehlo.case"(%arg1) ({
  %0:2 = "stablehlo.case"(%arg1) ({
    // CHECK: stablehlo.return %arg0, %arg1 : tensor<4xf32>, tensor<i32>
    stablehlo.return %arg0, %arg1 : tensor<4xf32>, tensor<i32>
  // CHECK: }, {
  }, {
    // CHECK: stablehlo.return %arg0, %arg1 : tensor<4xf32>, tensor<i32>
    stablehlo.return %arg0, %arg1 : tensor<4xf32>, tensor<i32>
  // CHECK: }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  // CHECK: "stablehlo.if"(%arg2) ({
  %1 = "stablehlo.if"(%arg2) ({
    // CHECK: stablehlo.return %arg0 : tensor<4xf32>
    stablehlo.return %arg0 : tensor<4xf32>
  // CHECK: }, {
  }, {
    // CHECK: stablehlo.return %arg0 : tensor<4xf32>
    stablehlo.return %arg0 : tensor<4xf32>
  // CHECK: }) : (tensor<i1>) -> tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @barrier
func.func @barrier(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  // CHECK: stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<i32>
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<i32>
  // CHECK: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier()
  return
}
