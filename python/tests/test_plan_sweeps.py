"""Clusters with more of one thing: the best plan never gets slower by more than the
1 % within which smaller groups are preferred, by the search alone and of compiled
plans."""

import itertools
import math
import subprocess

import pytest

from amsp import tools
from test_planner import exported, plan

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)
EQUAL = 0.01


@pytest.fixture(scope="module", params=["gpt_tied_accumulated", "llama_scanned", "mlp"])
def step(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("step")
    exported(request.param, directory)
    return directory / "step.mlir"


@pytest.fixture
def best(step, tmp_path):
    """The best plan where links have so many bytes/s, within so many bytes; none if
    none fits."""
    cluster = tmp_path / "cluster.yaml"

    def find(bandwidths, memory, finalists=0):
        links = "".join(
            f"  - {{name: l{i}, size: 2, bandwidth: {b}, latency: 2e-5}}\n"
            for i, b in enumerate(bandwidths)
        )
        cluster.write_text(
            f"levels:\n{links}device: {{memory: 1e12, memory_bandwidth: 36e9, "
            "peak: {f32: 57e9, bf16: 57e9}}\ninterference: 0.1\n"
        )
        try:
            options = ("--memory", str(memory), "--finalists", str(finalists))
            return plan(step, cluster, "--top", "1", *options)["plan"]
        except subprocess.CalledProcessError as error:
            assert "fits under no strategy" in error.stderr
            return None

    return find


def check_no_plan_is_slower(plans):
    least = math.inf
    for found in filter(None, plans):
        assert found["seconds"] <= least * (1 + EQUAL), found
        least = min(least, found["seconds"])
    assert least < math.inf


@pytest.mark.parametrize("level", [0, 1])
def test_more_bandwidth(level, best):
    enough = best([9e9, 1e8], 1e12)["estimated_bytes"]
    for memory in (0.8 * enough, 1e12):
        bandwidths = [9e9, 1e8]
        plans = []
        for bandwidths[level] in (1e7, 1e8, 1e9, 2e9, 1e11):
            plans.append(best(bandwidths, memory))
        check_no_plan_is_slower(plans)


def test_more_memory(best):
    for bandwidth in (1e8, 1e9):
        enough = best([9e9, bandwidth], 1e12)["estimated_bytes"]
        shares = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.5)
        plans = [best([9e9, bandwidth], share * enough) for share in shares]
        for smaller, larger in itertools.pairwise(plans):
            assert larger or not smaller
        check_no_plan_is_slower(plans)


@pytest.mark.parametrize("step", ["mlp"], indirect=True)
def test_more_memory_of_compiled_plans(best):
    bandwidths = [9e9, 1e9]
    enough = best(bandwidths, 1e12, finalists=3)["bytes"]
    shares = (0.5, 0.8, 0.9, 0.95, 1, 1.5)
    plans = [best(bandwidths, share * enough, finalists=3) for share in shares]
    for share, found in zip(shares, plans, strict=True):
        assert not found or found["bytes"] <= share * enough
    # Some do not fit, and the memory that is said to be needed is enough.
    assert not plans[0] and all(plans[shares.index(1) :])
    check_no_plan_is_slower(plans)
