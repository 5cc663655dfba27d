// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --top 1 --no-decompose-collectives --report %t.html | FileCheck %s
// RUN: FileCheck %s --input-file %t.html --check-prefix=PAGE
// RUN: not amsp-plan %s --cluster %S/Inputs/two-levels.yaml --memory 1000 2>&1 | FileCheck %s --check-prefix=NONE

// The best plans are compiled, and their memory is that of the program.

// CHECK: strategy   p=1x1,g=1x1,os=2x1
// CHECK: step       {{.*}} ms, simulated: compute {{.*}}, interference {{.*}}, exposed communication
// CHECK: memory     0.012 MB of 1000.000 MB, of the compiled step
// CHECK: at_rest                     0.004 MB
// CHECK: batch_and_results           0.002 MB
// CHECK: kept                        0.004 MB
// CHECK: compiled {{.*}} estimate is
// CHECK-NEXT: p=1x1,g=1x1,os=2x1 {{.*}} 0.012 {{.*}}%  best
// CHECK-NEXT: p=2x1,g=2x1,os=2x1 {{.*}} as fast within 1 %, larger groups

// NONE: error: the step fits under no strategy: the smallest, p={{.*}}, needs {{.*}} kB of a rank ({{[0-9]+}} bytes), and cluster 'two-levels' has 1.00 kB; most of it, {{[0-9.]+}} kB, are {{.*}}, which {{.*}}

// One file, nothing from elsewhere.
// PAGE: <!doctype html>
// PAGE-NOT: {{src=|href=|http:|https:|<script}}
// PAGE: <h2>Strategies by unit</h2>
// PAGE: <td>rest</td><td>1x1</td><td>1x1</td><td>2x1</td><td class=n>1024</td>
// PAGE: <h2>Memory over the step</h2>
// PAGE: <svg
// PAGE: <title>kept</title>
// PAGE: <h2>Timelines</h2>
// PAGE: <figcaption>Predicted timeline</figcaption>
// PAGE: <title>all_gather.0 of rest, {{.*}} ms</title>
// PAGE: <h2>Exposed communication</h2>
// PAGE: <tr><th>of a step</th><th class=n>predicted: transfers</th><th class=n>predicted: exposed</th></tr>
// PAGE: <td>all</td>
// PAGE: <td>level {{[a-z]+}}</td>
// PAGE: <td>unit rest</td>
// PAGE: <h2>Memory against time</h2>
// PAGE: <title>p=1x1,g=1x1,os=2x1: {{.*}} kB, {{.*}} ms</title>
// PAGE: <h2>Collectives of a step</h2>
// PAGE: <td>all_gather</td><td>rest</td><td>f32</td><td>1:2</td>
// PAGE: </html>
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
