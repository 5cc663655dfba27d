"""What a plan cannot be made of, and clusters at the edge of what makes sense."""

import re

import pytest

from amsp import tools
from test_plan_memory import permuted_step
from test_planner import plan

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)
DEVICE = "device: {memory: 1e9, memory_bandwidth: 36e9, peak: {f32: 57e9}}\n"
LINKS = "bandwidth: 1e9, latency: 1e-6"


@pytest.fixture
def step(tmp_path):
    """Two layers with momentum, 8 rows."""
    path = tmp_path / "step.mlir"
    path.write_text(permuted_step(False))
    return path


def cluster_of(directory, *sizes, device=DEVICE):
    path = directory / "cluster.yaml"
    levels = "".join(f"  - {{size: {size}, {LINKS}}}\n" for size in sizes)
    path.write_text(f"levels:\n{levels}{device}")
    return path


def refusal(step, cluster, *options):
    with pytest.raises(tools.ToolError) as refused:
        tools.call("amsp-plan", step, "--cluster", cluster, *options)
    text = str(refused.value)
    assert text.startswith("error: ") and "\n" not in text.strip()
    return text


@pytest.mark.parametrize(
    "text, where",
    [
        (DEVICE, ":1: missing required key 'levels'"),
        (f"levels: []\n{DEVICE}", ":1: a cluster needs at least one level"),
        (f"levels:\n  - {{{LINKS}}}\n{DEVICE}", ":2: missing required key 'size'"),
        (f"levels:\n  - {{size: 0, {LINKS}}}\n{DEVICE}", ":2: the size of a level"),
        (f"levels:\n  - {{size: 2, {LINKS}}}\ndevices: 2\n", ":3: unknown key 'devices'"),
    ],
)
def test_an_error_in_a_cluster_has_a_line(text, where, step, tmp_path):
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(text)
    assert f"cluster.yaml{where}" in refusal(step, cluster)


def test_one_rank_has_nothing_to_choose(step, tmp_path):
    found = plan(step, cluster_of(tmp_path, 1), "--list-collectives", "--top", "9")
    assert found["plan"]["strategy"] == "p=1,g=1,os=1"
    assert len(found["strategies"]) == 1 and not found["collectives"]
    assert found["plan"]["exposed_seconds"] == 0


@pytest.mark.parametrize("sizes", [(1, 4), (4, 1), (2, 1, 2)])
def test_a_level_of_one_changes_nothing(sizes, step, tmp_path):
    """But for how its factors are written."""
    kept = [size for size in sizes if size > 1]
    without = plan(step, cluster_of(tmp_path, *kept), "--top", "99")
    found = plan(step, cluster_of(tmp_path, *sizes), "--top", "99")

    def on_levels_of_more(found, sizes):
        factors = [re.findall(r"=([\dx]+)", s["strategy"]) for s in found["strategies"]]
        return [
            [
                [f for f, size in zip(factor.split("x"), sizes, strict=True) if size > 1]
                for factor in strategy
            ]
            for strategy in factors
        ]

    assert on_levels_of_more(found, sizes) == on_levels_of_more(without, kept)
    for key in ("seconds", "bytes"):
        assert found["plan"][key] == pytest.approx(without["plan"][key], rel=1e-9)


def test_seven_ranks(step, tmp_path):
    cluster = cluster_of(tmp_path, 7)
    text = refusal(step, cluster)
    assert "has 8 rows, which 7 ranks do not divide; 7 or 14 rows would work" in text
    seven = tmp_path / "seven.mlir"
    seven.write_text(rows_step(14))
    found = plan(seven, cluster, "--top", "99")
    # 7 has no divisors: a state is whole or in sevenths.
    assert {s["strategy"] for s in found["strategies"]} == {
        "p=1,g=1,os=1", "p=1,g=1,os=7", "p=7,g=7,os=7"
    }  # fmt: skip


def rows_step(rows):
    """A layer with momentum."""
    x, w = f"tensor<{rows}x6xf32>", "tensor<6x6xf32>"
    return f"""
func.func public @main(
    %w: {w} {{tf.aliasing_output = 0 : i32}} loc("w"),
    %m: {w} {{tf.aliasing_output = 1 : i32}} loc("m"),
    %x: {x} loc("x")) -> ({w}, {w}) {{
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : ({x}, {x}) -> {w}
  %n = stablehlo.add %m, %g : {w}
  %u = stablehlo.subtract %w, %n : {w}
  return %u, %n : {w}, {w}
}}
"""


@pytest.mark.parametrize("memory", ["1024", "1"])
def test_less_memory_than_the_constants(memory, step, tmp_path):
    """Names the smallest plan found, what most of it is, and what would help."""
    cluster = cluster_of(tmp_path, 2, 2)
    smallest = plan(step, cluster, "--strategy", "zero3", "--finalists", "1")["plan"]
    text = refusal(step, cluster, "--memory", memory)
    assert "fits under no strategy: the smallest, p=2x2,g=2x2,os=2x2, needs " in text
    assert f"({smallest['bytes']} bytes)" in text
    items = {
        "parameters and optimizer states at rest": smallest["memory"]["at_rest"],
        "activations": smallest["memory"]["activations"],
        "gradients": smallest["memory"]["gradients"],
    }
    most = max(items, key=items.get)
    assert re.search(rf"most of it, [\d.]+ \w+, are {most}, which .*would (divide|reduce)", text)
    output = tmp_path / "step.so"
    with pytest.raises(tools.ToolError, match="fits under no strategy"):
        device = DEVICE.replace("1e9", "1024")
        small = cluster_of(tmp_path, 2, 2, device=device)
        tools.call("amsp-compile", step, "-o", output, "--cluster", small)
    assert not output.exists()


@pytest.mark.parametrize("content", ["", "\n", "# nothing\n"])
def test_a_plan_file_of_nothing(content, step, tmp_path):
    chosen = tmp_path / "plan.yaml"
    chosen.write_text(content)
    cluster = cluster_of(tmp_path, 2)
    assert "plan.yaml: no plan" in refusal(step, cluster, "--strategy", chosen)
    options = ("-o", tmp_path / "step.so", "--cluster", cluster, "--strategy", chosen)
    with pytest.raises(tools.ToolError, match="^error: .*plan.yaml: no plan$"):
        tools.call("amsp-compile", step, *options)


@pytest.mark.parametrize("memory", ["0", "-5", "1e-3", "nan", "much"])
def test_a_limit_that_is_none(memory, step, tmp_path):
    assert "--memory" in refusal(step, cluster_of(tmp_path, 2), f"--memory={memory}")


def test_a_plan_of_another_model_or_cluster(step, tmp_path):
    chosen, other = tmp_path / "plan.yaml", tmp_path / "other.mlir"
    plan(step, cluster_of(tmp_path, 4), "-o", chosen)
    changes = [
        ("levels: 4", "levels: 2x2", "its number of levels is 2, here it is 1"),
        ("h.0..1: 128", "h.0..1: 64", "64"),
    ]
    for change, replacement, reason in changes:
        text = chosen.read_text()
        assert change in text
        edited = tmp_path / "edited.yaml"
        edited.write_text(text.replace(change, replacement, 1))
        refused = refusal(step, cluster_of(tmp_path, 4), "--strategy", edited)
        assert "for another" in refused and reason in refused
        line = 1 + edited.read_text().partition(replacement)[0].count("\n")
        where = "edited.yaml'" if "levels" in change else f"edited.yaml:{line}:"
        assert where in refused
    other.write_text(rows_step(8))
    assert "plan.yaml" in refusal(other, cluster_of(tmp_path, 4), "--strategy", chosen)
