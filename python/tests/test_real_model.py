"""The README's commands for a real model, from its configuration to its plan."""

import importlib.util

import pytest

from amsp import tools

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)


@pytest.fixture(scope="module")
def script():
    path = tools.REPOSITORY / "bench" / "real_model.py"
    spec = importlib.util.spec_from_file_location("real_model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_7b_is_planned_from_the_commands_of_the_readme(script, tmp_path):
    """With its layers in a loop, which is planned in a tenth of the time; the
    commands as they stand take 25 s of processor time (bench/real_model.py)."""
    runs, report = script.plan_of(["--scan-layers", "--remat"], tmp_path)
    assert sum(run.usage.user_seconds for run in runs) < 30
    assert report["cluster"] == "h100-80gb-3200g"
    assert report["levels"] == [8, 16]
    # 4 h^2 + 3 h i of each layer, two vocabularies, norms.
    hidden, inner, layers, vocabulary = 4096, 11008, 32, 103168
    layer = 4 * hidden**2 + 3 * hidden * inner + 2 * hidden
    parameters = layers * layer + 2 * vocabulary * hidden + hidden
    assert report["parameters"] == parameters
    # Of a rank: the products of 4096 tokens, forward, again, and twice backward;
    # the embedding is looked up. Attention and norms beside them.
    products = 4096 * (8 * layers * layer + 6 * vocabulary * hidden)
    assert products < report["operations"] < 1.3 * products
    plan = report["plan"]
    assert plan["fits"] and 0 < plan["bytes"] <= report["memory_limit"] == 80e9
    # Between the peak rate of bf16 and a fifth of it.
    assert 1 < plan["seconds"] / (products / 989e12) < 5
    assert plan["seconds"] <= 1.01 * min(f["seconds"] for f in report["finalists"] if f["fits"])
