// RUN: amsp-opt %s --split-input-file --amsp-schedule-collectives=overlap=uses --verify-diagnostics -o /dev/null

// What tells collectives apart is their parameters' strategies.

module attributes {amsp.levels = array<i64: 8>,
    amsp.strategy = {p = array<i64: 2>, g = array<i64: 4>, os = array<i64: 8>}} {
  func.func @main(%a: tensor<32xf32>) -> tensor<8x8xf32> {
    // expected-error @below {{is for parameter 70000, which is no argument: the step has 1}}
    %0 = amsp.all_gather %a group = <[1:2]> parameter = 70000 unit = "a" : tensor<32xf32> -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

module attributes {amsp.levels = array<i64: 8>,
    amsp.strategy = {p = array<i64: 2>, g = array<i64: 4>, os = array<i64: 8>}} {
  func.func @main(%a: tensor<32xf32>) -> tensor<8x8xf32> {
    // expected-error @below {{is for parameter -5, which is no argument: the step has 1}}
    %0 = amsp.all_gather %a group = <[1:2]> parameter = -5 unit = "a" : tensor<32xf32> -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// expected-error @below {{amsp.strategy}}
module attributes {amsp.levels = array<i64: 8>,
    amsp.strategy = {p = array<i64: 3>, g = array<i64: 4>, os = array<i64: 8>}} {
  func.func @main(%a: tensor<32xf32>) -> tensor<8x8xf32> {
    %0 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "a" : tensor<32xf32> -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
