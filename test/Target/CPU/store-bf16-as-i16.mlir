// RUN: amsp-opt %s --amsp-store-bf16-as-i16 | FileCheck %s

// CHECK: llvm.mlir.global internal constant @table(dense<[16256, 16384]> : tensor<2xi16>) {{.*}} : !llvm.array<2 x i16>
llvm.mlir.global internal constant @table(dense<[1.0, 2.0]> : tensor<2xbf16>) : !llvm.array<2 x bf16>

// CHECK-LABEL: llvm.func @choose
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[C:.*]]: i1, %[[BITS:.*]]: i16)
llvm.func @choose(%p: !llvm.ptr, %c: i1, %bits: i16) -> bf16 {
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(16256 : i16) : i16
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  // CHECK: %[[AT:.*]] = llvm.getelementptr %[[P]][3] : (!llvm.ptr) -> !llvm.ptr, i16
  %at = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, bf16
  // CHECK: %[[X:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i16
  %x = llvm.load %at : !llvm.ptr -> bf16
  // CHECK-NOT: llvm.bitcast
  %y = llvm.bitcast %bits : i16 to bf16
  // CHECK: llvm.select %[[C]], %[[X]], %[[BITS]] : i1, i16
  %z = llvm.select %c, %x, %y : i1, bf16
  // CHECK: llvm.br ^bb1(%{{.*}} : i16)
  llvm.br ^bb1(%z : bf16)
^bb1(%r: bf16):
  // CHECK: llvm.store %[[ONE]], %[[P]] : i16, !llvm.ptr
  llvm.store %one, %p : bf16, !llvm.ptr
  llvm.return %r : bf16
}
