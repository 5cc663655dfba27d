"""The independent executor, on partitioned modules written by hand.

Each test runs the executor in a process of its own, since the number of host
devices is fixed when JAX starts.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

import jobs

REPLICATED = {"kind": "replicated"}
ADD_REGION = """({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %sum = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %sum : tensor<f32>
    })"""


def value(shape, placement, dtype="f32", **more):
    return {
        "name": None,
        "dtype": dtype,
        "shape": list(shape),
        "placement": placement,
        **more,
    }


def flat(digits, piece, keep=0):
    return {"kind": "flat", "keep": keep, "digits": digits, "piece": piece}


def split(digits, dim=0):
    return {"kind": "split", "dim": dim, "digits": digits}


def run(tmp_path, body, world, arguments, results, inputs, steps=1):
    program = tmp_path / "x.mlir"
    program.write_text(f"module @m {{\n{body}\n}}\n")
    manifest = {"world": world, "arguments": arguments, "results": results}
    (tmp_path / "x.mlir.manifest.json").write_text(json.dumps(manifest))
    np.savez(tmp_path / "in.npz", **{f"arg{i}": v for i, v in enumerate(inputs)})
    command = [sys.executable, "-m", "amsp.xla_executor", program]
    command += ["--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"]
    command += ["--steps", str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return done
    with np.load(tmp_path / "out.npz") as file:
        return [file[f"out{i}"] for i in range(len(results))]


# zero1 of w -= mean over rows of x, with a flat state of 5 elements: the
# gradient is scattered over the inner digit and summed over the outer one.
STEP = f"""
  func.func public @main(%w: tensor<3xf32> {{tf.aliasing_output = 0 : i32}}, %x: tensor<2x5xf32>) -> (tensor<3xf32>, tensor<f32>) {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %partial = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x5xf32>, tensor<f32>) -> tensor<5xf32>
    %padded = stablehlo.pad %partial, %zero, low = [0], high = [1], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<6xf32>
    %scattered = "stablehlo.reduce_scatter"(%padded) <{{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}}> {ADD_REGION} : (tensor<6xf32>) -> tensor<3xf32>
    %gradient = "stablehlo.all_reduce"(%scattered) <{{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}}> {ADD_REGION} : (tensor<3xf32>) -> tensor<3xf32>
    %new = stablehlo.subtract %w, %gradient : tensor<3xf32>
    %full = "stablehlo.all_gather"(%w) <{{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}}> : (tensor<3xf32>) -> tensor<6xf32>
    %owned = stablehlo.slice %full [0:5] : (tensor<6xf32>) -> tensor<5xf32>
    %total = stablehlo.reduce(%owned init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    return %new, %total : tensor<3xf32>, tensor<f32>
  }}"""


def step_values(output_placement=None):
    state = flat([[1, 2]], 3)
    arguments = [
        value([5], state, result=0),
        value([8, 5], split([[1, 4]])),
    ]
    results = [
        value([5], output_placement or state, argument=0),
        value([], REPLICATED),
    ]
    return arguments, results


def test_state_is_fed_back_and_padding_is_never_read(tmp_path):
    w = np.arange(5, dtype=np.float32)
    x = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    got = run(tmp_path, STEP, 4, *step_values(), [w, x], steps=3)
    gradient = x.sum(axis=0)
    np.testing.assert_allclose(got[0], w - 3 * gradient, rtol=1e-5)
    np.testing.assert_allclose(got[1], (w - 2 * gradient).sum(), rtol=1e-5)


def test_several_programs_of_one_step(tmp_path):
    """The second adds what the first subtracts."""
    w = np.arange(5, dtype=np.float32)
    x = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    one = run(tmp_path, STEP, 4, *step_values(), [w, x])
    for name in ("x", "y"):
        body = STEP if name == "x" else STEP.replace("subtract %w", "add %w")
        (tmp_path / f"{name}.mlir").write_text(f"module @m {{\n{body}\n}}\n")
        manifest = (tmp_path / "x.mlir.manifest.json").read_text()
        (tmp_path / f"{name}.mlir.manifest.json").write_text(manifest)
    programs = [tmp_path / "x.mlir", tmp_path / "y.mlir"]
    outputs = [tmp_path / "x.npz", tmp_path / "y.npz"]
    jobs.run_under_xla(programs, tmp_path / "in.npz", outputs, 1)
    first, second = (np.load(path)["out0"] for path in outputs)
    np.testing.assert_array_equal(first, one[0])
    np.testing.assert_allclose(first + second, 2 * w, atol=1e-5)


def test_a_use_of_padding_shows(tmp_path):
    body = STEP.replace("[0:5]", "[1:6]")
    w, x = np.ones(5, np.float32), np.ones((8, 5), np.float32)
    got = run(tmp_path, body, 4, *step_values(), [w, x])
    assert np.isnan(got[1])


def test_a_missing_sum_over_replicas_shows(tmp_path):
    body = STEP.replace("subtract %w, %gradient", "subtract %w, %scattered")
    w, x = np.ones(5, np.float32), np.arange(40, dtype=np.float32).reshape(8, 5)
    done = run(tmp_path, body, 4, *step_values(), [w, x])
    assert done.returncode == 1
    assert done.stderr.startswith("error: result 0") and "differs" in done.stderr


def test_members_of_a_group_are_ordered_as_listed(tmp_path):
    """Pieces are ordered by the group's list, not by rank."""
    body = """
  func.func public @main(%x: tensor<1xf32>) -> tensor<4xf32> {
    %all = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2, 1, 3]]> : tensor<1x4xi64>}> : (tensor<1xf32>) -> tensor<4xf32>
    return %all : tensor<4xf32>
  }"""
    x = np.arange(4, dtype=np.float32)
    # Rank 1's piece has index 2 in the group of digits [1, 2], [2, 2].
    arguments = [value([4], flat([[1, 2], [2, 2]], 1))]
    got = run(tmp_path, body, 4, arguments, [value([4], REPLICATED)], [x])
    np.testing.assert_array_equal(got[0], x)


def test_replica_id_and_captures_in_a_loop(tmp_path):
    """Each rank cuts its own slice; the loop's body reads values around it."""
    body = """
  func.func public @main(%x: tensor<6xf32>) -> tensor<2xf32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %rank = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %start = stablehlo.multiply %rank, %two : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<2xf32>
    %out:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<2xf32>
      cond {
        %more = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        %slice = stablehlo.dynamic_slice %x, %start, sizes = [2] : (tensor<6xf32>, tensor<i32>) -> tensor<2xf32>
        %next = stablehlo.add %sum, %slice : tensor<2xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %next : tensor<i32>, tensor<2xf32>
      }
    return %out#1 : tensor<2xf32>
  }"""
    x = np.arange(6, dtype=np.float32)
    results = [value([6], split([[1, 3]]))]
    got = run(tmp_path, body, 3, [value([6], REPLICATED)], results, [x])
    np.testing.assert_array_equal(got[0], 2 * x)


@pytest.mark.parametrize("world", [1, 12])
def test_worlds(tmp_path, world):
    groups = [list(range(world))]
    body = f"""
  func.func public @main(%x: tensor<1xbf16>) -> tensor<{world}xbf16> {{
    %all = "stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, replica_groups = dense<{groups}> : tensor<1x{world}xi64>}}> : (tensor<1xbf16>) -> tensor<{world}xbf16>
    return %all : tensor<{world}xbf16>
  }}"""
    bits = (np.arange(world) + 0x3F80).astype(np.uint16)
    arguments = [value([world], split([[1, world]]), "bf16")]
    results = [value([world], REPLICATED, "bf16")]
    got = run(tmp_path, body, world, arguments, results, [bits])
    assert got[0].dtype == np.uint16
    np.testing.assert_array_equal(got[0], bits)


def test_wrong_inputs_are_errors(tmp_path):
    w, x = np.ones(4, np.float32), np.ones((8, 5), np.float32)
    done = run(tmp_path, STEP, 4, *step_values(), [w, x])
    assert done.returncode == 1
    assert "arg0 has shape (4,), expected (5,)" in done.stderr
    done = run(tmp_path, STEP, 4, *step_values(), [w.astype(np.float64), x])
    assert "arg0 is float64, expected float32" in done.stderr
    assert not (tmp_path / "out.npz").exists()
