"""What a step communicates, as the manifest lists it, against the formulas."""

import math

import pytest

import jobs
from amsp import arrays
from steps import StepJob

pytestmark = [
    pytest.mark.needs_tools,
    pytest.mark.skipif(
        not jobs.cases_directory().is_dir(),
        reason=f"no {jobs.cases_directory()}; set AMSP_CASES_DIR",
    ),
]


def over(case, *combinations):
    return pytest.mark.parametrize(
        "job", [jobs.CaseJob(case, *one, "so") for one in combinations], ids=str
    )


def by_parameter(manifest):
    """(traffic, value, its collectives) of each parameter."""
    return [
        (
            traffic,
            manifest["arguments"][traffic["argument"]],
            [c for c in manifest["collectives"] if c["parameter"] == traffic["argument"]],
        )
        for traffic in manifest["parameters"]
    ]


def runs(collectives, kind, digits=None):
    return sum(
        c["count"]
        for c in collectives
        if c["kind"] == kind and (digits is None or c["group_size"] == digits)
    )


@over("mlp_momentum", ("levels=4", "ddp"), ("levels=2x2", "ddp"), ("levels=3", "ddp"))
def test_ddp_moves_each_gradient_twice(finished):
    manifest = finished.manifest
    world = manifest["world"]
    assert len(manifest["parameters"]) == 6
    for traffic, _, collectives in by_parameter(manifest):
        assert traffic["padded"] == traffic["elements"]
        moved = 2 * (world - 1) * traffic["padded"] / world
        assert traffic["sent_elements"] == pytest.approx(moved)
        assert runs(collectives, "all_gather") == 0


@over("mlp_momentum", ("levels=4", "zero3"), ("levels=3", "zero3"), ("levels=2x2", "zero3"))
def test_zero3_gathers_for_each_use_and_scatters_once(finished):
    manifest = finished.manifest
    world = manifest["world"]
    for traffic, value, _ in by_parameter(manifest):
        padded = traffic["padded"]
        assert padded == world * math.ceil(traffic["elements"] / world)
        # Backward reads no bias, and not the weight that only meets the input.
        forward_only = "'b'" in value["name"] or value["name"] == "params[0]['w']"
        assert traffic["gathers"] == (1 if forward_only else 2) * padded
        assert traffic["reductions"] == padded
        moved = (world - 1) * (traffic["gathers"] + traffic["reductions"]) / world
        assert traffic["sent_elements"] == pytest.approx(moved)


@over("gpt_adamw", ("levels=2", "zero3"), ("levels=2", "zero1"))
def test_a_tied_gradient_is_reduced_as_one_sum(finished):
    table = [t for t, v, _ in by_parameter(finished.manifest) if "'wte'" in v["name"]]
    assert len(table) == 1
    assert table[0]["reductions"] == table[0]["padded"]


@over("gpt_accumulate", ("levels=2x2", "p=1,g=2x1,os=2x2"))
def test_gradients_are_reduced_over_g_once_per_microbatch(finished):
    """And over the digits os/g once a step."""
    checked = 0
    for traffic, _, collectives in by_parameter(finished.manifest):
        inner = [c for c in collectives if c["digits"] == [[1, 2]]]
        outer = [c for c in collectives if c["digits"] == [[2, 2]]]
        if not collectives:
            continue
        assert runs(inner, "reduce_scatter") == 4
        assert runs(outer, "reduce_scatter") == 1
        assert traffic["reductions"] == 4 * traffic["padded"] + traffic["padded"] // 2
        checked += 1
    assert checked == 29


@over("gpt_accumulate", ("levels=2x2", "mics:2x1"))
def test_replicas_are_summed_once_a_step(finished):
    for _, _, collectives in by_parameter(finished.manifest):
        outer = [c for c in collectives if c["digits"] == [[2, 2]]]
        assert runs(outer, "all_reduce") == 1
        assert runs(outer, "reduce_scatter") == 0


@over("gpt_adamw", ("levels=2x2", "p=1,g=2x1,os=2x2"), ("levels=4", "zero2"))
def test_one_microbatch_has_one_reduce_scatter(finished):
    for traffic, _, collectives in by_parameter(finished.manifest):
        assert runs(collectives, "reduce_scatter", finished.manifest["world"]) == 1
        assert runs(collectives, "all_reduce") == 0
        assert traffic["reductions"] == traffic["padded"]


@over(
    "gpt_accumulate",
    ("levels=2x2", "p=1,g=2x1,os=2x2"),
    ("levels=2x2", "zero3"),
    ("levels=3x2", "hpz:3x1"),
)
def test_the_table_adds_up_the_collectives(finished):
    manifest = finished.manifest
    for traffic, value, collectives in by_parameter(manifest):
        size = arrays.DTYPES[value["dtype"]].itemsize
        sent = sum(c["count"] * c["sent_bytes"] for c in collectives)
        assert sent == pytest.approx(size * traffic["sent_elements"])
    for collective in manifest["collectives"]:
        members = math.prod(size for _, size in collective["digits"])
        assert collective["group_size"] == members > 1
        times = 2 if collective["kind"] == "all_reduce" else 1
        share = times * (members - 1) * collective["bytes"] / members
        assert collective["sent_bytes"] == pytest.approx(share)


@over("gpt_adamw", ("levels=4", "ddp"), ("levels=4", "zero1"), ("levels=4", "zero3"))
def test_resting_state_is_what_the_placements_say(finished):
    manifest = finished.manifest
    resting = sum(
        math.prod(value["local_shape"]) * arrays.DTYPES[value["dtype"]].itemsize
        for value in manifest["arguments"]
        if value.get("result") is not None
    )
    assert manifest["state_bytes"] == resting
    sharded = "zero" in manifest_strategy(manifest)
    for value in manifest["arguments"]:
        if value["role"] in ("param", "opt_state") and value["shape"]:
            assert (value["placement"]["kind"] == "flat") == sharded


def manifest_strategy(manifest):
    return "zero" if math.prod(manifest["strategy"]["os"]) > 1 else "ddp"


@pytest.mark.parametrize(
    "job", [StepJob("mlp", "levels=1", "zero3", "so")], ids=str
)
def test_one_rank_communicates_nothing(finished):
    assert finished.manifest["collectives"] == []
