// RUN: not amsp-opt %s --amsp-annotate-roles='state-args=w' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not amsp-opt %s --amsp-annotate-roles='state-args=w=2' 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not amsp-opt %s --amsp-annotate-roles='state-args=w=1' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not amsp-opt %s --amsp-annotate-roles='state-args=w=0,m=0' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not amsp-opt %s --amsp-annotate-roles='state-args=v=0' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not amsp-opt %s --amsp-annotate-roles='roles=w=master' 2>&1 | FileCheck %s --check-prefix=ROLE
// RUN: not amsp-opt %s --amsp-annotate-roles='roles=m=state' 2>&1 | FileCheck %s --check-prefix=NOTSTATE
// RUN: not amsp-opt %s --amsp-annotate-roles='roles=w=constant' 2>&1 | FileCheck %s --check-prefix=STATE
// RUN: not amsp-opt %s --amsp-annotate-roles='batch-args=w' 2>&1 | FileCheck %s --check-prefix=BATCH

// FORM: error: state-args: expected ARGUMENT=RESULT, not 'w'
// RANGE: error: argument 0 takes result 2, but there are 2 results
// TYPE: error: argument 0 takes result 1 of another type
// TWICE: error: arguments 0 and 1 take the same result 0
// NAME: error: no argument 'v': the step has 3 arguments
// ROLE: error: roles: expected ARGUMENT=param, opt_state, state or constant, not 'w=master'
// NOTSTATE: error: roles: argument 'm' is not state, so it cannot be state
// STATE: error: roles: argument 'w' is state, so it cannot be constant
// BATCH: error: batch argument 'w' is state
func.func public @main(%w: tensor<3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
                       %m: tensor<3xf32> loc("m"), %x: tensor<3xf32> loc("x")) -> (tensor<3xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.add %w, %x : tensor<3xf32>
  return %s, %c : tensor<3xf32>, tensor<f32>
}
