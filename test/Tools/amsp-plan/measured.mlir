// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy zero3 --report %t.html --trace %S/Inputs/trace.json
// RUN: FileCheck %s --input-file %t.html
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --report %t.html --trace %S/Inputs/trace-without-summary.json 2>&1 | FileCheck %s --check-prefix=SUMMARY

// SUMMARY: error: trace '{{.*}}trace-without-summary.json': no summary by level and unit

// Both timelines beside each other on the scale of the longer one; of the
// measured one only the last step of rank 0, waits in grey.
// CHECK: <h2>Timelines</h2>
// CHECK-NEXT: <div class=beside>
// CHECK: <figcaption>Predicted timeline</figcaption>
// CHECK: >1.75 ms</text>
// CHECK: <figcaption>Measured timeline, rank 0, last step</figcaption>
// CHECK-NOT: <title>{{gone|other}}
// CHECK: <title>matmul, 1.500 ms</title>
// CHECK: fill="#e0e0e0"><title>await of all_gather.0 of rest, 0.250 ms</title>
// CHECK: >1.75 ms</text>
// CHECK: </div>

// Times of the simulation, and those of the trace's summary.
// CHECK: <h2>Exposed communication</h2>
// CHECK: <th>of a step</th><th class=n>predicted: transfers</th><th class=n>predicted: exposed</th><th class=n>measured: transfers</th><th class=n>measured: exposed</th>
// CHECK-NEXT: <td>all</td><td class=n>{{[0-9.]+}} ms</td><td class=n>{{[0-9.]+}} ms</td><td class=n>3.000 ms</td><td class=n>1.250 ms</td>
// CHECK-NEXT: <td>level core</td><td class=n>{{.*}}</td><td class=n>2.500 ms</td><td class=n>1.000 ms</td>
// CHECK-NEXT: <td>level node</td><td class=n>{{.*}}</td><td class=n>0.500 ms</td><td class=n>0.250 ms</td>
// CHECK-NEXT: <td>of no unit</td><td class=n>{{.*}}</td><td class=n>0.500 ms</td><td class=n>0.250 ms</td>
// CHECK-NEXT: <td>unit rest</td><td class=n>{{.*}}</td><td class=n>2.500 ms</td><td class=n>1.000 ms</td>
// CHECK: measured: a step of 2.000 ms.
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
