"""Steps that are split into microbatches: numbers as one device's, in less memory."""

import json

import pytest

import jobs
import steps
from amsp import check, tools
from test_planner import plan

pytestmark = [
    pytest.mark.needs_tools,
    pytest.mark.skipif(tools.find("amsp-plan") is None, reason="not built: amsp-plan"),
]

CLUSTER = """
levels: [{name: core, size: 2, bandwidth: 9e9, latency: 2e-5}]
device: {memory: 1e9, memory_bandwidth: 36e9, peak: {f32: 57e9, bf16: 57e9}}
"""


def planned(directory, microbatches, strategy):
    chosen = directory / "plan.yaml"
    text = f"version: 1\nstrategy: {strategy}\nmicrobatches: {microbatches}\n"
    chosen.write_text(text)
    return chosen


@pytest.mark.parametrize(
    "case, microbatches, ranks, strategy, path",
    [
        ("gpt", 4, 1, "ddp", "so"),
        ("gpt", 3, 2, "zero2", "so"),
        ("gpt", 2, 4, "zero3", "stablehlo"),
        ("bf16_masters", 4, 2, "p=1,g=2,os=2", "so"),
        # The mask of a row is that of the batch's row.
        ("dropout", 3, 2, "zero3", "so"),
        # A stack's gradient is carried whole.
        ("scanned_layers", 2, 2, "zero3", "so"),
        # A loop over microbatches in the exported step; parts are blocks of rows.
        ("accumulated_every", 2, 2, "zero2", "so"),
        ("loss_scaling", 4, 2, "zero1", "so"),
    ],
)
def test_numbers_are_one_devices(case, microbatches, ranks, strategy, path, tmp_path):
    ready = steps.prepared(case, tmp_path)
    results, _ = jobs.compile_and_run(
        ready.directory / "step.mlir",
        ready.directory / "inputs.npz",
        tmp_path / "run",
        f"levels={ranks}",
        planned(tmp_path, microbatches, strategy),
        path,
        ready.steps,
        ready.batch_args,
    )
    assert not check.check_case(ready.directory, results).faults


@pytest.mark.parametrize(
    "case, reason",
    [
        ("convolutions", "takes rows of the batch and what follows from a sum"),
        ("odd_vocabulary", "takes rows of the batch and what follows from a sum"),
        ("in_batch_negatives", "needs rows of other microbatches"),
    ],
)
def test_no_sum_over_rows_is_refused(case, reason, tmp_path):
    step = steps.prepared(case, tmp_path).directory / "step.mlir"
    with pytest.raises(tools.ToolError, match=rf"py:\d+:\d+: the step cannot .*{reason}"):
        tools.compile_step(
            step, tmp_path / "s.mlir", "levels=2", planned(tmp_path, 2, "ddp"), emit="mlir"
        )
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER)
    found = plan(step, cluster, "--search", "microbatch")
    assert found["split"] == 1 and reason in found["split_refusal"]


def test_what_the_search_says_is_compiled(tmp_path):
    step = steps.prepared("gpt", tmp_path).directory / "step.mlir"
    chosen = tmp_path / "chosen.yaml"
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER)
    shown = ("--finalists", "1", "--top", "1")
    needed = plan(step, cluster, *shown, "--strategy", "zero3")["plan"]["bytes"]
    limit = ("--memory", str(int(0.8 * needed)))
    with pytest.raises(tools.ToolError, match="fits under no strategy"):
        tools.call("amsp-plan", step, "--cluster", cluster, *limit, *shown)
    found = plan(step, cluster, *limit, *shown, "--search", "microbatch", "-o", chosen)
    assert found["split"] > 1 and found["microbatches"] == found["split"]
    assert f"\nmicrobatches: {found['split']}\n" in chosen.read_text()
    again = plan(step, cluster, *limit, *shown, "--strategy", chosen)
    assert again["plan"]["bytes"] == found["plan"]["bytes"]
    report = tmp_path / "report.json"
    tools.call(
        "amsp-compile", step, "-o", tmp_path / "compiled.mlir", "--emit", "mlir",
        "--cluster", cluster, "--strategy", chosen, "--report", report,
    )  # fmt: skip
    assert json.loads(report.read_text())["memory_bytes"] == found["plan"]["bytes"]
