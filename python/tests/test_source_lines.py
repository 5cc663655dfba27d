"""Places in an exported step become those of the program that made it."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import amsp
from amsp import source_lines, tools

TEXT = """\
#loc1 = loc("x")
module @jit_step {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32> loc(#loc9)
    %1 = call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc8)
    return %1 : tensor<4xf32> loc(#loc)
  } loc(#loc)
  func.func private @inner(%arg0: tensor<4xf32> loc(unknown)) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32> loc(#loc2)
    return %0 : tensor<4xf32> loc(#loc)
  } loc(#loc)
  func.func private @alone(%arg0: tensor<4xf32> loc(unknown)) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32> loc(#loc2)
    %1 = stablehlo.tanh %0 : tensor<4xf32> loc(#loc2)
    %2 = call @alone(%1) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc2)
    return %2 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("tanh")
#loc3 = loc("model.py":7:4 to :9)
#loc4 = loc("train.py":30:2)
#loc5 = loc("loss"(#loc3))
#loc6 = loc("step"(#loc4))
#loc7 = loc(callsite(#loc5 at #loc6))
#loc8 = loc("jit(step)/call"(#loc6))
#loc9 = loc("jit(step)/tanh"(#loc7))
"""


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (4, "model.py:7:4"),  # The innermost call.
        (9, "train.py:30:2"),  # The call of its function.
        (14, "@alone, op 2"),  # Which calls itself only.
        (2, "line 2 of the exported step"),
    ],
)
def test_a_line_of_the_step_is_one_of_the_program(line, place):
    assert source_lines.SourceLines(TEXT).describe(line) == place


def test_a_message_does_not_name_the_file_that_is_gone():
    message = "remark: /t/step.mlir:9:4: a\nerror: /t/step.mlir: at 'x': /t/step.mlir:99:1: b"
    assert source_lines.in_the_program(message, "/t/step.mlir", TEXT) == (
        "remark: train.py:30:2: a\nerror: the exported step: at 'x': the exported step: b"
    )


@pytest.mark.needs_tools
def test_an_op_that_is_not_supported_is_told_by_the_line_that_asked_for_it():
    def step(params, x):
        def loss(params):
            y = x @ params
            return jnp.abs(jnp.fft.rfft(y)).mean()  # Here.

        return params - jax.grad(loss)(params)

    lines, first = inspect.getsourcelines(step)
    line = first + next(i for i, text in enumerate(lines) if "# Here." in text)
    args = (np.ones((4, 4), np.float32), np.ones((8, 4), np.float32))
    with pytest.raises(tools.ToolError) as error:
        amsp.compile(step, args, batch_argnums=1, cluster="levels=2", strategy="zero3")
    assert f"error: {__file__}:{line}:" in str(error.value)
    assert "stablehlo.fft" in str(error.value) and "step.mlir" not in str(error.value)
