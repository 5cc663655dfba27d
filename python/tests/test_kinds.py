"""A step of each kind (kinds.py), by both paths, against one device."""

import numpy as np
import pytest

import jobs
import steps
from kinds import KINDS
from steps import StepJob

pytestmark = pytest.mark.needs_tools

# The share of scripts/matrix.sh that is always run: each kind meets two grids
# and strategies, in turn, so that each of these meets several kinds.
COMBINATIONS = [
    ("levels=3", "zero3"),
    ("levels=2x2", "p=1,g=2x1,os=2x2"),
    ("levels=2", "zero2"),
    ("levels=4", "mics:2"),
    ("levels=3x2", "hpz:3x1"),
    ("levels=2", "zero1"),
    ("levels=2x2", "p=2x1,g=2x1,os=2x2"),
    ("levels=1", "zero3"),
    ("levels=4", "zero3"),
    ("levels=2", "ddp"),
    ("levels=2x3", "p=1x3,os=2x3"),
]
SHARE = [
    StepJob(kind, *COMBINATIONS[(2 * number + offset) % len(COMBINATIONS)], path)
    for number, kind in enumerate(KINDS)
    for offset, path in enumerate(jobs.PATHS)
]


@pytest.mark.parametrize("job", SHARE, ids=str)
def test_ranks_equal_one_device(finished):
    assert not finished.comparison.faults


def over(*kinds, strategy="zero2"):
    """Where parameters are gathered once, and gradients and states are pieces."""
    return pytest.mark.parametrize(
        "job", [StepJob(kind, "levels=4", strategy, "so") for kind in kinds], ids=str
    )


def others(manifest, kind):
    """Bytes of the collectives that serve no parameter."""
    return [
        c["bytes"]
        for c in manifest["collectives"]
        if c["kind"] == kind and not c["parameters"]
    ]


@over(
    *("sgd_momentum", "adamw_schedule", "lion", "bf16_masters", "lamb"),
    *("multi_steps", "skipped_infinite"),
)
def test_optimizers_gather_parameters_only(finished):
    assert not finished.comparison.faults
    assert not others(finished.manifest, "all_gather")
    # Losses and norms are scalars on the wire.
    assert all(size <= 16 * 4 for size in others(finished.manifest, "all_reduce"))


@pytest.mark.parametrize(
    ("job", "matrices", "gathers"),
    [
        # Of w0, the square for its norm and the first iterate; of w1, that alone.
        (StepJob("muon", "levels=4", "zero2", "so"), 4, 3),
        # Of w0, the square for its factors; w1 is too small for them.
        (StepJob("adafactor", "levels=4", "zero2", "so"), 5, 1),
    ],
    ids=str,
)
def test_matrix_updates_gather_only_what_they_need(finished, matrices, gathers):
    """Moments of a parameter's shape live in pieces; so do its gradients."""
    assert not finished.comparison.faults
    arguments = finished.manifest["arguments"]
    wide = [a for a in arguments if a["role"] != "batch" and len(a["shape"]) > 1]
    assert len(wide) == matrices
    assert all(a["placement"]["kind"] == "flat" for a in wide)
    assert all(size <= 16 * 4 for size in others(finished.manifest, "all_reduce"))
    assert len(others(finished.manifest, "all_gather")) == gathers


@over("lora", strategy="zero3")
def test_frozen_weights_have_no_gradient(finished):
    assert not finished.comparison.faults
    arguments = finished.manifest["arguments"]
    names = {i: argument["name"] for i, argument in enumerate(arguments)}
    reduced = {
        names[parameter]
        for c in finished.manifest["collectives"]
        if c["kind"] != "all_gather"
        for parameter in c["parameters"]
    }
    assert reduced and all("adapters" in name for name in reduced)
    base = [argument for argument in arguments if argument["name"].startswith("base")]
    assert len(base) == 2
    assert all(argument["placement"]["kind"] == "flat" for argument in base)


@pytest.mark.parametrize(
    "job",
    [
        StepJob("infinite_row", cluster, strategy, path)
        for cluster, strategy in (("levels=4", "zero3"), ("levels=2x2", "zero1"))
        for path in jobs.PATHS
    ],
    ids=str,
)
def test_an_infinite_gradient_of_one_rank_stops_all(finished):
    """Parameters and moments stay as they are to the bit; the scale halves."""
    state = [f"{i}" for i in range(4)]
    for number in state:
        result, given = finished.results[f"out{number}"], finished.inputs[f"arg{number}"]
        np.testing.assert_array_equal(result.view(np.uint32), given.view(np.uint32))
    scale = finished.inputs["arg4"]
    assert finished.results["out4"] == scale / 2 ** steps.CASES["infinite_row"]().steps
    assert not finished.results["out5"]
