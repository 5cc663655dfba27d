"""What the simulated steps of bench/overlap.py leave exposed, against the limits that
the bench holds measured steps to. No clock: the simulator's times do not vary."""

import importlib.util
import json
import pathlib
import sys

import pytest

from amsp import exposure, overlap_bound, tools

BENCH = pathlib.Path(__file__).parents[2] / "bench" / "overlap.py"
# The rates of the machine in docs/benchmarks.md; gathers and reductions share links.
CLUSTER = """
levels: [{name: rank, size: %d, bandwidth: %s, latency: 1e-4}]
device: {memory: 4e9, memory_bandwidth: 1.2e10, peak: {f32: 5e10}}
"""


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_overlap", BENCH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def exported(bench, tmp_path_factory):
    """The bench's step by its number of microbatches and ranks."""
    known = {}

    def export(microbatches, ranks):
        key = microbatches, ranks
        if key not in known:
            directory = tmp_path_factory.mktemp("gpt")
            case = bench.export_gpt(ranks, microbatches, directory)
            batch = ",".join(map(str, case.batch_args))
            known[key] = directory / "step.mlir", batch
        return known[key]

    return export


def simulated(
    exported, microbatches, strategy, bandwidth, directory, *options, ranks=2
):
    program, batch = exported(microbatches, ranks)
    cluster, timeline = directory / "cluster.yaml", directory / "timeline.json"
    cluster.write_text(CLUSTER % (ranks, bandwidth))
    tools.call(
        "amsp-plan", program, "--cluster", cluster, "--strategy", strategy,
        "--batch-args", batch, "--timeline", timeline, "--top", "1",
        "--finalists", "1", *options,
    )  # fmt: skip
    (step,) = exposure.read(timeline)
    return step, json.loads(timeline.read_text())["summary"]


def exposed(summary, channel):
    """In microseconds, with the iterations that are counted, not simulated."""
    of_channel = [u for u in summary["units"] if u["channel"] == channel]
    return sum(unit["exposed_seconds"] for unit in of_channel) * 1e6


@pytest.mark.needs_tools
@pytest.mark.parametrize("bandwidth", ("1e8", "2e8", "4e8"))
@pytest.mark.parametrize(
    "strategy, ranks",
    # Of the last, a gradient's reduction inside a group goes on over the replicas.
    [("zero1", 2), ("zero2", 2), ("zero3", 2), ("mics:2", 4)],
)
def test_a_step_is_within_the_bound(
    strategy, ranks, bandwidth, bench, exported, tmp_path
):
    step, _ = simulated(exported, 1, strategy, bandwidth, tmp_path, ranks=ranks)
    communication = sum(transfer.link for transfer in step.transfers)
    bound = overlap_bound.bound(step, is_shared=True)
    # There is something to hide, and it counts.
    assert communication > 0.2 * (step.end - step.begin)
    assert bound < 0.9 * (
        communication + sum(phase.compute for phase in overlap_bound.split(step))
    )
    assert step.end - step.begin <= bench.BOUND * bound


@pytest.mark.needs_tools
@pytest.mark.parametrize(
    "strategy, bandwidth",
    # Of the last, gathers and reductions fill the links where a microbatch begins.
    [("zero1", "6e8"), ("zero2", "6e8"), ("zero3", "4e8")],
)
def test_of_four_microbatches_one_unit_is_exposed_each_way(
    strategy, bandwidth, bench, exported, tmp_path
):
    loops = ("--peel-microbatches", "--pipeline-loops")
    step, summary = simulated(exported, 4, strategy, bandwidth, tmp_path, *loops)
    for channel in ("gather", "reduce"):
        unit = overlap_bound.largest_use(step, channel)
        # A layer of 12 matrices of 256 x 256 in f32, of which half are sent.
        assert unit == pytest.approx(12 * 256**2 * 4 / 2 / float(bandwidth) * 1e6, rel=0.2)
        assert exposed(summary, channel) <= bench.UNITS * unit


@pytest.mark.needs_tools
def test_loops_as_they_stand_break_the_limit(bench, exported, tmp_path):
    """So the test above can fail."""
    loops = ("--peel-microbatches=off", "--pipeline-loops=off")
    step, summary = simulated(exported, 4, "zero3", "6e8", tmp_path, *loops)
    unit = overlap_bound.largest_use(step, "gather")
    assert exposed(summary, "gather") > 2 * unit


def test_the_bench_names_the_limits_that_a_row_breaks(bench):
    row = {"ratio": 1.2, "ms": 12.0, "simulated": 10.0, "exposed gathers": 3.0}
    row |= {"one gathers": 2.0, "exposed reductions": 1.0, "one reductions": 1.0}
    names = ["zero3", "bandwidth=4e8;shared", "on"]
    head = "zero3, bandwidth=4e8;shared, on: "
    simulated = head + "a step is 1.20 times its simulation, of 1.15 allowed"
    assert bench.broken_limits(names, row, 1) == [
        head + "a step is 1.20 times its bound, of 1.10 allowed",
        simulated,
    ]
    assert bench.broken_limits(names, row, 4) == [
        head + "of gathers there are 1.50 units exposed, of 1.00 allowed",
        simulated,
    ]
    within = row | {"ratio": 1.1, "simulated": 11.0, "exposed gathers": 2.0}
    assert not bench.broken_limits(names, within, 1)
    assert not bench.broken_limits(names, within, 4)


def timed(id, channel, begin, end, needed, taken, unit="u"):
    return exposure.Transfer(
        id, "name", channel, unit, begin, end, end - begin, needed=needed, taken=taken
    )


def await_event(transfer):
    begin, end = transfer.needed, transfer.taken
    return {"cat": "await", "ts": begin, "dur": end - begin}


def test_parts_of_a_step():
    """Forward ends with the first reduction's start, backward with the last one's."""
    transfers = [
        timed(0, "gather", 0, 10, 0, 10),
        timed(1, "gather", 10, 30, 25, 30),
        timed(2, "reduce", 60, 90, 100, 100),
        timed(3, "reduce", 100, 120, 105, 120),
        timed(4, "reduce", 120, 121, 121, 121, unit=None),
    ]
    step = exposure.Step(0, 0, 130, list(map(await_event, transfers)), transfers)
    forward, backward, update = overlap_bound.split(step)
    assert (forward.compute, forward.gathers, forward.reductions) == (45, 30, 30)
    assert (backward.compute, backward.reductions) == (40, 20)
    assert (update.compute, update.reductions) == (15, 1)
    assert overlap_bound.ends(step) == 10 + 1
    assert overlap_bound.bound(step, is_shared=False) == 45 + 40 + 15 + 11
    assert overlap_bound.bound(step, is_shared=True) == 60 + 40 + 15 + 11
    assert overlap_bound.exposed([step], "gather") == 10 + 5
    assert overlap_bound.largest_use(step, "gather") == 30


def test_who_comes_last_to_an_await_waits_for_the_links_alone():
    def rank(*transfers):
        return exposure.Step(0, 0, 100, [], list(transfers))

    # The third is the second run of the first one's collective.
    ahead = rank(
        timed(0, "gather", 0, 10, 0, 10),
        timed(1, "gather", 12, 30, 20, 30),
        timed(0, "gather", 40, 53, 50, 53),
        timed(2, "reduce", 60, 70, 60, 70),
    )
    behind = rank(
        timed(0, "gather", 0, 10, 2, 10),
        timed(1, "gather", 20, 30, 28, 30),
        timed(0, "gather", 40, 53, 48, 53),
        timed(2, "reduce", 60, 70, 75, 75),
    )
    assert overlap_bound.exposed([ahead, behind], "gather") == 8 + 2 + 3
    assert overlap_bound.exposed([ahead], "gather") == 10 + 10 + 3
    assert overlap_bound.exposed([ahead, behind], "reduce") == 0
