"""A step of each kind (kinds/), by every path, against one device."""

import dataclasses
import os
import pathlib
import shutil

import numpy as np
import pytest

import jobs
import matrix
import steps
from amsp import check, tools
from kinds import KINDS
from steps import StepJob

pytestmark = pytest.mark.needs_tools

# The share of scripts/matrix.sh that is always run: each kind meets a grid and a
# strategy on each transport, in turn, so that each of these meets several kinds.
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
# Under XLA, a kind meets all presets on one grid.
GRIDS = [(2, 2), (4,), (3,), (2, 3), (2,)]


@dataclasses.dataclass(frozen=True)
class TransportsJob(jobs.Job):
    """A kind on threads, and under another strategy on MPI."""

    kind: str
    threads: tuple[str, str]
    mpi: tuple[str, str]

    def __str__(self):
        return "-".join((self.kind, *self.threads, "mpi", *self.mpi))

    def run(self, directory: pathlib.Path) -> dict[str, check.Comparison]:
        ready = steps.prepared(self.kind, directory.parent)
        directory.mkdir()
        found = {}
        for transport in ("threads", "mpi"):
            library, results = directory / f"{transport}.so", directory / f"{transport}.npz"
            tools.compile_step(
                ready.directory / "step.mlir", library, *getattr(self, transport), ready.batch_args
            )
            options = ("--transport", transport)
            tools.run_step(
                library, ready.directory / "inputs.npz", results, ready.steps, *options
            )
            found[transport] = check.check_case(ready.directory, results)
        return found


@dataclasses.dataclass(frozen=True)
class PresetsJob(jobs.Job):
    """A kind's partitioned programs under XLA, for every preset."""

    kind: str
    grid: tuple[int, ...]

    def __str__(self):
        return f"{self.kind}-{matrix.cluster(self.grid)}"

    def run(self, directory: pathlib.Path) -> dict[str, check.Comparison]:
        ready = steps.prepared(self.kind, directory.parent)
        directory.mkdir()
        presets = matrix.presets(self.grid)
        programs = [directory / f"{number}.mlir" for number in range(len(presets))]
        for program, preset in zip(programs, presets):
            tools.compile_step(
                ready.directory / "step.mlir",
                program,
                matrix.cluster(self.grid),
                preset,
                ready.batch_args,
                emit="stablehlo",
            )
        results = [program.with_suffix(".npz") for program in programs]
        jobs.run_under_xla(programs, ready.directory / "inputs.npz", results, ready.steps)
        return {
            preset: check.check_case(ready.directory, result)
            for preset, result in zip(presets, results)
        }


def faults(comparisons):
    return {name: one.faults for name, one in comparisons.items() if one.faults}


@pytest.mark.parametrize(
    "job",
    [
        TransportsJob(kind, *(COMBINATIONS[(2 * n + k) % len(COMBINATIONS)] for k in (0, 1)))
        for n, kind in enumerate(KINDS)
    ],
    ids=str,
)
@pytest.mark.skipif(
    shutil.which("mpirun") is None and not os.environ.get("CI"),
    reason="there is no mpirun in PATH",
)
def test_ranks_equal_one_device_on_both_transports(finished):
    assert set(finished) == {"threads", "mpi"} and not faults(finished)


@pytest.mark.parametrize(
    "job", [PresetsJob(kind, GRIDS[n % len(GRIDS)]) for n, kind in enumerate(KINDS)], ids=str
)
def test_partitioned_programs_give_the_same_numbers_under_xla(finished):
    assert len(finished) == 6 and not faults(finished)


def test_the_page_lists_them():
    page = (tools.REPOSITORY / "docs" / "kinds.md").read_text()
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(set(listed) - {"scripts/matrix.sh"}) == sorted(KINDS)


@pytest.mark.parametrize(
    "job", [StepJob("accumulated_uneven", "levels=2", "zero2", "so")], ids=str
)
def test_an_output_of_a_microbatch_is_gathered_from_where_it_is_stacked(finished):
    """And is not put there once more while it is in flight."""
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
        # Of each, the first iterate; norms are scalars on the wire.
        (StepJob("muon", "levels=4", "zero2", "so"), 4, 2),
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


@over("unknown_trip_count")
def test_collectives_run_in_loops_that_the_data_ends(finished):
    """In the condition and in the body."""
    assert not finished.comparison.faults
    counts = {(c["count_known"], c["count"]) for c in finished.manifest["collectives"]}
    assert counts == {(True, 1), (False, 16)}


@over("in_batch_negatives")
def test_scores_of_all_pairs_stay_on_their_ranks(finished):
    """Each rank has the rows of its own examples; what moves is as large as what
    they are made of."""
    assert not finished.comparison.faults
    embeddings = 48 * 6 * 4
    moved = [c["bytes"] / c["tensors"] for c in finished.manifest["collectives"]]
    assert embeddings in moved
    assert max(moved) <= embeddings


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
