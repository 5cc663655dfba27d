// DEFINE: %{plan} = amsp-plan --cluster %S/Inputs/two-levels.yaml
// DEFINE: %{executor} = amsp-plan --cluster %source/clusters/a800-80gb-800g.yaml --executor %source/executors/amsp.yaml --model %source/examples/models/amsp-7b.json --sequence 8 --strategy zero1

// RUN: rm -rf %t && mkdir %t
// RUN: not %{plan} %s --microbatch 2 2>&1 | FileCheck %s --check-prefix=MICROBATCH
// RUN: not %{plan} %s --sequence 2 --gradient-bytes 4 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not %{plan} %s --trace %t/trace.json 2>&1 | FileCheck %s --check-prefix=TRACE
// RUN: not %{executor} -o %t/plan.yaml 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not %{executor} --report %t/plan.html 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not %{executor} --list-collectives 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not %{executor} --reduce-type bf16 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not %{executor} --finalists 1 2>&1 | FileCheck %s --check-prefix=FINALISTS
// RUN: not %{executor} %s 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not ls %t/plan.yaml %t/plan.html
// RUN: %{executor} --levels 8x2 --interference 0.1 --spread 0 --memory 80e9 --format json --overlap off --timeline %t/t.json | FileCheck %s --check-prefix=BOTH
// RUN: ls %t/t.json

// Nothing that is given goes unread.

// MICROBATCH: error: --microbatch needs --executor
// FIRST: error: --gradient-bytes needs --executor
// TRACE: error: --trace needs --report
// PLAN: error: -o: not read with --executor
// REPORT: error: --report: not read with --executor
// LIST: error: --list-collectives: not read with --executor
// TYPE: error: --reduce-type: not read with --executor
// FINALISTS: error: --finalists: not read with --executor
// STEP: error: '{{.*}}option-modes.mlir': no step is read with --executor
// BOTH: "levels":
func.func public @main() {
  return
}
