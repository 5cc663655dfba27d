// DEFINE: %{plan} = amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy zero3

// RUN: rm -rf %t && mkdir %t
// RUN: not %{plan} -o %t/plan.yaml --timeline %t/t.json --report %t/none/page.html 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not %{plan} -o %t/plan.yaml --report %t/page.html --trace %t/no-trace.json 2>&1 | FileCheck %s --check-prefix=TRACE
// RUN: not %{plan} -o %t/plan.yaml --report %t/page.html --finalists 0 --timeline %t/t.json 2>&1 | FileCheck %s --check-prefix=TIMELINE
// RUN: not %{plan} -o %t/plan.yaml --report /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not %{plan} -o %t/plan.yaml --report %t/plan.yaml 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: ls %t | count 0
// RUN: %{plan} -o %t/plan.yaml --report %t/page.html --timeline %t/t.json > %t/plan.txt
// RUN: ls %t | FileCheck %s --check-prefix=ALL
// RUN: %{plan} -o /dev/null --report /dev/null > %t/plan.txt

// All files of a call appear, or none does.

// REPORT: error: output '{{.*}}none/page.html' cannot be written
// TRACE: error: trace '{{.*}}no-trace.json'
// TIMELINE: error: --timeline needs --finalists of at least 1
// FULL: error: output '/dev/full': No space left on device
// TWICE: error: output '{{.*}}plan.yaml' is given twice

// ALL: page.html
// ALL-NEXT: plan.txt
// ALL-NEXT: plan.yaml
// ALL-NEXT: t.json
func.func public @main(
    %w: tensor<32x32xf32> {tf.aliasing_output = 0 : i32} loc("p['w']"),
    %m: tensor<32x32xf32> {tf.aliasing_output = 1 : i32} loc("s['w']"),
    %x: tensor<64x32xf32> loc("x")) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %rate = stablehlo.constant dense<0.5> : tensor<32x32xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %decayed = stablehlo.multiply %m, %rate : tensor<32x32xf32>
  %momentum = stablehlo.add %decayed, %g : tensor<32x32xf32>
  %update = stablehlo.multiply %momentum, %rate : tensor<32x32xf32>
  %new = stablehlo.subtract %w, %update : tensor<32x32xf32>
  return %new, %momentum : tensor<32x32xf32>, tensor<32x32xf32>
}
