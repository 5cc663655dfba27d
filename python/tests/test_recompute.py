"""Units that backward computes again: numbers as one device's, in less memory."""

import json
import re

import pytest

import jobs
import steps
from amsp import check, tools
from test_planner import CLUSTER, exported_llama, plan

pytestmark = [
    pytest.mark.needs_tools,
    pytest.mark.skipif(tools.find("amsp-plan") is None, reason="not built: amsp-plan"),
]


@pytest.mark.parametrize("path", ["so", "stablehlo"])
@pytest.mark.parametrize(
    "case, units",
    [
        ("llama", "'layers.*'"),
        ("gpt", "layers.0, rest"),
        ("gpt_accumulated", "embeddings, rest"),
    ],
)
def test_ranks_equal_one_device(case, units, path, tmp_path):
    ready = steps.prepared(case, tmp_path)
    chosen = tmp_path / "plan.yaml"
    chosen.write_text(f"version: 1\nstrategy: zero3\nrecompute: [{units}]\n")
    results, _ = jobs.compile_and_run(
        ready.directory / "step.mlir",
        ready.directory / "inputs.npz",
        tmp_path / "run",
        "levels=2",
        chosen,
        path,
        ready.steps,
        ready.batch_args,
    )
    assert not check.check_case(ready.directory, results).faults


def test_what_fits_in_no_way_names_the_smallest(tmp_path):
    step = steps.prepared("gpt", tmp_path).directory / "step.mlir"
    # Computed again, all that can be takes more memory than nothing.
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER)
    needed = []
    for search in ((), ("--search", "recompute")):
        with pytest.raises(tools.ToolError, match="fits under no strategy") as error:
            tools.call(
                "amsp-plan", step, "--cluster", cluster, "--memory", "1000", *search
            )
        needed.append(int(re.search(r"\((\d+) bytes\)", str(error.value))[1]))
    assert needed[1] <= needed[0]


def test_what_the_search_says_is_compiled(tmp_path):
    step, chosen = exported_llama(tmp_path, 1, hidden=256), tmp_path / "plan.yaml"
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER.replace("size: 2", "size: 4", 1))
    sharded = ("--strategy", "zero3", "--finalists", "1", "--top", "1")
    needed = plan(step, cluster, "--memory", "1e12", *sharded)["plan"]["bytes"]
    limit = ("--memory", str(needed - 1))
    # Without recomputation nothing fits.
    with pytest.raises(tools.ToolError, match="fits under no strategy"):
        tools.call("amsp-plan", step, "--cluster", cluster, *limit)
    options = ("--search", "recompute", "--finalists", "1", "-o", chosen)
    found = plan(step, cluster, *limit, *options)
    assert found["recompute"] and "recompute: [" in chosen.read_text()
    assert found["plan"]["bytes"] < needed
    again = plan(step, cluster, *limit, "--strategy", chosen, "--finalists", "1")
    assert again["recompute"] == found["recompute"]
    assert again["plan"]["bytes"] == found["plan"]["bytes"]
    report = tmp_path / "report.json"
    tools.call(
        "amsp-compile", step, "-o", tmp_path / "compiled.mlir", "--emit", "mlir",
        "--cluster", cluster, "--strategy", chosen, "--report", report,
    )  # fmt: skip
    assert json.loads(report.read_text())["memory_bytes"] == found["plan"]["bytes"]
