"""The communication optimizer: what it may not change, and what must come out."""

import collections
import math
import pathlib

import ml_dtypes
import numpy as np
import pytest

import jobs
import steps
from amsp import check, tools
from steps import StepJob

pytestmark = pytest.mark.needs_tools

THIN_LINKS = str(pathlib.Path(__file__).with_name("thin_links.yaml"))
# Copies and joined collectives: an element is combined in the same order.
SAME_BITS = {
    "default": (),
    "apart": ("--no-fuse-collectives",),
    "small": ("--fuse-bytes=260",),
    "packed": ("--pack-bytes=300",),
}


def by_kind(manifest):
    return collections.Counter(
        c["kind"] for c in manifest["collectives"] for _ in range(c["count"])
    )


def run(job, directory):
    finished = job.run(directory / str(job).replace("/", "-"))
    assert not finished.comparison.faults
    return finished


@pytest.mark.parametrize(
    "case, cluster, strategy",
    [
        ("gpt", "levels=2x2", "zero3"),
        ("gpt_accumulated", "levels=2x2", "p=1,g=2x1,os=2x2"),
        ("sizes_of_buckets", "levels=4", "mics:2"),
    ],
)
def test_fusion_changes_no_bit(case, cluster, strategy, tmp_path):
    runs = {
        name: run(StepJob(case, cluster, strategy, "so", options), tmp_path)
        for name, options in SAME_BITS.items()
    }
    counts = {
        name: len(finished.manifest["collectives"]) for name, finished in runs.items()
    }
    assert counts["default"] == counts["packed"] < counts["small"] < counts["apart"]
    expected = runs["default"].results
    for name, finished in runs.items():
        for output, value in expected.items():
            np.testing.assert_array_equal(finished.results[output], value, name)


BUCKETS = (1, 63, 64, 65, 1023, 1024, 1025, 4099)  # elements, of sizes_of_buckets
THRESHOLDS = (0, 1, 255, 256, 257, 4096, 10**18)  # 64 elements are 256 bytes


@pytest.mark.parametrize("kind", ["zero3", "ddp"])
def test_tensors_of_any_size_against_any_threshold(kind, tmp_path):
    """A tensor exactly as large as a bucket, larger, or smaller, is reduced."""
    ready = steps.prepared("sizes_of_buckets", tmp_path)
    for threshold in THRESHOLDS:
        output = tmp_path / "step.mlir"
        tools.compile_step(
            ready.directory / "step.mlir",
            output,
            "levels=4",
            kind,
            ready.batch_args,
            emit="stablehlo",
            options=[f"--fuse-bytes={threshold}"],
        )
        manifest = jobs.manifest_of(output, "stablehlo")
        for traffic in manifest["parameters"]:
            assert traffic["elements"] in BUCKETS
            assert traffic["reductions"] == traffic["padded"], threshold
        for collective in manifest["collectives"]:
            assert collective["tensors"] == 1 or collective["bytes"] <= threshold + 4 * 3 * 8


@pytest.mark.parametrize("path", ["so", "stablehlo"])
@pytest.mark.parametrize(
    "case, strategy",
    [("gpt", "zero3"), ("gpt", "ddp"), ("gpt_accumulated", "p=1,g=2x2,os=2x2")],
)
def test_collectives_by_level_compute_the_same(case, strategy, path, tmp_path):
    finished = run(StepJob(case, THIN_LINKS, strategy, path), tmp_path)
    levels = collections.Counter(
        math.prod(size for _, size in c["digits"])
        for c in finished.manifest["collectives"]
        if c["parameters"]
    )
    assert set(levels) == {2}


def test_decomposition_moves_each_element_to_the_same_place(tmp_path):
    """Gathers and maxima have the same bits; a sum of n values in any order is
    within (n - 1) u of the sum of their magnitudes."""
    rng = np.random.default_rng(0)
    shapes = (3, 5), (8, 3), (4, 15)
    w, v, x = (rng.normal(size=shape).astype(np.float32) for shape in shapes)
    inputs, output = tmp_path / "in.npz", tmp_path / "step.so"
    np.savez(inputs, arg0=w, arg1=v, arg2=x)
    program = pathlib.Path(__file__).with_name("per_rank") / "two_levels.mlir"
    tools.call("amsp-compile", program, "-o", output, "--cluster", THIN_LINKS)
    groups = [c["group_size"] for c in tools.manifest(output)["collectives"]]
    assert len(groups) > 6 and set(groups) == {2}
    tools.run_step(output, inputs, tmp_path / "out.npz", 1, timeout=60)
    with np.load(tmp_path / "out.npz") as results:
        gathered, rows, scattered, largest, total, maximum = (
            results[f"out{i}"] for i in range(6)
        )
    np.testing.assert_array_equal(gathered, w)
    np.testing.assert_array_equal(rows, v)
    np.testing.assert_array_equal(largest, x.max(0))
    np.testing.assert_array_equal(maximum, x.max(0))
    exact, magnitudes = (np.sum(f(x.astype(np.float64)), 0) for f in (np.positive, np.abs))
    for found in (scattered, total):
        assert np.all(np.abs(found - exact) <= 3 * 2.0**-24 * magnitudes)


@pytest.mark.parametrize(
    "strategy, expected",
    [
        ("ddp", {"all_reduce": 6}),
        ("zero1", {"all_gather": 5, "reduce_scatter": 5, "all_reduce": 1}),
        ("zero3", {"all_gather": 9, "reduce_scatter": 5, "all_reduce": 1}),
    ],
)
def test_collectives_of_two_layers_on_eight_ranks(strategy, expected, tmp_path):
    """Each gradient by reduce_scatter, one gather and one reduction for a use of
    a unit, one all_reduce for the loss and the norm."""
    output = tmp_path / "step.mlir"
    step = jobs.cases_directory() / "gpt_adamw" / "step.mlir"
    tools.compile_step(step, output, "levels=8", strategy, emit="stablehlo")
    manifest = jobs.manifest_of(output, "stablehlo")
    assert by_kind(manifest) == expected
    scalars = [c for c in manifest["collectives"] if not c["parameters"]]
    assert len(scalars) == 1


BLOCK = 32


def largest_of_blocks(values, piece):
    """For each element, the largest magnitude in its block: a piece has as few of
    at most BLOCK elements as it can, of equal size."""
    size = -(-piece // -(-piece // BLOCK))
    largest = np.zeros_like(values)
    for first in range(0, len(values), piece):
        for start in range(first, min(first + piece, len(values)), size):
            block = slice(start, min(start + size, first + piece, len(values)))
            largest[block] = np.abs(values[block]).max()
    return largest


def test_quantized_gathers_are_within_their_bound(tmp_path):
    """Half a step of the block's scale for each gather; magnitudes of blocks
    differ by a factor of a thousand, and one block is zero."""
    rng = np.random.default_rng(0)
    w = (rng.normal(size=301) * np.repeat(10.0 ** rng.uniform(-2, 1, 43), 7)).astype("f4")
    w[76 : 76 + BLOCK] = 0
    v = w.astype(ml_dtypes.bfloat16)
    inputs, output = tmp_path / "in.npz", tmp_path / "step.so"
    np.savez(inputs, arg0=w.reshape(7, 43), arg1=v.view(np.uint16))
    program = pathlib.Path(__file__).with_name("per_rank") / "parameters.mlir"
    options = "--quantize-gathers", f"--quantize-block={BLOCK}"
    tools.call("amsp-compile", program, "-o", output, *options)
    dtypes = {c["dtype"] for c in tools.manifest(output)["collectives"]}
    assert dtypes == {"i8", "f32"}
    tools.run_step(output, inputs, tmp_path / "out.npz", 1, timeout=60)
    with np.load(tmp_path / "out.npz") as results:
        once = results["out0"].ravel().astype(np.float64)
        twice = check.number(results["out1"])
    step = 1 / 254 * (1 + 1e-5)
    error = np.abs(once - w)
    assert np.all(error <= step * largest_of_blocks(w, 76)) and error.max() > 0
    assert not once[76 : 76 + BLOCK].any()
    # The second gather's blocks are those of pieces twice as large; each result
    # is rounded to bf16.
    v = v.astype(np.float64)
    first = step * largest_of_blocks(v, 76) + 2.0**-8 * np.abs(v)
    second = step * largest_of_blocks(np.abs(v) + first, 152) + 2.0**-8 * np.abs(v)
    assert np.all(np.abs(twice - v) <= first + 1.01 * second)


@pytest.mark.parametrize("path", ["so", "stablehlo"])
def test_training_with_quantized_gathers(path, tmp_path):
    """Close to what one device computes, but not the same; padding, which the
    second path poisons, is never read."""
    job = StepJob("gpt", "levels=2x2", "hpz:2x1", path, ("--quantize-gathers",))
    finished = job.run(tmp_path / "job")
    assert finished.comparison.faults
    gathered = {
        c["dtype"] for c in finished.manifest["collectives"] if c["kind"] == "all_gather"
    }
    assert gathered == {"i8", "f32"}
    expected = check.read(tmp_path / "gpt" / "expected.npz")
    for name, value in expected.items():
        if np.ndim(value) == 0 and value.dtype == np.float32:
            np.testing.assert_allclose(finished.results[name], value, rtol=2e-2)
