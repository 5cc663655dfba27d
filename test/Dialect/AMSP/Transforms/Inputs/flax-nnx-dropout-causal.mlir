module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<12x3x4xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<12xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<3x4x12xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<3x4xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<12x3x4xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<3x4xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<12x3x4xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<4x8x12xf32>, %arg9: tensor<4xi32>, %arg10: tensor<2xui32>) -> (tensor<3x4xf32> {jax.result_info = "result[0]['key']['bias'].value"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['key']['kernel'].value"}, tensor<12xf32> {jax.result_info = "result[0]['out']['bias'].value"}, tensor<3x4x12xf32> {jax.result_info = "result[0]['out']['kernel'].value"}, tensor<3x4xf32> {jax.result_info = "result[0]['query']['bias'].value"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['query']['kernel'].value"}, tensor<3x4xf32> {jax.result_info = "result[0]['value']['bias'].value"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['value']['kernel'].value"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg8 [0:4, 0:8, 0:1] : (tensor<4x8x12xf32>) -> tensor<4x8x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<4x8x1xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.iota dim = 0 : tensor<8xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<8xi32>) -> tensor<4x8xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x8xi32>) -> tensor<4x8x1xi32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 2] : (tensor<4x8xi32>) -> tensor<4x1x8xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<4x8x1xi32>) -> tensor<4x8x8xi32>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<4x1x8xi32>) -> tensor<4x8x8xi32>
    %8 = stablehlo.compare GE, %6, %7, SIGNED : (tensor<4x8x8xi32>, tensor<4x8x8xi32>) -> tensor<4x8x8xi1>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 2, 3] : (tensor<4x8x8xi1>) -> tensor<4x1x8x8xi1>
    %10 = stablehlo.convert %9 : (tensor<4x1x8x8xi1>) -> tensor<4x1x8x8xf32>
    %11 = stablehlo.dot_general %arg8, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<12x3x4xf32>) -> tensor<4x8x3x4xf32>
    %12 = stablehlo.reshape %arg4 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x1x3x4xf32>) -> tensor<4x8x3x4xf32>
    %14 = stablehlo.add %11, %13 : tensor<4x8x3x4xf32>
    %15 = stablehlo.dot_general %arg8, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<12x3x4xf32>) -> tensor<4x8x3x4xf32>
    %16 = stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x1x3x4xf32>) -> tensor<4x8x3x4xf32>
    %18 = stablehlo.add %15, %17 : tensor<4x8x3x4xf32>
    %19 = stablehlo.dot_general %arg8, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<12x3x4xf32>) -> tensor<4x8x3x4xf32>
    %20 = stablehlo.reshape %arg6 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x1x3x4xf32>) -> tensor<4x8x3x4xf32>
    %22 = stablehlo.add %19, %21 : tensor<4x8x3x4xf32>
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %23 = call @_threefry_fold_in(%arg10, %c) : (tensor<2xui32>, tensor<ui32>) -> tensor<2xui32>
    %c_0 = stablehlo.constant dense<0> : tensor<ui32>
    %c_1 = stablehlo.constant dense<1> : tensor<ui32>
    %24 = stablehlo.add %c_0, %c_1 : tensor<ui32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %25 = stablehlo.sqrt %cst : tensor<f32>
    %26 = stablehlo.convert %25 : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<4x8x3x4xf32>
    %28 = stablehlo.divide %14, %27 : tensor<4x8x3x4xf32>
    %29 = stablehlo.dot_general %28, %18, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x8xf32>
    %cst_2 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
    %30:3 = call @_where(%10, %29, %cst_2) : (tensor<4x1x8x8xf32>, tensor<4x3x8x8xf32>, tensor<f32>) -> (tensor<4x3x8x8xf32>, tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>)
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %31 = stablehlo.reduce(%30#0 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %32 = stablehlo.reshape %31 : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %34 = stablehlo.compare EQ, %30#0, %33, FLOAT : (tensor<4x3x8x8xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xi1>
    %35 = stablehlo.convert %34 : (tensor<4x3x8x8xi1>) -> tensor<4x3x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %38 = stablehlo.maximum %37, %31 : tensor<4x3x8xf32>
    %39 = stablehlo.compare EQ, %31, %38, FLOAT : (tensor<4x3x8xf32>, tensor<4x3x8xf32>) -> tensor<4x3x8xi1>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %42 = stablehlo.select %39, %40, %41 : tensor<4x3x8xi1>, tensor<4x3x8xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %44 = stablehlo.compare EQ, %43, %38, FLOAT : (tensor<4x3x8xf32>, tensor<4x3x8xf32>) -> tensor<4x3x8xi1>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %47 = stablehlo.select %44, %45, %46 : tensor<4x3x8xi1>, tensor<4x3x8xf32>
    %48 = stablehlo.divide %42, %47 : tensor<4x3x8xf32>
    %49 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %51 = stablehlo.subtract %30#0, %50 : tensor<4x3x8x8xf32>
    %52 = stablehlo.exponential %51 : tensor<4x3x8x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %56 = stablehlo.divide %52, %55 : tensor<4x3x8x8xf32>
    %57 = stablehlo.multiply %54, %54 : tensor<4x3x8x1xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x3x8x1xf32>
    %59 = stablehlo.divide %58, %57 : tensor<4x3x8x1xf32>
    %cst_13 = stablehlo.constant dense<7.500000e-01> : tensor<f32>
    %60 = call @_bernoulli(%23, %cst_13) : (tensor<2xui32>, tensor<f32>) -> tensor<1x1x8x8xi1>
    %61 = stablehlo.convert %60 : (tensor<1x1x8x8xi1>) -> tensor<1x1x8x8xf32>
    %cst_14 = stablehlo.constant dense<7.500000e-01> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x1x8x8xf32>
    %63 = stablehlo.divide %61, %62 : tensor<1x1x8x8xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xf32>) -> tensor<4x3x8x8xf32>
    %65 = stablehlo.multiply %56, %64 : tensor<4x3x8x8xf32>
    %66 = stablehlo.dot_general %22, %65, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x4x8xf32>
    %67 = stablehlo.transpose %66, dims = [0, 3, 1, 2] : (tensor<4x3x4x8xf32>) -> tensor<4x8x3x4xf32>
    %68 = stablehlo.dot_general %67, %arg3, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<3x4x12xf32>) -> tensor<4x8x12xf32>
    %69 = stablehlo.reshape %arg2 : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<1x1x12xf32>) -> tensor<4x8x12xf32>
    %71 = stablehlo.add %68, %70 : tensor<4x8x12xf32>
    %72 = chlo.square %71 : tensor<4x8x12xf32> -> tensor<4x8x12xf32>
    %cst_15 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x8x12xf32>
    %74 = stablehlo.multiply %73, %71 : tensor<4x8x12xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.reduce(%72 init: %cst_16) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x8x12xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<3.840000e+02> : tensor<f32>
    %76 = stablehlo.divide %75, %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_19 = stablehlo.constant dense<3.840000e+02> : tensor<f32>
    %77 = stablehlo.divide %cst_18, %cst_19 : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [] : (tensor<f32>) -> tensor<4x8x12xf32>
    %79 = stablehlo.multiply %78, %74 : tensor<4x8x12xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%79 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x12xf32>, tensor<f32>) -> tensor<12xf32>
    %81 = stablehlo.reshape %80 : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %82 = stablehlo.reshape %81 : (tensor<1x1x12xf32>) -> tensor<12xf32>
    %83 = stablehlo.dot_general %79, %67, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<4x8x3x4xf32>) -> tensor<12x3x4xf32>
    %84 = stablehlo.transpose %83, dims = [1, 2, 0] : (tensor<12x3x4xf32>) -> tensor<3x4x12xf32>
    %85 = stablehlo.dot_general %79, %arg3, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<3x4x12xf32>) -> tensor<4x8x3x4xf32>
    %86 = stablehlo.transpose %85, dims = [0, 2, 3, 1] : (tensor<4x8x3x4xf32>) -> tensor<4x3x4x8xf32>
    %87 = stablehlo.dot_general %86, %22, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x3x4x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x8xf32>
    %88 = stablehlo.dot_general %86, %65, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x3x4x8xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x4x8xf32>
    %89 = stablehlo.transpose %88, dims = [0, 3, 1, 2] : (tensor<4x3x4x8xf32>) -> tensor<4x8x3x4xf32>
    %90 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x1x8x8xf32>) -> tensor<4x3x8x8xf32>
    %91 = stablehlo.multiply %87, %90 : tensor<4x3x8x8xf32>
    %92 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %93 = stablehlo.multiply %91, %92 : tensor<4x3x8x8xf32>
    %94 = stablehlo.multiply %93, %52 : tensor<4x3x8x8xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.reduce(%94 init: %cst_21) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %96 = stablehlo.reshape %95 : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %97 = stablehlo.negate %96 : tensor<4x3x8x1xf32>
    %98 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %99 = stablehlo.divide %91, %98 : tensor<4x3x8x8xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.reduce(%97 init: %cst_22) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x1xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %101 = stablehlo.broadcast_in_dim %100, dims = [0, 1, 2] : (tensor<4x3x8xf32>) -> tensor<4x3x8x8xf32>
    %102 = stablehlo.add %99, %101 : tensor<4x3x8x8xf32>
    %103 = stablehlo.multiply %102, %52 : tensor<4x3x8x8xf32>
    %104 = call @_where_2(%30#1, %30#2, %103) : (tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xf32>
    %105 = stablehlo.dot_general %104, %28, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x8x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x4xf32>
    %106 = stablehlo.transpose %105, dims = [0, 2, 1, 3] : (tensor<4x3x8x4xf32>) -> tensor<4x8x3x4xf32>
    %107 = stablehlo.dot_general %104, %18, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x8x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x4xf32>
    %108 = stablehlo.transpose %107, dims = [0, 2, 1, 3] : (tensor<4x3x8x4xf32>) -> tensor<4x8x3x4xf32>
    %109 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<4x8x3x4xf32>
    %110 = stablehlo.divide %108, %109 : tensor<4x8x3x4xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%89 init: %cst_23) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %112 = stablehlo.reshape %111 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %113 = stablehlo.reshape %112 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %114 = stablehlo.dot_general %89, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %115 = stablehlo.transpose %114, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.reduce(%106 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %117 = stablehlo.reshape %116 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %118 = stablehlo.reshape %117 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %119 = stablehlo.dot_general %106, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %120 = stablehlo.transpose %119, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.reduce(%110 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %122 = stablehlo.reshape %121 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %123 = stablehlo.reshape %122 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %124 = stablehlo.dot_general %110, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %125 = stablehlo.transpose %124, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %127 = stablehlo.multiply %126, %118 : tensor<3x4xf32>
    %128 = stablehlo.subtract %arg0, %127 : tensor<3x4xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %130 = stablehlo.multiply %129, %120 : tensor<12x3x4xf32>
    %131 = stablehlo.subtract %arg1, %130 : tensor<12x3x4xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %133 = stablehlo.multiply %132, %82 : tensor<12xf32>
    %134 = stablehlo.subtract %arg2, %133 : tensor<12xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %135 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<3x4x12xf32>
    %136 = stablehlo.multiply %135, %84 : tensor<3x4x12xf32>
    %137 = stablehlo.subtract %arg3, %136 : tensor<3x4x12xf32>
    %cst_30 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %139 = stablehlo.multiply %138, %123 : tensor<3x4xf32>
    %140 = stablehlo.subtract %arg4, %139 : tensor<3x4xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %141 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %142 = stablehlo.multiply %141, %125 : tensor<12x3x4xf32>
    %143 = stablehlo.subtract %arg5, %142 : tensor<12x3x4xf32>
    %cst_32 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %145 = stablehlo.multiply %144, %113 : tensor<3x4xf32>
    %146 = stablehlo.subtract %arg6, %145 : tensor<3x4xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %148 = stablehlo.multiply %147, %115 : tensor<12x3x4xf32>
    %149 = stablehlo.subtract %arg7, %148 : tensor<12x3x4xf32>
    return %128, %131, %134, %137, %140, %143, %146, %149, %76 : tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<12xf32>, tensor<3x4x12xf32>, tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<f32>
  }
  func.func private @_threefry_fold_in(%arg0: tensor<2xui32>, %arg1: tensor<ui32>) -> tensor<2xui32> {
    %c = stablehlo.constant dense<32> : tensor<ui32>
    %0 = stablehlo.shift_right_logical %arg1, %c : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %c_0 = stablehlo.constant dense<4294967295> : tensor<ui32>
    %2 = stablehlo.and %arg1, %c_0 : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %5 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %6 = stablehlo.reshape %5 : (tensor<1xui32>) -> tensor<ui32>
    %7 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %8 = stablehlo.reshape %7 : (tensor<1xui32>) -> tensor<ui32>
    %9 = stablehlo.slice %4 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %10 = stablehlo.slice %4 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %11:2 = call @threefry2x32(%6, %8, %9, %10) : (tensor<ui32>, tensor<ui32>, tensor<1xui32>, tensor<1xui32>) -> (tensor<1xui32>, tensor<1xui32>)
    %12 = stablehlo.concatenate %11#0, %11#1, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    return %12 : tensor<2xui32>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<1xui32>, %arg3: tensor<1xui32>) -> (tensor<1xui32>, tensor<1xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<1xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<1xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i32>, tensor<i32>, tensor<1xui32>, tensor<1xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i32>, tensor<1xui32>, tensor<1xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1xui32>, tensor<1xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<1xui32>, tensor<1xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<1xui32>, tensor<1xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<1xui32>, %arg2: tensor<1xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<1xui32>, tensor<1xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<1xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<1xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<1xui32>
    %9 = stablehlo.or %5, %8 : tensor<1xui32>
    %10 = stablehlo.xor %3, %9 : tensor<1xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<1xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<1xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<1xui32>
    %19 = stablehlo.or %15, %18 : tensor<1xui32>
    %20 = stablehlo.xor %13, %19 : tensor<1xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<1xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<1xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<1xui32>
    %29 = stablehlo.or %25, %28 : tensor<1xui32>
    %30 = stablehlo.xor %23, %29 : tensor<1xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<1xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<1xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<1xui32>
    %39 = stablehlo.or %35, %38 : tensor<1xui32>
    %40 = stablehlo.xor %33, %39 : tensor<1xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %42 = stablehlo.add %33, %41 : tensor<1xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %44 = stablehlo.add %40, %43 : tensor<1xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %48 = stablehlo.add %44, %47 : tensor<1xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<1xui32>, tensor<1xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @_where(%arg0: tensor<4x1x8x8xf32>, %arg1: tensor<4x3x8x8xf32>, %arg2: tensor<f32>) -> (tensor<4x3x8x8xf32>, tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1x8x8xf32>
    %1 = stablehlo.compare NE, %arg0, %0, FLOAT : (tensor<4x1x8x8xf32>, tensor<4x1x8x8xf32>) -> tensor<4x1x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<4x1x8x8xi1>) -> tensor<4x3x8x8xi1>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4x3x8x8xf32>
    %4 = stablehlo.select %2, %arg1, %3 : tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3x8x8xf32>
    return %4, %2, %5 : tensor<4x3x8x8xf32>, tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>
  }
  func.func private @_bernoulli(%arg0: tensor<2xui32>, %arg1: tensor<f32>) -> tensor<1x1x8x8xi1> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %cst, %cst_0) : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<1x1x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1x1x8x8xf32>
    %2 = stablehlo.compare LT, %0, %1, FLOAT : (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xi1>
    return %2 : tensor<1x1x8x8xi1>
  }
  func.func private @_uniform(%arg0: tensor<2xui32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<1x1x8x8xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.convert %arg2 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %4 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %7 = stablehlo.reshape %6 : (tensor<1xui32>) -> tensor<ui32>
    %8 = stablehlo.iota dim = 0 : tensor<1x1x8x8xui64>
    %9 = stablehlo.iota dim = 1 : tensor<1x1x8x8xui64>
    %10 = stablehlo.iota dim = 2 : tensor<1x1x8x8xui64>
    %11 = stablehlo.iota dim = 3 : tensor<1x1x8x8xui64>
    %c = stablehlo.constant dense<64> : tensor<ui64>
    %12 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<1x1x8x8xui64>
    %13 = stablehlo.multiply %12, %8 : tensor<1x1x8x8xui64>
    %c_0 = stablehlo.constant dense<64> : tensor<ui64>
    %14 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<1x1x8x8xui64>
    %15 = stablehlo.multiply %14, %9 : tensor<1x1x8x8xui64>
    %c_1 = stablehlo.constant dense<8> : tensor<ui64>
    %16 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<1x1x8x8xui64>
    %17 = stablehlo.multiply %16, %10 : tensor<1x1x8x8xui64>
    %c_2 = stablehlo.constant dense<1> : tensor<ui64>
    %18 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui64>) -> tensor<1x1x8x8xui64>
    %19 = stablehlo.multiply %18, %11 : tensor<1x1x8x8xui64>
    %20 = stablehlo.add %13, %15 : tensor<1x1x8x8xui64>
    %21 = stablehlo.add %20, %17 : tensor<1x1x8x8xui64>
    %22 = stablehlo.add %21, %19 : tensor<1x1x8x8xui64>
    %c_3 = stablehlo.constant dense<32> : tensor<ui64>
    %23 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui64>) -> tensor<1x1x8x8xui64>
    %24 = stablehlo.shift_right_logical %22, %23 : tensor<1x1x8x8xui64>
    %25 = stablehlo.convert %22 : (tensor<1x1x8x8xui64>) -> tensor<1x1x8x8xui32>
    %26 = stablehlo.convert %24 : (tensor<1x1x8x8xui64>) -> tensor<1x1x8x8xui32>
    %27:2 = call @threefry2x32_0(%5, %7, %26, %25) : (tensor<ui32>, tensor<ui32>, tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>) -> (tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>)
    %28 = stablehlo.xor %27#0, %27#1 : tensor<1x1x8x8xui32>
    %c_4 = stablehlo.constant dense<9> : tensor<ui32>
    %29 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %30 = stablehlo.shift_right_logical %28, %29 : tensor<1x1x8x8xui32>
    %c_5 = stablehlo.constant dense<1065353216> : tensor<ui32>
    %31 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %32 = stablehlo.or %30, %31 : tensor<1x1x8x8xui32>
    %33 = stablehlo.bitcast_convert %32 : (tensor<1x1x8x8xui32>) -> tensor<1x1x8x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x1x8x8xf32>
    %35 = stablehlo.subtract %33, %34 : tensor<1x1x8x8xf32>
    %36 = stablehlo.subtract %3, %2 : tensor<1x1x1x1xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xf32>) -> tensor<1x1x8x8xf32>
    %38 = stablehlo.multiply %35, %37 : tensor<1x1x8x8xf32>
    %39 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xf32>) -> tensor<1x1x8x8xf32>
    %40 = stablehlo.add %38, %39 : tensor<1x1x8x8xf32>
    %41 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xf32>) -> tensor<1x1x8x8xf32>
    %42 = stablehlo.maximum %41, %40 : tensor<1x1x8x8xf32>
    return %42 : tensor<1x1x8x8xf32>
  }
  func.func private @threefry2x32_0(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<1x1x8x8xui32>, %arg3: tensor<1x1x8x8xui32>) -> (tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<1x1x8x8xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<1x1x8x8xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i32>, tensor<i32>, tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call_1(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i32>, tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>
  }
  func.func private @closed_call_1(%arg0: tensor<i32>, %arg1: tensor<1x1x8x8xui32>, %arg2: tensor<1x1x8x8xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<1x1x8x8xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<1x1x8x8xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<1x1x8x8xui32>
    %9 = stablehlo.or %5, %8 : tensor<1x1x8x8xui32>
    %10 = stablehlo.xor %3, %9 : tensor<1x1x8x8xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<1x1x8x8xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<1x1x8x8xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<1x1x8x8xui32>
    %19 = stablehlo.or %15, %18 : tensor<1x1x8x8xui32>
    %20 = stablehlo.xor %13, %19 : tensor<1x1x8x8xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<1x1x8x8xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<1x1x8x8xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<1x1x8x8xui32>
    %29 = stablehlo.or %25, %28 : tensor<1x1x8x8xui32>
    %30 = stablehlo.xor %23, %29 : tensor<1x1x8x8xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<1x1x8x8xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<1x1x8x8xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<1x1x8x8xui32>
    %39 = stablehlo.or %35, %38 : tensor<1x1x8x8xui32>
    %40 = stablehlo.xor %33, %39 : tensor<1x1x8x8xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %42 = stablehlo.add %33, %41 : tensor<1x1x8x8xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %44 = stablehlo.add %40, %43 : tensor<1x1x8x8xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<1x1x8x8xui32>
    %48 = stablehlo.add %44, %47 : tensor<1x1x8x8xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<1x1x8x8xui32>, tensor<1x1x8x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @_where_2(%arg0: tensor<4x3x8x8xi1>, %arg1: tensor<4x3x8x8xf32>, %arg2: tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x8x8xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>
    return %1 : tensor<4x3x8x8xf32>
  }
}
