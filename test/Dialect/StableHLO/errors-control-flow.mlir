// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @whileCondition(%x: tensor<i32>) {
  // expected-error@+1 {{requires the condition to return ('tensor<i1>'), but it returns ('tensor<i32>')}}
  %0 = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    stablehlo.return %i : tensor<i32>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return
}

// -----

func.func @whileBody(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{requires the body to return ('tensor<i32>'), but it returns ('tensor<i1>')}}
  %0 = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %p : tensor<i1>
  }
  return
}

// -----

func.func @whileArguments(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{requires the arguments of both regions to have the operands' types ('tensor<i32>'), but they are ('tensor<i64>')}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i64>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @branchTypes(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{requires the branch to return ('tensor<4xf32>'), but it returns ('tensor<i32>')}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @branchArguments(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@+1 {{requires branches without arguments}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
  ^bb0(%y: tensor<4xf32>):
    stablehlo.return %y : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @noBranch(%i: tensor<i32>) {
  // expected-error@+1 {{requires at least one branch}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}
