// RUN: amsp-opt %s --amsp-split-host=max-ops=4 -split-input-file -verify-diagnostics | FileCheck %s
// RUN: amsp-opt %s --amsp-split-host -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=WHOLE

// Each part takes the addresses that it reads and has constants of its own; the
// frame stays where it is. Loops are not cut.
// CHECK-LABEL: func.func private @amsp_execute_0
// CHECK-SAME: (%[[ARGS:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %[[FRAME:.*]]: !llvm.ptr) -> f32
// CHECK-SAME: passthrough = ["noinline", "optnone"]
// CHECK: %[[SCALAR:.*]] = llvm.load %[[ARGS]]
// CHECK: llvm.store %[[ARENA]], %[[FRAME]]
// CHECK: call @kernel(%[[SCALAR]], %[[ARENA]])
// CHECK: return %[[SCALAR]] : f32

// CHECK-LABEL: func.func private @amsp_execute_1
// CHECK-SAME: (%[[SCALAR:.*]]: f32, %[[ARENA:.*]]: !llvm.ptr)
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: scf.for %{{.*}} = %[[C0]]
// CHECK: call @kernel(%[[SCALAR]], %[[ARENA]])

// CHECK-LABEL: func.func private @amsp_execute_2
// CHECK-SAME: (%[[SCALAR:.*]]: f32, %[[ARENA:.*]]: !llvm.ptr)
// CHECK-NEXT: call @kernel(%[[SCALAR]], %[[ARENA]])
// CHECK-NEXT: return

// CHECK-LABEL: func.func @amsp_execute(
// CHECK-SAME: %[[RANK:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-NEXT: %[[COUNT:.*]] = llvm.mlir.constant
// CHECK-NEXT: %[[FRAME:.*]] = llvm.alloca %[[COUNT]]
// CHECK-NEXT: %[[SCALAR:.*]] = call @amsp_execute_0(%[[ARGS]], %[[ARENA]], %[[FRAME]])
// CHECK-NEXT: call @amsp_execute_1(%[[SCALAR]], %[[ARENA]])
// CHECK-NEXT: call @amsp_execute_2(%[[SCALAR]], %[[ARENA]])
// CHECK-NEXT: return

// WHOLE-NOT: @amsp_execute_0
// WHOLE: func.func @amsp_execute(
// WHOLE-NOT: @amsp_execute_0
func.func private @kernel(f32, !llvm.ptr)
func.func @amsp_execute(%rank: !llvm.ptr, %arena: !llvm.ptr, %args: !llvm.ptr, %results: !llvm.ptr) {
  %count = llvm.mlir.constant(2 : i64) : i64
  %frame = llvm.alloca %count x !llvm.ptr : (i64) -> !llvm.ptr
  %c0 = arith.constant 0 : index
  %scalar = llvm.load %args : !llvm.ptr -> f32
  llvm.store %arena, %frame : !llvm.ptr, !llvm.ptr
  call @kernel(%scalar, %arena) : (f32, !llvm.ptr) -> ()
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @kernel(%scalar, %arena) : (f32, !llvm.ptr) -> ()
    func.call @kernel(%scalar, %arena) : (f32, !llvm.ptr) -> ()
  }
  call @kernel(%scalar, %arena) : (f32, !llvm.ptr) -> ()
  return
}

// -----

// expected-error @+1 {{no function @amsp_execute of one block}}
module {
}
