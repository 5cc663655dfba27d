"""Parameters stacked for a scan over layers: each slice is gathered by itself,
and its gradient reduced in the iteration that makes it."""

import math

import pytest

from steps import StepJob

pytestmark = pytest.mark.needs_tools


# A record for each parameter.
SINGLE = ("--no-fuse-collectives",)


def over(*combinations, options=()):
    return pytest.mark.parametrize(
        "job", [StepJob(*one, options) for one in combinations], ids=str
    )


def stacks(manifest):
    return [
        (number, value)
        for number, value in enumerate(manifest["arguments"])
        if "['layers']" in value["name"] and value["role"] == "param"
    ]


def moved(manifest, parameter, kind):
    return [
        record
        for record in manifest["collectives"]
        if record["parameter"] == parameter and record["kind"] == kind
    ]


@over(
    ("stacked", "levels=8", "zero3", "so"),
    ("stacked", "levels=3", "zero3", "stablehlo"),
    ("stacked_recomputed", "levels=2x2", "zero3", "so"),
    ("stacked_recomputed", "levels=6", "zero3", "stablehlo"),
    ("stacked_accumulated", "levels=4", "zero3", "so"),
    ("stacked_bf16", "levels=3", "zero3", "so"),
    ("stacked_bf16", "levels=4", "zero3", "stablehlo"),
    ("stacked_bf16_before", "levels=4", "zero3", "so"),
    ("stacked_lamb", "levels=6", "zero3", "so"),
    ("stacked_lamb", "levels=2", "zero3", "stablehlo"),
    options=SINGLE,
)
def test_a_slice_is_gathered_and_reduced_by_itself(job, finished):
    assert not finished.comparison.faults
    # A loop that is unrolled once makes the gradients of two layers at once.
    layers, slices = (4, 2) if job.case == "stacked_lamb" else (3, 1)
    width = 2 if "bf16" in job.case else 4
    world = math.prod(map(int, job.cluster.removeprefix("levels=").split("x")))
    assert len(stacks(finished.manifest)) == 5
    for number, value in stacks(finished.manifest):
        row = math.prod(value["shape"][1:])
        piece = -(-row // world)
        assert value["placement"]["keep"] == 1
        assert value["placement"]["piece"] == piece
        gathers = moved(finished.manifest, number, "all_gather")
        assert gathers
        for record in gathers:
            # What the layer made float32 of is stacked so for backward.
            is_kept_wide = job.case == "stacked_bf16" and len(value["shape"]) == 2
            bytes_ = piece * world * width
            assert record["bytes"] in (bytes_, 2 * bytes_ if is_kept_wide else bytes_)
            assert record["count"] % (layers // slices) == 0
        # Sums of 16-bit values travel in f32.
        [reduction] = moved(finished.manifest, number, "reduce_scatter")
        assert reduction["bytes"] == slices * piece * world * 4
        assert not moved(finished.manifest, number, "all_reduce")
    # All that is gathered belongs to a parameter.
    for record in finished.manifest["collectives"]:
        assert record["kind"] != "all_gather" or record["parameter"] is not None


@over(
    ("stacked", "levels=1", "zero3", "so"),
    ("stacked", "levels=2", "ddp", "so"),
    ("stacked", "levels=3", "zero1", "stablehlo"),
    ("stacked", "levels=2x2", "p=1,g=2,os=4", "so"),
    ("stacked", "levels=2x3", "hpz:2", "so"),
    ("stacked_recomputed", "levels=4", "zero2", "so"),
    ("stacked_recomputed", "levels=2x2", "mics:2", "stablehlo"),
    ("stacked_accumulated", "levels=2", "ddp", "so"),
    ("stacked_accumulated", "levels=2x4", "p=2,g=2,os=8", "so"),
    ("stacked_accumulated", "levels=2x2", "p=1,g=2,os=4", "stablehlo"),
    ("stacked_accumulated", "levels=8", "zero1", "so"),
    ("stacked_bf16", "levels=2x2", "p=2,g=2,os=4", "so"),
    ("stacked_bf16_before", "levels=3", "zero1", "stablehlo"),
    ("stacked_lamb", "levels=2x2", "p=2,g=4,os=4", "so"),
    ("stacked_masters", "levels=4", "zero3", "so"),
    ("stacked_masters", "levels=2x2", "p=2,g=2,os=4", "stablehlo"),
    ("stacks_of_stacks", "levels=4", "zero3", "so"),
    ("stacks_of_stacks", "levels=2x3", "p=2,g=2,os=6", "stablehlo"),
    ("stacks_of_stacks", "levels=8", "zero2", "so"),
)
def test_stacks_under_every_strategy(finished):
    assert not finished.comparison.faults


@over(("stacked_accumulated", "levels=2x2", "p=2,g=2,os=4", "so"), options=SINGLE)
def test_what_is_kept_of_a_stack_is_gathered_once_a_step(finished):
    for number, value in stacks(finished.manifest):
        whole, piece = value["shape"][0], value["placement"]["piece"]
        gathers = moved(finished.manifest, number, "all_gather")
        # Between nodes once, for all slices; inside the node at each use.
        between = [r for r in gathers if r["digits"] == [[2, 2]]]
        assert [(r["count"], r["bytes"]) for r in between] == [
            (1, whole * 2 * piece * 4)
        ]
        inside = [r for r in gathers if r["digits"] == [[1, 2]]]
        assert {(r["count"], r["bytes"]) for r in inside} == {
            (3 * whole, 4 * piece * 4)
        }
        # Inside the node for each microbatch's slices, between nodes once.
        reductions = moved(finished.manifest, number, "reduce_scatter")
        assert sorted((r["count"], r["bytes"]) for r in reductions) == [
            (1, whole * 2 * piece * 4),
            (3 * whole, 4 * piece * 4),
        ]
