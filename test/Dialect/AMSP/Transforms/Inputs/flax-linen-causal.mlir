module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<12x3x4xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<12xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<3x4x12xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<3x4xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<12x3x4xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<3x4xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<12x3x4xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<4x8x12xf32>, %arg9: tensor<4xi32>, %arg10: tensor<2xui32>) -> (tensor<3x4xf32> {jax.result_info = "result[0]['params']['key']['bias']"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['params']['key']['kernel']"}, tensor<12xf32> {jax.result_info = "result[0]['params']['out']['bias']"}, tensor<3x4x12xf32> {jax.result_info = "result[0]['params']['out']['kernel']"}, tensor<3x4xf32> {jax.result_info = "result[0]['params']['query']['bias']"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['params']['query']['kernel']"}, tensor<3x4xf32> {jax.result_info = "result[0]['params']['value']['bias']"}, tensor<12x3x4xf32> {jax.result_info = "result[0]['params']['value']['kernel']"}, tensor<f32> {jax.result_info = "result[1]"}) {
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
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %23 = stablehlo.sqrt %cst : tensor<f32>
    %24 = stablehlo.convert %23 : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<4x8x3x4xf32>
    %26 = stablehlo.divide %14, %25 : tensor<4x8x3x4xf32>
    %27 = stablehlo.dot_general %26, %18, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x8xf32>
    %cst_0 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
    %28:3 = call @_where(%10, %27, %cst_0) : (tensor<4x1x8x8xf32>, tensor<4x3x8x8xf32>, tensor<f32>) -> (tensor<4x3x8x8xf32>, tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %29 = stablehlo.reduce(%28#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %30 = stablehlo.reshape %29 : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %32 = stablehlo.compare EQ, %28#0, %31, FLOAT : (tensor<4x3x8x8xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xi1>
    %33 = stablehlo.convert %32 : (tensor<4x3x8x8xi1>) -> tensor<4x3x8x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %36 = stablehlo.maximum %35, %29 : tensor<4x3x8xf32>
    %37 = stablehlo.compare EQ, %29, %36, FLOAT : (tensor<4x3x8xf32>, tensor<4x3x8xf32>) -> tensor<4x3x8xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %40 = stablehlo.select %37, %38, %39 : tensor<4x3x8xi1>, tensor<4x3x8xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %42 = stablehlo.compare EQ, %41, %36, FLOAT : (tensor<4x3x8xf32>, tensor<4x3x8xf32>) -> tensor<4x3x8xi1>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x3x8xf32>
    %45 = stablehlo.select %42, %43, %44 : tensor<4x3x8xi1>, tensor<4x3x8xf32>
    %46 = stablehlo.divide %40, %45 : tensor<4x3x8xf32>
    %47 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %49 = stablehlo.subtract %28#0, %48 : tensor<4x3x8x8xf32>
    %50 = stablehlo.exponential %49 : tensor<4x3x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2] : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %54 = stablehlo.divide %50, %53 : tensor<4x3x8x8xf32>
    %55 = stablehlo.multiply %52, %52 : tensor<4x3x8x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x3x8x1xf32>
    %57 = stablehlo.divide %56, %55 : tensor<4x3x8x1xf32>
    %58 = stablehlo.dot_general %22, %54, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x4x8xf32>
    %59 = stablehlo.transpose %58, dims = [0, 3, 1, 2] : (tensor<4x3x4x8xf32>) -> tensor<4x8x3x4xf32>
    %60 = stablehlo.dot_general %59, %arg3, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<3x4x12xf32>) -> tensor<4x8x12xf32>
    %61 = stablehlo.reshape %arg2 : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<1x1x12xf32>) -> tensor<4x8x12xf32>
    %63 = stablehlo.add %60, %62 : tensor<4x8x12xf32>
    %64 = chlo.square %63 : tensor<4x8x12xf32> -> tensor<4x8x12xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x8x12xf32>
    %66 = stablehlo.multiply %65, %63 : tensor<4x8x12xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%64 init: %cst_12) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x8x12xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<3.840000e+02> : tensor<f32>
    %68 = stablehlo.divide %67, %cst_13 : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_15 = stablehlo.constant dense<3.840000e+02> : tensor<f32>
    %69 = stablehlo.divide %cst_14, %cst_15 : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<4x8x12xf32>
    %71 = stablehlo.multiply %70, %66 : tensor<4x8x12xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_16) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x12xf32>, tensor<f32>) -> tensor<12xf32>
    %73 = stablehlo.reshape %72 : (tensor<12xf32>) -> tensor<1x1x12xf32>
    %74 = stablehlo.reshape %73 : (tensor<1x1x12xf32>) -> tensor<12xf32>
    %75 = stablehlo.dot_general %71, %59, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<4x8x3x4xf32>) -> tensor<12x3x4xf32>
    %76 = stablehlo.transpose %75, dims = [1, 2, 0] : (tensor<12x3x4xf32>) -> tensor<3x4x12xf32>
    %77 = stablehlo.dot_general %71, %arg3, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x12xf32>, tensor<3x4x12xf32>) -> tensor<4x8x3x4xf32>
    %78 = stablehlo.transpose %77, dims = [0, 2, 3, 1] : (tensor<4x8x3x4xf32>) -> tensor<4x3x4x8xf32>
    %79 = stablehlo.dot_general %78, %22, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x3x4x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x8xf32>
    %80 = stablehlo.dot_general %78, %54, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x3x4x8xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x4x8xf32>
    %81 = stablehlo.transpose %80, dims = [0, 3, 1, 2] : (tensor<4x3x4x8xf32>) -> tensor<4x8x3x4xf32>
    %82 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %83 = stablehlo.multiply %79, %82 : tensor<4x3x8x8xf32>
    %84 = stablehlo.multiply %83, %50 : tensor<4x3x8x8xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_17) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x8xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %86 = stablehlo.reshape %85 : (tensor<4x3x8xf32>) -> tensor<4x3x8x1xf32>
    %87 = stablehlo.negate %86 : tensor<4x3x8x1xf32>
    %88 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3] : (tensor<4x3x8x1xf32>) -> tensor<4x3x8x8xf32>
    %89 = stablehlo.divide %79, %88 : tensor<4x3x8x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%87 init: %cst_18) applies stablehlo.add across dimensions = [3] : (tensor<4x3x8x1xf32>, tensor<f32>) -> tensor<4x3x8xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<4x3x8xf32>) -> tensor<4x3x8x8xf32>
    %92 = stablehlo.add %89, %91 : tensor<4x3x8x8xf32>
    %93 = stablehlo.multiply %92, %50 : tensor<4x3x8x8xf32>
    %94 = call @_where_0(%28#1, %28#2, %93) : (tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>, tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xf32>
    %95 = stablehlo.dot_general %94, %26, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x8x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x4xf32>
    %96 = stablehlo.transpose %95, dims = [0, 2, 1, 3] : (tensor<4x3x8x4xf32>) -> tensor<4x8x3x4xf32>
    %97 = stablehlo.dot_general %94, %18, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3x8x8xf32>, tensor<4x8x3x4xf32>) -> tensor<4x3x8x4xf32>
    %98 = stablehlo.transpose %97, dims = [0, 2, 1, 3] : (tensor<4x3x8x4xf32>) -> tensor<4x8x3x4xf32>
    %99 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<4x8x3x4xf32>
    %100 = stablehlo.divide %98, %99 : tensor<4x8x3x4xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.reduce(%81 init: %cst_19) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %102 = stablehlo.reshape %101 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %103 = stablehlo.reshape %102 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %104 = stablehlo.dot_general %81, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %105 = stablehlo.transpose %104, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %106 = stablehlo.reduce(%96 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %107 = stablehlo.reshape %106 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %108 = stablehlo.reshape %107 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %109 = stablehlo.dot_general %96, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %110 = stablehlo.transpose %109, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%100 init: %cst_21) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    %112 = stablehlo.reshape %111 : (tensor<3x4xf32>) -> tensor<1x1x3x4xf32>
    %113 = stablehlo.reshape %112 : (tensor<1x1x3x4xf32>) -> tensor<3x4xf32>
    %114 = stablehlo.dot_general %100, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x3x4xf32>, tensor<4x8x12xf32>) -> tensor<3x4x12xf32>
    %115 = stablehlo.transpose %114, dims = [2, 0, 1] : (tensor<3x4x12xf32>) -> tensor<12x3x4xf32>
    %cst_22 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %117 = stablehlo.multiply %116, %108 : tensor<3x4xf32>
    %118 = stablehlo.subtract %arg0, %117 : tensor<3x4xf32>
    %cst_23 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %120 = stablehlo.multiply %119, %110 : tensor<12x3x4xf32>
    %121 = stablehlo.subtract %arg1, %120 : tensor<12x3x4xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %123 = stablehlo.multiply %122, %74 : tensor<12xf32>
    %124 = stablehlo.subtract %arg2, %123 : tensor<12xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<3x4x12xf32>
    %126 = stablehlo.multiply %125, %76 : tensor<3x4x12xf32>
    %127 = stablehlo.subtract %arg3, %126 : tensor<3x4x12xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %129 = stablehlo.multiply %128, %113 : tensor<3x4xf32>
    %130 = stablehlo.subtract %arg4, %129 : tensor<3x4xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %132 = stablehlo.multiply %131, %115 : tensor<12x3x4xf32>
    %133 = stablehlo.subtract %arg5, %132 : tensor<12x3x4xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %135 = stablehlo.multiply %134, %103 : tensor<3x4xf32>
    %136 = stablehlo.subtract %arg6, %135 : tensor<3x4xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<12x3x4xf32>
    %138 = stablehlo.multiply %137, %105 : tensor<12x3x4xf32>
    %139 = stablehlo.subtract %arg7, %138 : tensor<12x3x4xf32>
    return %118, %121, %124, %127, %130, %133, %136, %139, %68 : tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<12xf32>, tensor<3x4x12xf32>, tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<3x4xf32>, tensor<12x3x4xf32>, tensor<f32>
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
  func.func private @_where_0(%arg0: tensor<4x3x8x8xi1>, %arg1: tensor<4x3x8x8xf32>, %arg2: tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3x8x8xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<4x3x8x8xi1>, tensor<4x3x8x8xf32>
    return %1 : tensor<4x3x8x8xf32>
  }
}
