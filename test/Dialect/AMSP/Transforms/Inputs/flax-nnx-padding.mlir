module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<12x3x4xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<12xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<3x4x12xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<3x4xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<12x3x4xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<3x4xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<12x3x4xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<4x8x12xf32>, %arg9: tensor<4xi32>, %arg10: tensor<2xui32>) -> (tensor<3x4xf32> {jax.result_info = "result[0]['key']['bias'].value"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['key']['kernel'].value"}, tensor<12xf32> {jax.result_info = "result[0]['out']['bias'].value"}, tensor<3x4x12xf32> {jax.result_info = "result[0]['out']['kernel'].value"}, tensor<3x4xf32> {jax.result_info = "result[0]['query']['bias'].value"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['query']['kernel'].value"}, tensor<3x4xf32> {jax.result_info = "result[0]['value']['bias'].value"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['value']['kernel'].value"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
    %2 = stablehlo.broadcast_in_dim %arg9, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<4x8xi32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x8xi32>
    %5 = stablehlo.compare LT, %3, %4, SIGNED : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
    %6 = stablehlo.iota dim = 0 : tensor<8xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<8xi32>) -> tensor<1x8xi32>
    %8 = stablehlo.broadcast_in_dim %arg9, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<4x8xi32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x8xi32>
    %11 = stablehlo.compare LT, %9, %10, SIGNED : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
    %12 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x8xi1>) -> tensor<4x8x1xi1>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 2] : (tensor<4x8xi1>) -> tensor<4x1x8xi1>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<4x8x1xi1>) -> tensor<4x8x8xi1>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<4x1x8xi1>) -> tensor<4x8x8xi1>
    %16 = stablehlo.and %14, %15 : tensor<4x8x8xi1>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 2, 3] : (tensor<4x8x8xi1>) -> tensor<4x1x8x8xi1>
    %18 = stablehlo.convert %17 : (tensor<4x1x8x8xi1>) -> tensor<4x1x8x8xf32>
    %19 = stablehlo.dot_general %arg8, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<12x3x4xf32>) -> tensor<4x8x3x4xf32>
    %20 = stablehlo.reshape %arg4 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x1x3x4xf32>) -> tensor<4x8x3x4xf32>
    %22 = stablehlo.add %19, %21 : tensor<4x8x3x4xf32>
    %23 = stablehlo.dot_general %arg8, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<12x3x4xf32>) -> tensor<4x8x3x4xf32>
    %24 = stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<1x1x3x4xf32>) -> tensor<4x8x3x4xf32>
    %26 = stablehlo.add %23, %25 : tensor<4x8x3x4xf32>
    %27 = stablehlo.dot_general %arg8, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<12x3x4xf32>) -> tensor<4x8x3x4xf32>
    %28 = stablehlo.reshape %arg6 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<1x1x3x4xf32>) -> tensor<4x8x3x4xf32>
    %30 = stablehlo.add %27, %29 : tensor<4x8x3x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1x8x8xf32>
    %32 = stablehlo.compare NE, %18, %31, FLOAT : (tensor<4x1x8x8xf32>, tensor<4x1x8x8xf32>) -> tensor<4x1x8x8xi1>
    %33 = stablehlo.convert %32 : tensor<4x1x8x8xi1>
    %34 = stablehlo.reshape %22 : (tensor<4x8x3x4xf32>) -> tensor<4x8x3x1x4xf32>
    %35 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 3, 4] : (tensor<4x1x8x8xi1>) -> tensor<4x1x1x8x8xi1>
    %36 = stablehlo.dot_general %34, %26, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x1x4xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x1x8xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3x8x1x8xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<4x3x8x1x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %39 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<4x3x8x8xi1>
    %40 = stablehlo.broadcast_in_dim %39, dims = [1, 2, 3, 4] : (tensor<4x3x8x8xi1>) -> tensor<1x4x3x8x8xi1>
    %41 = stablehlo.transpose %35, dims = [2, 0, 1, 3, 4] : (tensor<4x1x1x8x8xi1>) -> tensor<1x4x1x8x8xi1>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2, 3, 4] : (tensor<1x4x1x8x8xi1>) -> tensor<1x4x3x8x8xi1>
    %43 = stablehlo.and %40, %42 : tensor<1x4x3x8x8xi1>
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %44:2 = call @_where(%43, %38, %cst_1) : (tensor<1x4x3x8x8xi1>, tensor<4x3x8x1x8xf32>, tensor<f32>) -> (tensor<1x4x3x8x8xf32>, tensor<1x4x3x8x8xf32>)
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %45 = stablehlo.reduce(%44#0 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<1x4x3x8x8xf32>, tensor<f32>) -> tensor<1x4x3x8xf32>
    %46 = stablehlo.reshape %45 : (tensor<1x4x3x8xf32>) -> tensor<1x4x3x8x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3, 4] : (tensor<1x4x3x8x1xf32>) -> tensor<1x4x3x8x8xf32>
    %48 = stablehlo.compare EQ, %44#0, %47, FLOAT : (tensor<1x4x3x8x8xf32>, tensor<1x4x3x8x8xf32>) -> tensor<1x4x3x8x8xi1>
    %49 = stablehlo.convert %48 : (tensor<1x4x3x8x8xi1>) -> tensor<1x4x3x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<1x4x3x8x8xf32>, tensor<f32>) -> tensor<1x4x3x8xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x4x3x8xf32>
    %52 = stablehlo.maximum %51, %45 : tensor<1x4x3x8xf32>
    %53 = stablehlo.compare EQ, %45, %52, FLOAT : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xi1>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x4x3x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x4x3x8xf32>
    %56 = stablehlo.select %53, %54, %55 : tensor<1x4x3x8xi1>, tensor<1x4x3x8xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x4x3x8xf32>
    %58 = stablehlo.compare EQ, %57, %52, FLOAT : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xi1>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x4x3x8xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x4x3x8xf32>
    %61 = stablehlo.select %58, %59, %60 : tensor<1x4x3x8xi1>, tensor<1x4x3x8xf32>
    %62 = stablehlo.divide %56, %61 : tensor<1x4x3x8xf32>
    %63 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3] : (tensor<1x4x3x8xf32>) -> tensor<1x4x3x8x1xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3, 4] : (tensor<1x4x3x8x1xf32>) -> tensor<1x4x3x8x8xf32>
    %65 = stablehlo.subtract %44#0, %64 : tensor<1x4x3x8x8xf32>
    %66 = stablehlo.exponential %65 : tensor<1x4x3x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_10) applies stablehlo.add across dimensions = [4] : (tensor<1x4x3x8x8xf32>, tensor<f32>) -> tensor<1x4x3x8xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2, 3] : (tensor<1x4x3x8xf32>) -> tensor<1x4x3x8x1xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2, 3, 4] : (tensor<1x4x3x8x1xf32>) -> tensor<1x4x3x8x8xf32>
    %70 = stablehlo.divide %66, %69 : tensor<1x4x3x8x8xf32>
    %71 = stablehlo.multiply %68, %68 : tensor<1x4x3x8x1xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x4x3x8x1xf32>
    %73 = stablehlo.divide %72, %71 : tensor<1x4x3x8x1xf32>
    %74 = stablehlo.dot_general %30, %70, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<1x4x3x8x8xf32>) -> tensor<4x3x4x1x8xf32>
    %75 = stablehlo.transpose %74, dims = [3, 0, 4, 1, 2] : (tensor<4x3x4x1x8xf32>) -> tensor<1x4x8x3x4xf32>
    %76 = stablehlo.transpose %75, dims = [1, 2, 3, 0, 4] : (tensor<1x4x8x3x4xf32>) -> tensor<4x8x3x1x4xf32>
    %77 = stablehlo.reshape %76 : (tensor<4x8x3x1x4xf32>) -> tensor<4x8x3x4xf32>
    %78 = stablehlo.dot_general %77, %arg3, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<3x4x12xf32>) -> tensor<4x8x12xf32>
    %79 = stablehlo.reshape %arg2 : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [0, 1, 2] : (tensor<1x1x12xf32>) -> tensor<4x8x12xf32>
    %81 = stablehlo.add %78, %80 : tensor<4x8x12xf32>
    %82 = chlo.square %81 : tensor<4x8x12xf32> -> tensor<4x8x12xf32>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x8x12xf32>
    %84 = stablehlo.multiply %83, %81 : tensor<4x8x12xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%82 init: %cst_13) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x8x12xf32>, tensor<f32>) -> tensor<f32>
    %cst_14 = stablehlo.constant dense<3.840000e+02> : tensor<f32>
    %86 = stablehlo.divide %85, %cst_14 : tensor<f32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_16 = stablehlo.constant dense<3.840000e+02> : tensor<f32>
    %87 = stablehlo.divide %cst_15, %cst_16 : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [] : (tensor<f32>) -> tensor<4x8x12xf32>
    %89 = stablehlo.multiply %88, %84 : tensor<4x8x12xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%89 init: %cst_17) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x12xf32>, tensor<f32>) -> tensor<12xf32>
    %91 = stablehlo.reshape %90 : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %92 = stablehlo.reshape %91 : (tensor<1x1x12xf32>) -> tensor<12xf32>
    %93 = stablehlo.dot_general %89, %77, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<4x8x3x4xf32>) -> tensor<12x3x4xf32>
    %94 = stablehlo.transpose %93, dims = [1, 2, 0] : (tensor<12x3x4xf32>) -> tensor<3x4x12xf32>
    %95 = stablehlo.dot_general %89, %arg3, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<3x4x12xf32>) -> tensor<4x8x3x4xf32>
    %96 = stablehlo.reshape %95 : (tensor<4x8x3x4xf32>) -> tensor<4x8x3x1x4xf32>
    %97 = stablehlo.transpose %96, dims = [3, 0, 1, 2, 4] : (tensor<4x8x3x1x4xf32>) -> tensor<1x4x8x3x4xf32>
    %98 = stablehlo.transpose %97, dims = [1, 3, 4, 0, 2] : (tensor<1x4x8x3x4xf32>) -> tensor<4x3x4x1x8xf32>
    %99 = stablehlo.dot_general %98, %30, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x3x4x1x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x1x8x8xf32>
    %100 = stablehlo.transpose %99, dims = [2, 0, 1, 3, 4] : (tensor<4x3x1x8x8xf32>) -> tensor<1x4x3x8x8xf32>
    %101 = stablehlo.dot_general %98, %70, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<4x3x4x1x8xf32>, tensor<1x4x3x8x8xf32>) -> tensor<4x3x4x8xf32>
    %102 = stablehlo.transpose %101, dims = [0, 3, 1, 2] : (tensor<4x3x4x8xf32>) -> tensor<4x8x3x4xf32>
    %103 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2, 3, 4] : (tensor<1x4x3x8x1xf32>) -> tensor<1x4x3x8x8xf32>
    %104 = stablehlo.multiply %100, %103 : tensor<1x4x3x8x8xf32>
    %105 = stablehlo.multiply %104, %66 : tensor<1x4x3x8x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %106 = stablehlo.reduce(%105 init: %cst_18) applies stablehlo.add across dimensions = [4] : (tensor<1x4x3x8x8xf32>, tensor<f32>) -> tensor<1x4x3x8xf32>
    %107 = stablehlo.reshape %106 : (tensor<1x4x3x8xf32>) -> tensor<1x4x3x8x1xf32>
    %108 = stablehlo.negate %107 : tensor<1x4x3x8x1xf32>
    %109 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2, 3, 4] : (tensor<1x4x3x8x1xf32>) -> tensor<1x4x3x8x8xf32>
    %110 = stablehlo.divide %100, %109 : tensor<1x4x3x8x8xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%108 init: %cst_19) applies stablehlo.add across dimensions = [0, 4] : (tensor<1x4x3x8x1xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [1, 2, 3] : (tensor<4x3x8xf32>) -> tensor<1x4x3x8xf32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [0, 1, 2, 3] : (tensor<1x4x3x8xf32>) -> tensor<1x4x3x8x8xf32>
    %114 = stablehlo.add %110, %113 : tensor<1x4x3x8x8xf32>
    %115 = stablehlo.multiply %114, %66 : tensor<1x4x3x8x8xf32>
    %116 = call @_where_0(%43, %44#1, %115) : (tensor<1x4x3x8x8xi1>, tensor<1x4x3x8x8xf32>, tensor<1x4x3x8x8xf32>) -> tensor<4x3x8x1x8xf32>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x3x8x1x8xf32>
    %118 = stablehlo.multiply %116, %117 : tensor<4x3x8x1x8xf32>
    %119 = stablehlo.dot_general %118, %34, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<4x3x8x1x8xf32>, tensor<4x8x3x1x4xf32>) -> tensor<4x3x8x4xf32>
    %120 = stablehlo.transpose %119, dims = [0, 2, 1, 3] : (tensor<4x3x8x4xf32>) -> tensor<4x8x3x4xf32>
    %121 = stablehlo.dot_general %118, %26, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x8x1x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x1x4xf32>
    %122 = stablehlo.transpose %121, dims = [0, 2, 1, 3, 4] : (tensor<4x3x8x1x4xf32>) -> tensor<4x8x3x1x4xf32>
    %123 = stablehlo.reshape %122 : (tensor<4x8x3x1x4xf32>) -> tensor<4x8x3x4xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.reduce(%102 init: %cst_21) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %125 = stablehlo.reshape %124 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %126 = stablehlo.reshape %125 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %127 = stablehlo.dot_general %102, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %128 = stablehlo.transpose %127, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.reduce(%120 init: %cst_22) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %130 = stablehlo.reshape %129 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %131 = stablehlo.reshape %130 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %132 = stablehlo.dot_general %120, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %133 = stablehlo.transpose %132, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.reduce(%123 init: %cst_23) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %135 = stablehlo.reshape %134 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %136 = stablehlo.reshape %135 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %137 = stablehlo.dot_general %123, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %138 = stablehlo.transpose %137, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %140 = stablehlo.multiply %139, %131 : tensor<3x4xf32>
    %141 = stablehlo.subtract %arg0, %140 : tensor<3x4xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %143 = stablehlo.multiply %142, %133 : tensor<12x3x4xf32>
    %144 = stablehlo.subtract %arg1, %143 : tensor<12x3x4xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %146 = stablehlo.multiply %145, %92 : tensor<12xf32>
    %147 = stablehlo.subtract %arg2, %146 : tensor<12xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<3x4x12xf32>
    %149 = stablehlo.multiply %148, %94 : tensor<3x4x12xf32>
    %150 = stablehlo.subtract %arg3, %149 : tensor<3x4x12xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %152 = stablehlo.multiply %151, %136 : tensor<3x4xf32>
    %153 = stablehlo.subtract %arg4, %152 : tensor<3x4xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %155 = stablehlo.multiply %154, %138 : tensor<12x3x4xf32>
    %156 = stablehlo.subtract %arg5, %155 : tensor<12x3x4xf32>
    %cst_30 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %158 = stablehlo.multiply %157, %126 : tensor<3x4xf32>
    %159 = stablehlo.subtract %arg6, %158 : tensor<3x4xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %161 = stablehlo.multiply %160, %128 : tensor<12x3x4xf32>
    %162 = stablehlo.subtract %arg7, %161 : tensor<12x3x4xf32>
    return %141, %144, %147, %150, %153, %156, %159, %162, %86 : tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<12xf32>, tensor<3x4x12xf32>, tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<f32>
  }
  func.func private @_where(%arg0: tensor<1x4x3x8x8xi1>, %arg1: tensor<4x3x8x1x8xf32>, %arg2: tensor<f32>) -> (tensor<1x4x3x8x8xf32>, tensor<1x4x3x8x8xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4x3x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<4x3x8x8xf32>) -> tensor<1x4x3x8x8xf32>
    %2 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<4x3x8x1x8xf32>) -> tensor<1x4x3x8x8xf32>
    %3 = stablehlo.select %arg0, %2, %1 : tensor<1x4x3x8x8xi1>, tensor<1x4x3x8x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x3x8x8xf32>
    return %3, %4 : tensor<1x4x3x8x8xf32>, tensor<1x4x3x8x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<1x4x3x8x8xi1>, %arg1: tensor<1x4x3x8x8xf32>, %arg2: tensor<1x4x3x8x8xf32>) -> tensor<4x3x8x1x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x3x8x8xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<1x4x3x8x8xi1>, tensor<1x4x3x8x8xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 3, 0, 4] : (tensor<1x4x3x8x8xf32>) -> tensor<4x3x8x1x8xf32>
    return %2 : tensor<4x3x8x1x8xf32>
  }
}
