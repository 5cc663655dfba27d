// RUN: amsp-opt %s --amsp-export-step -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: llvm.mlir.global {{.*}}constant @[[TEXT:.*]]("{\22version\22:1}\00")
// CHECK: llvm.mlir.global external constant @amsp_step_v1() {{.*}}: !llvm.struct<(i32, ptr, ptr)>
// CHECK: llvm.mlir.addressof @[[TEXT]] : !llvm.ptr
// CHECK: llvm.mlir.addressof @amsp_execute : !llvm.ptr
module attributes {amsp.manifest = "{\22version\22:1}"} {
  llvm.func @amsp_execute(%rank: !llvm.ptr, %arena: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr) {
    llvm.return
  }
}

// -----

// expected-error @+1 {{no manifest or no function @amsp_execute}}
module attributes {amsp.manifest = "{}"} {
}
