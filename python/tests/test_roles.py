"""Roles that aliasing and names do not tell: steps exported without donation
and without debug locations, and frozen parameters."""

import jax
import numpy as np
import pytest

import jobs
import steps
from amsp import check, tools

pytestmark = pytest.mark.needs_tools


def stripped(case: str) -> str:
    """The step without donation and without names."""
    step = steps.CASES[case]()
    text = jax.jit(step.step, keep_unused=True).lower(*step.args).as_text()
    assert "aliasing" not in text and "loc(" not in text
    return text


@pytest.mark.parametrize(
    "case, path",
    [("gpt_tied_accumulated", "so"), ("ten_adam_steps", "stablehlo"), ("odd_state", "so")],
)
def test_state_is_found_from_structure(case, path, tmp_path):
    ready = steps.prepared(case, tmp_path)
    (tmp_path / "stripped.mlir").write_text(stripped(case))
    results, manifest = jobs.compile_and_run(
        *(tmp_path / "stripped.mlir", ready.directory / "inputs.npz", tmp_path / "run"),
        *("nodes=2,gpus=2", "p=2,os=all", path, ready.steps, ready.batch_args),
    )
    comparison = check.check_case(ready.directory, results)
    assert not comparison.faults
    pairs = {i: v["result"] for i, v in enumerate(manifest["arguments"]) if "result" in v}
    step = steps.CASES[case]()
    state = len(jax.tree.leaves(step.args[: step.donated]))
    assert pairs == {i: i for i in range(state)}
    # Each parameter is a unit: no more of them are whole at once than are used.
    params = [v for v in manifest["arguments"] if v["role"] == "param"]
    assert len({v["unit"] for v in params}) > 1
    assert any(len(v["placement"].get("digits", [])) > 0 for v in params)


def test_state_can_be_named(tmp_path):
    ready = steps.prepared("mlp", tmp_path)
    (tmp_path / "step.mlir").write_text(stripped("mlp"))
    # Two parameters only: their momentum is handed in anew at each step.
    tools.call(
        *("amsp-compile", tmp_path / "step.mlir", "-o", tmp_path / "step.so"),
        *("--cluster", "levels=2", "--strategy", "zero1", "--state-args", "0=0,1=1"),
        *("--batch-args", ",".join(map(str, ready.batch_args)), "--roles", "1=state"),
    )
    manifest = tools.manifest(tmp_path / "step.so")
    roles = [value["role"] for value in manifest["arguments"]]
    assert roles[:2] == ["param", "state"]
    assert not {"opt_state", "state"} & set(roles[2:])
    assert [v.get("result") for v in manifest["arguments"]][:3] == [0, 1, None]


@pytest.mark.parametrize(
    "strategy, piece, gathers", [("zero3", 4, 1), ("p=2,os=all", 8, 1), ("zero2", 15, 0)]
)
def test_frozen_parameters_rest_as_p(strategy, piece, gathers, tmp_path):
    def step(adapter, base, x, y):
        def loss(adapter):
            left, right = adapter
            return jax.numpy.square(x @ base + (x @ left) @ right - y).mean()

        value, gradient = jax.value_and_grad(loss)(adapter)
        return jax.tree.map(lambda a, g: a - 0.1 * g, adapter, gradient), value

    adapter = (steps.normal(5, 2), np.zeros((2, 3), "f"))
    args = (adapter, steps.normal(5, 3), steps.normal(12, 5), steps.normal(12, 3))
    text = jax.jit(step, donate_argnums=0).lower(*args).as_text(debug_info=True)
    (tmp_path / "step.mlir").write_text(text)
    tools.compile_step(
        tmp_path / "step.mlir", tmp_path / "step.so", "nodes=2,gpus=2", strategy, (3, 4)
    )
    manifest = tools.manifest(tmp_path / "step.so")
    base = manifest["arguments"][2]
    assert base["role"] == "param" and "result" not in base
    assert np.prod(base["local_shape"]) == piece
    # It has no say in what the unit's strategy is.
    assert manifest["strategy"]["os"] == [2, 2]
    moved = {entry["argument"]: entry for entry in manifest["parameters"]}
    assert bool(moved[2]["gathers"]) == bool(gathers) and not moved[2]["reductions"]
    # The adapters' moments would rest by os, and they do.
    assert np.prod(manifest["arguments"][0]["local_shape"]) == 3
