"""`--search microbatch,recompute`: both at once, from the plan to the compiled step."""

import json
import re

import pytest

import steps
from amsp import tools
from test_planner import plan

pytestmark = [
    pytest.mark.needs_tools,
    pytest.mark.skipif(tools.find("amsp-plan") is None, reason="not built: amsp-plan"),
]
SEARCH = ("--search", "microbatch,recompute")
# Links so fast that only memory decides.
CLUSTER = """
levels: [{name: core, size: 2, bandwidth: 9e12, latency: 2e-9}]
device: {memory: MEMORY, memory_bandwidth: 36e9, peak: {f32: 57e9, bf16: 57e9}}
"""


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    return steps.prepared("gpt", tmp_path_factory.mktemp("gpt")).directory / "step.mlir"


def written(directory, memory):
    path = directory / "cluster.yaml"
    path.write_text(CLUSTER.replace("MEMORY", str(memory)))
    return path


def compiled(step, cluster, report, *options):
    output = report.with_suffix(".mlir")
    tools.call(
        "amsp-compile", step, "-o", output, "--emit", "mlir", "--cluster", cluster,
        "--report", report, *options,
    )  # fmt: skip
    return report.read_text()


@pytest.fixture(scope="module")
def found(step, tmp_path_factory):
    """With room for little, the plan, and the plan as a file and a page."""
    directory = tmp_path_factory.mktemp("found")
    shown = ("--finalists", "1", "--top", "1")
    sharded = plan(step, written(directory, 1e12), *shown, "--strategy", "zero3")
    cluster = written(directory, 0.8 * sharded["plan"]["bytes"])
    files = directory / "plan.yaml", directory / "plan.html"
    report = plan(
        step, cluster, *shown, *SEARCH, "--list-collectives", "-o", files[0],
        "--report", files[1],
    )  # fmt: skip
    return report, cluster, *files


def test_all_variants_are_listed(found):
    report, *_ = found
    keys = [(v["split"], len(v["recompute"])) for v in report["variants"]]
    assert len(set(keys)) == len(keys) >= 4
    assert keys[0] == (1, 0)
    assert {bool(again) for split, again in keys if split > 1} == {False, True}
    fitting = [v for v in report["variants"] if v["fits"]]
    assert 0 < len(fitting) < len(keys)
    # Of what is within 1 % of the fastest, the first.
    least = min(v["seconds"] for v in fitting)
    chosen = next(v for v in fitting if v["seconds"] <= least * 1.01)
    assert chosen["split"] == report["split"]
    assert chosen["recompute"] == report["recompute"]
    assert chosen["seconds"] == report["plan"]["seconds"]
    assert chosen["bytes"] == report["plan"]["bytes"] <= report["memory_limit"]


def test_a_plan_of_both_is_compiled_as_printed(step, found, tmp_path):
    report, cluster, chosen, _ = found
    assert report["split"] > 1
    assert f"\nmicrobatches: {report['split']}\n" in chosen.read_text()
    manifest = json.loads(compiled(step, cluster, tmp_path / "m.json", "--strategy", chosen))
    assert manifest["memory_bytes"] == report["plan"]["bytes"]
    moved = [(c["kind"], c["dtype"], c["count"], c["bytes"]) for c in report["collectives"]]
    assert [
        (c["kind"], c["dtype"], c["count"], c["bytes"]) for c in manifest["collectives"]
    ] == moved


def rows_of(page):
    cells = re.findall(r"<tr><td>(.*?)</td><td[^>]*>(.*?)</td>", page)
    return dict(cells)


def section(page, heading):
    return page.split(f"<h2>{heading}</h2>")[1].split("<h2>")[0]


def test_the_page_says_it(step, found, tmp_path):
    """That of the plan, of its file compiled, and of amsp-compile's own search."""
    report, cluster, chosen, html = found
    pages = {
        "amsp-plan": html.read_text(),
        "file": compiled(step, cluster, tmp_path / "file.html", "--strategy", chosen),
        "search": compiled(step, cluster, tmp_path / "search.html", *SEARCH),
    }
    for name, page in pages.items():
        rows = rows_of(page)
        assert rows.get("microbatches", "1") == str(report["split"]), name
        assert bool(report["recompute"]) == ("computed again" in rows), name
        speed = report["plan"]["tokens_per_second"]
        assert rows["speed"].endswith(f", {speed:.1f} tokens/s"), name
        # One program, whoever compiled it.
        for heading in ("Strategies by unit", "Collectives of a step"):
            assert section(page, heading) == section(pages["amsp-plan"], heading), name
        own = rows_of(section(page, "Memory over the step"))
        assert own == rows_of(section(pages["amsp-plan"], "Memory over the step")), name
        assert ("Microbatches and recomputation" in page) == (name != "file")
    refused = sum(not v["fits"] for v in report["variants"])
    for name in ("amsp-plan", "search"):
        variants = section(pages[name], "Microbatches and recomputation")
        assert variants.count("<tr>") == 1 + len(report["variants"]), name
        assert "as exported" in variants
        assert variants.count("fits under no strategy") == refused
