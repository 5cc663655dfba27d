"""What a result may be off by."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest

import steps
from amsp import check, tools
from kinds import KINDS


def comparison(result):
    exact = {"out0": np.array([1.0, 2.0])}
    float32 = {"out0": np.array([1.0, 2.0 + 1e-6], np.float32)}
    return check.compare(result, float32, exact)


def test_check_accepts_rounding_and_refuses_more():
    assert not comparison({"out0": np.array([1, 2 + 2e-5], np.float32)}).faults
    assert comparison({"out0": np.array([1, 2 + 3e-5], np.float32)}).faults
    assert comparison({"out0": np.array([1, np.nan], np.float32)}).faults
    assert comparison({"out0": np.array([1, 2])}).faults  # float64
    assert comparison({"out0": np.array([1], np.float32)}).faults
    assert comparison({}).faults == ["out0: missing"]


def write_case(directory, step, scalar):
    """16-bit parameters, one rounding off, beside a float32 loss of 4."""
    exact = np.array([1.0, 2.0])
    narrow = (exact * (1 + 2**-7)).astype(ml_dtypes.bfloat16).view(np.uint16)
    loss = np.float32(scalar)
    np.savez(directory / "expected64.npz", out0=exact, out1=np.float64(4))
    np.savez(directory / "expected.npz", out0=narrow, out1=loss)
    (directory / "step.mlir").write_text(step)
    return narrow


@pytest.mark.parametrize(
    ("element", "off", "refused"),
    [
        ("4xbf16", 1.0 / 64, False),
        ("bf16", 1.1 / 64, True),
        ("f16", 1.0 / 512, False),
        ("4xf16", 1.1 / 512, True),
        ("4xf32", 1.0 / 512, True),
    ],
)
def test_a_scalar_may_be_off_by_a_rounding_of_the_type_that_the_step_computes_in(
    tmp_path, element, off, refused
):
    """Whatever luck XLA has with it."""
    narrow = write_case(tmp_path, f"%0 = stablehlo.tanh %arg0 : tensor<{element}>", 4)
    np.savez(tmp_path / "out.npz", out0=narrow, out1=np.float32(4 + off))
    faults = check.check_case(tmp_path, tmp_path / "out.npz").faults
    assert [fault.partition(":")[0] for fault in faults] == ["out1"] * refused


def test_where_no_16_bit_rounding_reaches_a_result_float32_is_the_measure():
    exact = {"out0": np.array([1.0, 2.0]), "out1": np.float64(4)}
    float32 = {"out0": np.array([1, 2], np.float32), "out1": np.float32(4 + 1e-6)}
    assert check.rounding_of("tensor<4xf16>", float32, exact) == 0
    float32["out1"] = np.float32(4.001)
    assert check.rounding_of("tensor<4xf16>", float32, exact) == 2**-11


@pytest.mark.needs_tools
@pytest.mark.parametrize("preset", ["ddp", "zero3"])
def test_ten_steps_in_bfloat16_on_eight_ranks(tmp_path, preset):
    """The loss of XLA's run is off by a fifth of what it is where no rounding is left
    out, and less than a sixth of what eight ranks are off by."""
    ready = steps.prepare(dataclasses.replace(KINDS["bf16_masters"](48), steps=10), tmp_path)
    library, out = tmp_path / "step.so", tmp_path / "out.npz"
    tools.compile_step(
        ready.directory / "step.mlir", library, "levels=8", preset, ready.batch_args
    )
    tools.run_step(library, ready.directory / "inputs.npz", out, ready.steps)
    assert not check.check_case(tmp_path, out).faults
