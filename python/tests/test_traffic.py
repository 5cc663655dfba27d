"""What a step communicates, as the manifest lists it, against the formulas."""

import math

import pytest

from amsp import arrays
from steps import StepJob

pytestmark = pytest.mark.needs_tools


def over(case, *combinations):
    return pytest.mark.parametrize(
        "job", [StepJob(case, *one, "so") for one in combinations], ids=str
    )


def by_parameter(manifest):
    """(traffic, value, its collectives) of each parameter."""
    return [
        (
            traffic,
            manifest["arguments"][traffic["argument"]],
            [c for c in manifest["collectives"] if traffic["argument"] in c["parameters"]],
        )
        for traffic in manifest["parameters"]
    ]


def runs(collectives, kind, digits=None):
    return sum(
        c["count"]
        for c in collectives
        if c["kind"] == kind and (digits is None or c["group_size"] == digits)
    )


@over("mlp", ("levels=4", "ddp"), ("levels=2x2", "ddp"), ("levels=3", "ddp"))
def test_ddp_moves_each_gradient_twice(finished):
    manifest = finished.manifest
    world = manifest["world"]
    assert len(manifest["parameters"]) == 4
    for traffic, _, collectives in by_parameter(manifest):
        assert traffic["padded"] == traffic["elements"]
        moved = 2 * (world - 1) * traffic["padded"] / world
        assert traffic["sent_elements"] == pytest.approx(moved)
        assert runs(collectives, "all_gather") == 0


@over("mlp", ("levels=4", "zero3"), ("levels=3", "zero3"), ("levels=2x2", "zero3"))
def test_zero3_gathers_for_each_use_and_scatters_once(finished):
    manifest = finished.manifest
    world = manifest["world"]
    for traffic, value, _ in by_parameter(manifest):
        padded = traffic["padded"]
        assert padded == world * math.ceil(traffic["elements"] / world)
        # Backward reads no bias, and not the weight that only meets the input.
        forward_only = value["name"] != "params['w1']"
        # The uses of the last weight follow each other, and may share a gather.
        gathers = {padded} if forward_only else {padded, 2 * padded}
        assert traffic["gathers"] in gathers
        assert traffic["reductions"] == padded
        moved = (world - 1) * (traffic["gathers"] + traffic["reductions"]) / world
        assert traffic["sent_elements"] == pytest.approx(moved)


@over("gpt", ("levels=4", "zero3"), ("levels=2x2", "zero3"))
def test_zero3_gathers_again_for_backward(finished):
    """The other layer lies between the uses of the first one's matrices."""
    checked = 0
    for traffic, value, _ in by_parameter(finished.manifest):
        if value["name"].startswith("params['layers'][0]") and "['w']" in value["name"]:
            assert traffic["gathers"] == 2 * traffic["padded"]
            checked += 1
    assert checked == 4


@over("gpt_tied", ("levels=2", "zero3"), ("levels=2", "zero1"))
def test_a_tied_gradient_is_reduced_as_one_sum(finished):
    table = [t for t, v, _ in by_parameter(finished.manifest) if "embedding" in v["name"]]
    assert len(table) == 1
    assert table[0]["reductions"] == table[0]["padded"]


@over("gpt_accumulated", ("levels=2x2", "p=1,g=2x1,os=2x2"))
def test_gradients_are_reduced_over_g_once_per_microbatch(finished):
    """And over the digits os/g once a step."""
    assert finished.manifest["parameters"]
    for traffic, _, collectives in by_parameter(finished.manifest):
        inner = [c for c in collectives if c["digits"] == [[1, 2]]]
        outer = [c for c in collectives if c["digits"] == [[2, 2]]]
        assert runs(inner, "reduce_scatter") == 3
        assert runs(outer, "reduce_scatter") == 1
        assert traffic["reductions"] == 3 * traffic["padded"] + traffic["padded"] // 2


@over("gpt_accumulated", ("levels=2x2", "mics:2x1"))
def test_replicas_are_summed_once_a_step(finished):
    for _, _, collectives in by_parameter(finished.manifest):
        outer = [c for c in collectives if c["digits"] == [[2, 2]]]
        assert runs(outer, "all_reduce") == 1
        assert runs(outer, "reduce_scatter") == 0


@over("gpt", ("levels=2x2", "p=1,g=2x1,os=2x2"), ("levels=4", "zero2"))
def test_one_microbatch_has_one_reduce_scatter(finished):
    for traffic, _, collectives in by_parameter(finished.manifest):
        assert runs(collectives, "reduce_scatter", finished.manifest["world"]) == 1
        assert runs(collectives, "all_reduce") == 0
        assert traffic["reductions"] == traffic["padded"]


@over(
    "gpt_accumulated",
    ("levels=2x2", "p=1,g=2x1,os=2x2"),
    ("levels=2x2", "zero3"),
    ("levels=3x2", "hpz:3x1"),
)
def test_the_table_adds_up_the_collectives(finished):
    """Whatever is fused, what moves for parameters is the sum over them."""
    manifest = finished.manifest
    sent = sum(
        c["count"] * c["sent_bytes"] for c in manifest["collectives"] if c["parameters"]
    )
    expected = sum(
        arrays.DTYPES[value["dtype"]].itemsize * traffic["sent_elements"]
        for traffic, value, _ in by_parameter(manifest)
    )
    assert sent == pytest.approx(expected)
    for collective in manifest["collectives"]:
        members = math.prod(size for _, size in collective["digits"])
        assert collective["group_size"] == members > 1
        times = 2 if collective["kind"] == "all_reduce" else 1
        share = times * (members - 1) * collective["bytes"] / members
        assert collective["sent_bytes"] == pytest.approx(share)


@over("gpt", ("levels=4", "ddp"), ("levels=4", "zero1"), ("levels=4", "zero3"))
def test_resting_state_is_what_the_placements_say(finished):
    manifest = finished.manifest
    resting = sum(
        math.prod(value["local_shape"]) * arrays.DTYPES[value["dtype"]].itemsize
        for value in manifest["arguments"]
        if value.get("result") is not None
    )
    assert manifest["state_bytes"] == resting
    sharded = math.prod(manifest["strategy"]["os"]) > 1
    for value in manifest["arguments"]:
        if value["role"] in ("param", "opt_state") and value["shape"]:
            assert (value["placement"]["kind"] == "flat") == sharded


@over("mlp", ("levels=1", "zero3"))
def test_one_rank_communicates_nothing(finished):
    assert finished.manifest["collectives"] == []
