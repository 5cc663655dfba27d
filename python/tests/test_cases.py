"""The exported cases, on grids and under strategies, against one device.

By default a chosen part of the matrix; AMSP_FULL_MATRIX=1 runs all of it.
"""

import os

import numpy as np
import pytest

import jobs
import matrix
import steps
from amsp import check, tools

FULL = bool(os.environ.get("AMSP_FULL_MATRIX"))
COMBINATIONS = matrix.full() if FULL else matrix.chosen()
JOBS = [
    jobs.CaseJob(*combination, path)
    for combination in COMBINATIONS
    for path in jobs.PATHS
]

needs_cases = pytest.mark.skipif(
    not jobs.cases_directory().is_dir(),
    reason=f"no {jobs.cases_directory()}; set AMSP_CASES_DIR",
)


@needs_cases
@pytest.mark.needs_tools
@pytest.mark.parametrize("job", JOBS, ids=str)
def test_ranks_equal_one_device(job, finished):
    comparison = check.check_case(jobs.cases_directory() / job.case, finished.results)
    assert not comparison.faults
    assert finished.manifest["version"] == 1
    assert finished.manifest["world"] == np.prod(finished.manifest["levels"])


@needs_cases
@pytest.mark.needs_tools
@pytest.mark.parametrize("job", [job for job in JOBS if job.path == "so"], ids=str)
def test_with_one_byte_less_a_rank_is_refused(job, finished, tmp_path):
    """With exactly what it needs it ran: see jobs.compile_and_run."""
    needed = finished.manifest["memory_bytes"]
    step = finished.results.with_name("step.so")
    inputs = jobs.cases_directory() / job.case / "inputs.npz"
    limit = ("--memory-limit", needed - 1)
    with pytest.raises(tools.ToolError, match=f"a rank needs {needed} bytes"):
        tools.run_step(step, inputs, tmp_path / "out.npz", 1, *limit)
    assert not (tmp_path / "out.npz").exists()


@needs_cases
@pytest.mark.needs_tools
@pytest.mark.parametrize("case", matrix.CASES)
def test_every_op_has_a_local_rule(case, tmp_path):
    step = jobs.cases_directory() / case / "step.mlir"
    for case_, cluster, strategy in matrix.chosen():
        if case_ != case:
            continue
        finished = tools.call(
            "amsp-compile", step, "-o", tmp_path / "rank.mlir", "--emit", "stablehlo",
            "--cluster", cluster, "--strategy", strategy,
        )  # fmt: skip
        # A remark tells of each operand that had to be gathered. Rows that ranks do
        # not divide are cut anew, and padded.
        remarks = finished.stderr.splitlines()
        assert not [r for r in remarks if "gathers" in r and "do not divide" not in r]


def test_the_chosen_part_covers_every_case_grid_and_preset():
    chosen = matrix.chosen()
    assert set(chosen) <= set(matrix.full())
    assert {case for case, _, _ in chosen} == set(matrix.CASES)
    assert {at for _, at, _ in chosen} == set(map(matrix.cluster, matrix.GRIDS))
    kinds = {strategy.split(":")[0].split("=")[0] for _, _, strategy in chosen}
    assert kinds == {"ddp", "zero1", "zero2", "zero3", "mics", "hpz", "p"}


def test_strategies_nest():
    for grid in matrix.GRIDS:
        for strategy in matrix.strategies(grid):
            if "=" not in strategy:
                continue
            parts = dict(part.split("=") for part in strategy.split(","))
            parts.setdefault("p", "1")
            parts.setdefault("g", parts["p"])
            levels = [
                [*map(int, parts[state].split("x")), *[1] * len(grid)][: len(grid)]
                for state in ("p", "g", "os")
            ]
            for p, g, os_, size in zip(*levels, grid, strict=True):
                assert g % p == 0 and os_ % g == 0 and size % os_ == 0, strategy


@pytest.mark.needs_tools
@pytest.mark.parametrize("strategy", ["ddp", "zero3"])
def test_two_runs_give_the_same_bits(tmp_path, strategy):
    job = steps.StepJob("gpt", "levels=2x2", strategy, "so")
    first, second = (job.run(tmp_path / name).results for name in ("one", "two"))
    assert first.keys() == second.keys() and first
    for name, value in first.items():
        assert value.tobytes() == second[name].tobytes(), name
