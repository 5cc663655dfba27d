// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @dynamicShape(%x: tensor<?xf32>) {
  // expected-error@+1 {{'stablehlo.add' op operand #0 must be statically shaped tensor of boolean or number values, but got 'tensor<?xf32>'}}
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return
}

// -----

func.func @elementType(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of floating-point or complex values, but got 'tensor<4xi32>'}}
  %0 = stablehlo.tanh %x : tensor<4xi32>
  return
}

// -----

func.func @shapes(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @selectShapes(%p: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{requires operand #0 to be of the result's shape or a scalar, but they are 'tensor<3xi1>' and 'tensor<4xf32>'}}
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @clampElementTypes(%x: tensor<4xf32>, %limit: tensor<i32>) {
  // expected-error@+1 {{requires the same element type for all operands and results}}
  %0 = stablehlo.clamp %limit, %x, %limit : (tensor<i32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @clampTypes(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 3 operand types and 1 result type}}
  %0 = stablehlo.clamp %x, %x, %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @comparisonType(%x: tensor<4xf32>) {
  // expected-error@+1 {{comparison SIGNED does not apply to elements of type 'f32'}}
  %0 = stablehlo.compare LT, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @comparisonOfComplex(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{complex numbers compare as EQ or NE only}}
  %0 = stablehlo.compare LT, %x, %x : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return
}

// -----

func.func @comparisonResult(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires operand #0 to be of the result's shape or a scalar, but they are 'tensor<4xf32>' and 'tensor<2xi1>'}}
  %0 = stablehlo.compare LT, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @absOfComplex(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{requires a result of type 'tensor<4xf32>', but it is 'tensor<4xcomplex<f32>>'}}
  %0 = stablehlo.abs %x : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @numberFormat(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a number format such as e8m7, but got m7}}
  %0 = stablehlo.reduce_precision %x, format = m7 : tensor<4xf32>
  return
}

// -----

func.func @complexType(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a tensor of complex numbers, but got 'tensor<4xf32>'}}
  %0 = stablehlo.complex %x, %x : tensor<4xf32>
  return
}

// -----

func.func @outsideThePart(%x: tensor<4xf32>) {
  // expected-error@+1 {{unregistered operation 'stablehlo.cholesky' found in dialect ('stablehlo') that does not allow unknown operations}}
  %0 = "stablehlo.cholesky"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @top_k_size(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'chlo.top_k' op has no 7 elements along the last dimension of 'tensor<4x6xf32>'}}
  %values, %indices = chlo.top_k(%x, k = 7) : tensor<4x6xf32> -> (tensor<4x7xf32>, tensor<4x7xi32>)
  return
}

// -----

func.func @top_k_results(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{requires results of types 'tensor<4x2xf32>' and 'tensor<4x2xi32>', but they are 'tensor<4x2xf32>' and 'tensor<4x2xi64>'}}
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi64>)
  return
}
