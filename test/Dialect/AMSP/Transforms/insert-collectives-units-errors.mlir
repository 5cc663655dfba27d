// RUN: amsp-opt %s --amsp-insert-collectives='levels=2,2' -split-input-file -verify-diagnostics

// expected-error @+1 {{the amsp.strategy of argument 0, unit "a": level 0: p=2 does not divide g=1 (p | g | os | size must hold on every level)}}
func.func public @factors(
    %a: tensor<4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a", amsp.strategy = {p = array<i64: 2, 2>, g = array<i64: 1, 2>, os = array<i64: 2, 2>}}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{the amsp.strategy of argument 0, unit "a": it needs 2 positive factors for os}}
func.func public @levels(
    %a: tensor<4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a", amsp.strategy = {p = array<i64: 2, 2>, g = array<i64: 2, 2>, os = array<i64: 2>}}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{no strategy is given for argument 0, unit "a"}}
func.func public @none(
    %a: tensor<4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
