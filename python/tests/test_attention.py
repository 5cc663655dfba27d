"""Attention as one op: each way to write it, by both paths, against one device."""

import pytest

import attentions
import jobs
import steps
from amsp import tools
from steps import StepJob

pytestmark = pytest.mark.needs_tools

COMBINATIONS = [("levels=2", "zero3"), ("levels=4", "zero1"), ("levels=3", "ddp")]
JOBS = [
    StepJob(f"attention_{style}", *COMBINATIONS[(number + offset) % 3], path)
    for number, style in enumerate(attentions.STYLES)
    for offset, path in enumerate(jobs.PATHS)
]


@pytest.mark.parametrize("job", JOBS, ids=str)
def test_ranks_equal_one_device(finished):
    assert not finished.comparison.faults


BLOCKS = [
    StepJob(f"attention_{name}", "levels=2", "zero2", "so")
    for name in ("blocks", "varied_blocks")
]


@pytest.mark.parametrize("job", BLOCKS, ids=str)
def test_blocks_of_queries_equal_one_device(finished):
    assert not finished.comparison.faults


@pytest.mark.parametrize("style", attentions.STYLES)
def test_it_is_one_op(style, tmp_path):
    prepared = steps.prepared(f"attention_{style}", tmp_path)
    passes = "--amsp-partition=levels=2 strategy=zero3"
    if prepared.batch_args:
        passes += " batch-args=" + ",".join(map(str, prepared.batch_args))
    done = tools.call("amsp-opt", prepared.directory / "step.mlir", passes)
    assert "no attention" not in done.stderr
    layers = 1 if "scanned" in style else 2
    # Recomputation runs the forward op again, for its statistics; a scan saves them.
    runs = 2 if "recomputed" in style else 1
    assert done.stdout.count("amsp.attention ") == layers * runs
    assert done.stdout.count("amsp.attention_backward ") == layers
    assert "gathers" not in done.stderr


def test_no_scores_of_all_pairs_are_in_the_arena(tmp_path):
    prepared = steps.prepared("attention_long", tmp_path)
    arena = {}
    for option in ((), ("--no-recognize-attention",)):
        step = tmp_path / "step.so"
        tools.compile_step(
            prepared.directory / "step.mlir", step, "levels=1", "zero3",
            prepared.batch_args, options=option,
        )  # fmt: skip
        arena[option] = tools.manifest(step)["arena_bytes"]
    scores = 2 * 4 * 512 * 512 * 4  # rows, heads, queries, keys, bytes
    assert arena[()] < scores
    assert arena[("--no-recognize-attention",)] > 2 * scores
