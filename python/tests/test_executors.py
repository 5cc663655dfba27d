"""The measured runs of other systems (executors/runs.json) as amsp-plan
simulates them, with one set of constants for each cluster."""

import importlib.util
import itertools
import json
import subprocess

import pytest

from amsp import tools

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)
ROOT = tools.REPOSITORY
# Runs that differ by less in a measurement have no order.
NOISE = 0.01


def load_script():
    path = ROOT / "scripts/measured_runs.py"
    spec = importlib.util.spec_from_file_location("measured_runs", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture(scope="module")
def groups():
    return load_script().load(tools.find("amsp-plan"))


def rates(groups):
    """The runs with a rate: not those that are there for their order."""
    return [run for group in groups if "unit" not in group for run in group["runs"]]


def test_tokens_per_second(groups):
    for run in rates(groups):
        error = run["simulated"] / run["measured"] - 1
        assert abs(error) <= 0.1, (run["name"], run["levels"], error)


def test_switching_the_overlap_of_13b_on_64_gpus(groups):
    """Each row is the one before with more of the passes' overlap switched off."""
    rows = [g for g in groups if g["name"].startswith("A800, 13B, 64 GPUs")]
    assert [g["overlap"] for g in rows] == ["on", "uses,gradients", "uses", "off"]
    for slower, faster in itertools.pairwise(reversed(rows)):
        for slow, fast in zip(slower["runs"], faster["runs"], strict=True):
            assert slow["no_overlap"] == [] and slow["executor"] == "amsp"
            assert slow["simulated"] < fast["simulated"]
            for run in slow, fast:
                assert abs(run["simulated"] / run["measured"] - 1) <= 0.15


def test_seconds_lost_against_the_smallest_scale(groups):
    checked = 0
    scales = [
        run
        for group in groups
        for run in group["runs"]
        # Some groups are of one scale.
        if "unit" not in group and run["levels"] != group["runs"][0]["levels"]
    ]
    for run in scales:
        if run["measured_loss"] <= 0.05 * run["measured_seconds"]:
            continue
        ratio = run["simulated_loss"] / run["measured_loss"]
        assert 1 / 1.5 <= ratio <= 1.5, (run["name"], run["levels"], ratio)
        checked += 1
    assert checked >= 6


def are_comparable(a, b):
    """Of one group, or alike but for what is overlapped, or for the strategy."""
    keys = ("cluster", "model", "sequence", "levels", "microbatches")
    return a["name"] == b["name"] or all(a[key] == b[key] for key in keys)


def test_order(groups):
    runs = [run for group in groups for run in group["runs"]]
    checked = 0
    for a, b in itertools.combinations(runs, 2):
        if ("unit" in a) != ("unit" in b) or not are_comparable(a, b):
            continue
        if a["measured"] > b["measured"] * (1 + NOISE):
            assert a["simulated"] > b["simulated"], (a, b)
            checked += 1
        elif b["measured"] > a["measured"] * (1 + NOISE):
            assert b["simulated"] > a["simulated"], (a, b)
            checked += 1
    assert checked > 60


def test_our_own_program_beside_them(groups):
    """Under their strategies about as fast at least; under its own never slower."""
    for run in [run for group in groups for run in group["runs"]]:
        assert run["ours"] >= 0.995 * run["simulated"], (run["name"], run["levels"])
        assert run["best"] >= run["ours"] * (1 - 1e-9), (run["name"], run["levels"])
        # What is not overlapped there is here.
        if len(run["no_overlap"]) > 1:
            assert run["ours"] > 1.01 * run["simulated"]


SYSTEMS = [
    ("amsp", "p=1,g=1,os=all"),
    ("fsdp", "zero3"),
    ("mics", "mics:8x1"),
    ("deepspeed-zero1", "zero1"),
    ("compiled", "hpz:8x1"),
]


@pytest.mark.parametrize("executor, strategy", SYSTEMS)
@pytest.mark.parametrize("cluster", ["h100-80gb-400g", "a800-80gb-800g", "pods"])
def test_a_rank_gets_no_faster_on_more_nodes(cluster, executor, strategy, tmp_path):
    """Up to 2048 ranks, of two levels and of three, with as much to do for each."""
    script = load_script()
    sizes = ["8x1", "8x2", "8x16", "8x256"]
    path = ROOT / "clusters" / f"{cluster}.yaml"
    if cluster == "pods":
        sizes = ["8x1x1", "8x16x1", "8x16x4", "8x16x16"]
        path = tmp_path / "pods.yaml"
        path.write_text(PODS)
        strategy = strategy.replace("8x1", "8x1x1")
    run = {
        "executor": executor, "cluster": path.with_suffix(""), "model": "amsp-7b",
        "strategy": strategy, "sequence": 4096, "microbatch": 1, "microbatches": 4,
        "overlap": "on", "no_overlap": [],
    }  # fmt: skip
    tool = tools.find("amsp-plan")
    reports = [script.simulate({**run, "levels": size}, tool) for size in sizes]
    rates = [report["tokens_per_second"] for report in reports]
    assert rates == sorted(rates, reverse=True)
    # All that makes them slower is said.
    for report in reports:
        assert sum(report["time"].values()) == pytest.approx(report["seconds"])
        assert min(report["time"].values()) >= 0
    # Links are not for nothing, and no scale brings a system to a halt.
    assert rates[0] > 1.005 * rates[-1] > 0.05 * rates[0]


PODS = """
levels:
  - {name: gpu, size: 8, bandwidth: 400e9, latency: 3e-6}
  - {name: node, size: 16, bandwidth: 200e9, latency: 1e-5, congestion: 0.02}
  - {name: pod, size: 16, bandwidth: 800e9, latency: 3e-5, congestion: 0.05}
device: {memory: 80e9, memory_bandwidth: 2e12, peak: {bf16: 4e14}}
interference: 0.1
"""


def test_the_page_has_the_table_of_this_version(groups):
    script = load_script()
    page = script.PAGE.read_text()
    assert script.replace(page, script.BEGIN, script.END, script.table(groups)) == page


def test_timeline_is_complete(groups, tmp_path):
    script = load_script()
    run = {**groups[2]["runs"][-1], "microbatches": 3}
    path = tmp_path / "timeline.json"
    command = [*script.command(run, tools.find("amsp-plan")), "--timeline", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    timeline = json.loads(path.read_text())
    summary, events = timeline["summary"], timeline["traceEvents"]
    assert summary["step_seconds"] == pytest.approx(report["seconds"])
    assert summary["exposed_seconds"] == pytest.approx(report["time"]["exposed"])
    by_category = {}
    for event in events:
        by_category.setdefault(event["cat"], []).append(event)
    moved = sum(event["args"]["bytes"] for event in by_category["transfer"])
    assert moved == pytest.approx(summary["bytes"])
    assert sum(e["dur"] for e in by_category["await"]) == pytest.approx(
        summary["exposed_seconds"] * 1e6
    )
    # A thread does one thing at a time.
    for thread in {event["tid"] for event in events}:
        own = [e for e in events if e["tid"] == thread and e["cat"] != "step"]
        own.sort(key=lambda event: event["ts"])
        for before, after in itertools.pairwise(own):
            assert before["ts"] + before["dur"] <= after["ts"] + 1e-3
