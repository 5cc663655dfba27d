"""Our own schedule on the paper's cluster, as amsp-plan simulates it."""

import sys

import pytest

from amsp import tools

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)
TOOL = tools.find("amsp-plan")


@pytest.fixture(scope="module")
def scaling():
    directory = str(tools.REPOSITORY / "scripts")
    sys.path.insert(0, directory)
    try:
        import scaling
    finally:
        sys.path.remove(directory)
    return scaling


@pytest.mark.parametrize(("interference", "least"), [(0.1, 0.9), (0.2, 0.87)])
@pytest.mark.parametrize("spread", [0, 0.02])
def test_efficiency_of_7b_from_8_to_1024_ranks(scaling, interference, least, spread):
    settings = {"interference": interference, "spread": spread}
    found, _ = scaling.efficiency(TOOL, scaling.ours, "7b", **settings)
    assert least <= found < 1
    theirs, _ = scaling.efficiency(TOOL, scaling.paper, "7b", **settings)
    assert theirs < found


def test_every_exposed_second_has_an_item(scaling):
    report = scaling.ours(TOOL, "7b", 1024, interference=0.2)
    exposed = sum(row["exposed_seconds"] for row in report["collectives"])
    assert exposed == pytest.approx(report["time"]["exposed"])
    assert sum(report["time"].values()) == pytest.approx(report["seconds"])


@pytest.mark.parametrize("model", ["7b", "13b", "30b"])
@pytest.mark.parametrize("ranks", [8, 16, 32, 64, 128, 256, 512, 1024])
def test_no_strategy_is_faster_than_the_plan(scaling, model, ranks):
    plan = scaling.ours(TOOL, model, ranks)
    theirs = scaling.paper(TOOL, model, ranks)
    assert plan["seconds"] <= theirs["seconds"]
    # The paper's strategy under our schedule, and the presets.
    others = [scaling.PAPER[model], *scaling.PRESETS]
    for strategy in others:
        other = scaling.simulate(TOOL, model, ranks, "compiled", strategy)
        if other:
            assert plan["seconds"] <= other["seconds"] * (1 + 1e-9), strategy


def test_the_page_has_the_tables_of_this_version(scaling):
    page = scaling.measured_runs.PAGE.read_text()
    assert not scaling.differences(page, scaling.with_tables(page, TOOL))


def test_another_number_on_the_page_is_a_difference(scaling):
    page = "| 7b | 86.3% |\n| 13b | 92.3% |\n"
    changed = page.replace("92.3", "92.4")
    assert not scaling.differences(page, page)
    assert scaling.differences(page, changed).splitlines()[-2:] == [
        "-| 13b | 92.3% |",
        "+| 13b | 92.4% |",
    ]


def test_more_bandwidth_or_memory_is_never_slower(scaling, tmp_path, monkeypatch):
    """The best plan on clusters with more of one thing."""

    def seconds(node=40e9, gpu=200e9, memory=40e9):
        text = f"""
levels:
  - {{name: gpu, size: 8, bandwidth: {gpu}, latency: 3e-6}}
  - {{name: node, size: 8, bandwidth: {node}, latency: 2e-5, congestion: 0.03}}
device: {{memory: {memory}, memory_bandwidth: 1.7e12, peak: {{bf16: 2e14}}}}
interference: 0.2
"""
        clusters = tmp_path / "clusters"
        clusters.mkdir(exist_ok=True)
        (clusters / "a800-80gb-800g.yaml").write_text(text)
        scaling.simulate.cache_clear()  # it knows clusters by their names
        return scaling.ours(TOOL, "7b", 64)["seconds"]

    for folder in ("executors", "examples"):
        (tmp_path / folder).symlink_to(tools.REPOSITORY / folder)
    monkeypatch.setattr(scaling.measured_runs, "ROOT", tmp_path)
    for key, values in (
        ("node", (5e9, 2e10, 2.2e10, 4e10, 1e11, 4e11)),
        ("gpu", (2e10, 1e11, 2e11, 4e11)),
        ("memory", (34e9, 38e9, 45e9, 60e9, 79e9)),
    ):
        times = [seconds(**{key: value}) for value in values]
        assert times == sorted(times, reverse=True), (key, times)
        assert times[0] > times[-1]
