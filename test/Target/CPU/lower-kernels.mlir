// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-lower-kernels))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

// Buffers come as bare addresses; the loop is over their elements.
// CHECK-LABEL: func.func private @exp_kernel
// CHECK-SAME: (%arg0: !llvm.ptr, %arg1: !llvm.ptr)
// CHECK-SAME: passthrough = ["noinline", "nounwind"]
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<8xf32>
// CHECK: %[[Y:.*]] = math.exp %[[X]] : f32
// CHECK: memref.store %[[Y]], %{{.*}}[%{{.*}}] : memref<8xf32>
func.func private @exp_kernel(%x: memref<8xf32>, %y: memref<8xf32>) attributes {amsp.kernel} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A sum may be reassociated, so that it vectorises; elementwise sums are not.
// CHECK-LABEL: func.func private @sum_kernel
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
func.func private @sum_kernel(%x: memref<8xf32>, %y: memref<f32>) attributes {amsp.kernel} {
  linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]}
      ins(%x : memref<8xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %a, %a : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// The host program is not a kernel.
// CHECK-LABEL: func.func @host
// CHECK-SAME: memref<8xf32>
func.func @host(%x: memref<8xf32>) {
  return
}
