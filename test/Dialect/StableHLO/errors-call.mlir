// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @no_decomposition(%x: tensor<4xf32>) {
  // expected-error@+1 {{of 'my.op' has no decomposition @missing}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @missing} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @other_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{of 'my.op' has another type than its decomposition @f}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @f(%x: tensor<5xf32>) -> tensor<5xf32> {
  return %x : tensor<5xf32>
}

// -----

func.func @one_layout(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{requires layouts of operands and results, or of neither}}
  stablehlo.custom_call @f(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<4x5xf32>) -> ()
  return
}

// -----

func.func @layout_count(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{requires a layout for each of the 1 operands, but got 0}}
  stablehlo.custom_call @f(%x) {operand_layouts = [], result_layouts = []} : (tensor<4x5xf32>) -> ()
  return
}

// -----

func.func @layout_order(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{does not order the dimensions of 'tensor<4x5xf32>'}}
  stablehlo.custom_call @f(%x) {operand_layouts = [dense<[1, 1]> : tensor<2xindex>], result_layouts = []} : (tensor<4x5xf32>) -> ()
  return
}

// -----

func.func @alias_type(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{requires operand and result of one type for the alias}}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @alias_operand(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{has no operand and result for the alias}}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
