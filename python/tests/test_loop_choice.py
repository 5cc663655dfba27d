"""Loops over layers and microbatches are written anew where the simulated step says
so, and amsp-compile does what amsp-plan prints."""

import itertools
import json
import re

import pytest

from amsp import export, tools
from test_planner import plan

pytestmark = [
    pytest.mark.needs_tools,
    pytest.mark.skipif(tools.find("amsp-plan") is None, reason="not built: amsp-plan"),
]

CONFIG = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 160,
    "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 4,
    "vocab_size": 96, "max_position_embeddings": 32, "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False,
}  # fmt: skip
MEMORY = 1e9
# Parameters are gathered once a step; gradients are reduced inside the node for each
# layer and microbatch, and between nodes once a step.
KEPT = "p=1,g=2x1,os=2x2"
SLOW, FAST = 3e8, 1e15
AS_THEY_STAND, BOTH = [], ["peeled", "pipelined"]


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    """Four layers in a loop, in a loop over four microbatches."""
    directory = tmp_path_factory.mktemp("scanned")
    path, step = directory / "config.json", directory / "step.mlir"
    path.write_text(json.dumps(CONFIG))
    export.main(
        ["llama", "--config", str(path), "--seq", "32", "--ranks", "4",
         "--microbatches", "4", "--scan-layers", "--remat", "-o", str(step)]
    )  # fmt: skip
    return step


def written(directory, bandwidth, memory=MEMORY, levels=(2, 2)):
    """A cluster whose links have that many bytes/s."""
    path = directory / "cluster.yaml"
    links = f"bandwidth: {bandwidth}, latency: 1e-6"
    rates = "memory_bandwidth: 36e9, peak: {f32: 57e9}"
    path.write_text(
        "\n".join(
            [
                "name: links",
                "levels:",
                *(f"  - {{name: l{i}, size: {n}, {links}}}" for i, n in enumerate(levels)),
                f"device: {{memory: {memory}, {rates}}}\n",
            ]
        )
    )
    return path


def shown(step, cluster, *options, strategy=KEPT):
    options = ("--strategy", strategy, "--top", "1", "--finalists", "1", *options)
    return plan(step, cluster, *options)["plan"]


def simulated(step, cluster, *options, strategy=KEPT):
    """Not lowered to buffers."""
    shown = ("--strategy", strategy, "--top", "1", "--finalists", "0")
    return plan(step, cluster, *shown, "--list-collectives", *options)["plan"]


def compiled(step, cluster, directory, *options, strategy=KEPT, emit="mlir"):
    report = directory / "report.json"
    tools.call(
        "amsp-compile", step, "-o", directory / "compiled.mlir", "--emit", emit,
        "--cluster", cluster, "--strategy", strategy, "--report", report, *options,
    )  # fmt: skip
    return json.loads(report.read_text())


def test_where_links_hold_a_step_up_its_loops_are_written_anew(step, tmp_path):
    cluster = written(tmp_path, SLOW)
    found = shown(step, cluster)
    assert found["loops"] == BOTH
    switches = ("--peel-microbatches=off", "--pipeline-loops=off")
    plain = simulated(step, cluster, *switches)
    assert plain["loops"] == AS_THEY_STAND
    assert found["seconds"] < 0.9 * plain["seconds"]
    pipelined = simulated(step, cluster, switches[0])
    assert pipelined["loops"] == ["pipelined"]
    assert found["seconds"] < pipelined["seconds"] < plain["seconds"]
    forced = ("--peel-microbatches", "--pipeline-loops=on")
    assert simulated(step, cluster, *forced)["seconds"] == found["seconds"]
    manifest = compiled(step, cluster, tmp_path)
    assert manifest["memory_bytes"] == found["bytes"]
    hashes = {
        name: compiled(step, cluster, tmp_path, *options, emit="stablehlo")["program_hash"]
        for name, options in (("auto", ()), ("on", forced), ("off", switches))
    }
    assert hashes["auto"] == hashes["on"] != hashes["off"]


def test_where_links_are_fast_loops_stay_as_they_stand(step, tmp_path):
    cluster = written(tmp_path, FAST)
    found = shown(step, cluster)
    assert found["loops"] == AS_THEY_STAND
    assert compiled(step, cluster, tmp_path)["memory_bytes"] == found["bytes"]


def test_nothing_is_known_of_links_that_have_no_times(step, tmp_path):
    auto, off = (
        compiled(step, "levels=2x2", tmp_path, *options, emit="stablehlo")
        for options in ((), ("--peel-microbatches=off", "--pipeline-loops=off"))
    )
    assert auto == off


def test_what_does_not_fit_is_not_written_anew(step, tmp_path):
    needed = shown(step, written(tmp_path, SLOW))["bytes"]
    cluster = written(tmp_path, SLOW, memory=needed)
    assert compiled(step, cluster, tmp_path)["memory_bytes"] == needed
    cluster = written(tmp_path, SLOW, memory=needed - 1)
    found = shown(step, cluster)
    assert found["loops"] != BOTH and found["bytes"] < needed
    assert compiled(step, cluster, tmp_path)["memory_bytes"] == found["bytes"]
    # Whatever is emitted is one program.
    forced = [
        f"--{name}={'on' if word in found['loops'] else 'off'}"
        for name, word in (("peel-microbatches", "peeled"), ("pipeline-loops", "pipelined"))
    ]
    hashes = {
        compiled(step, cluster, tmp_path, *options, emit="stablehlo")["program_hash"]
        for options in ((), forced)
    }
    assert len(hashes) == 1


def test_a_plan_file_says_how_loops_are_written(step, tmp_path):
    cluster, path = written(tmp_path, SLOW), tmp_path / "plan.yaml"
    needed = shown(step, cluster)["bytes"]
    limit = ("--memory", str(needed - 1))
    found = shown(step, cluster, *limit, "-o", path)
    loops = ", ".join(found["loops"])
    assert path.read_text().endswith(f"\nloops: [{loops}]\n")
    # The device itself has room for more.
    assert shown(step, cluster, strategy=path)["loops"] == found["loops"]
    manifest = compiled(step, cluster, tmp_path, strategy=path)
    assert manifest["memory_bytes"] == found["bytes"]


def test_the_search_counts_on_it(step, tmp_path):
    """The best plan's loops are those of the compiled step."""
    cluster = written(tmp_path, 2e9)
    switches = ("--peel-microbatches=off", "--pipeline-loops=off")
    plain = plan(step, cluster, "--top", "1", "--finalists", "1", *switches)["plan"]
    found = plan(step, cluster, "--top", "1")["plan"]
    assert found["loops"] and found["seconds"] < 0.99 * plain["seconds"]
    manifest = compiled(step, cluster, tmp_path, strategy="auto")
    assert manifest["memory_bytes"] == found["bytes"]


@pytest.mark.parametrize("bandwidth", [5e8, 2e9, 1e10])
def test_the_estimate_orders_presets_as_the_simulation_does(bandwidth, step, tmp_path):
    cluster = written(tmp_path, bandwidth, levels=[4])
    times = {}
    for preset in ("ddp", "zero1", "zero2", "zero3", "p=2,g=4,os=4"):
        for loops in ((), ("--peel-microbatches=off", "--pipeline-loops=off")):
            found = simulated(step, cluster, *loops, strategy=preset)
            times[preset, loops] = found["estimated_seconds"], found["seconds"]
    for estimated, seconds in times.values():
        assert estimated == pytest.approx(seconds, rel=0.16)
    for one, other in itertools.permutations(times, 2):
        if times[one][1] < times[other][1] * 0.9:
            assert times[one][0] < times[other][0] * 1.01, (one, other)


@pytest.mark.parametrize("tool", ["amsp-compile", "amsp-plan"])
@pytest.mark.parametrize("option", ["--peel-microbatches", "--pipeline-loops"])
def test_a_switch_is_auto_on_or_off(tool, option, step, tmp_path):
    output = tmp_path / "out"
    with pytest.raises(tools.ToolError) as refused:
        cluster = written(tmp_path, SLOW)
        tools.call(tool, step, "-o", output, "--cluster", cluster, f"{option}=maybe")
    assert str(refused.value) == f"error: {option} maybe: expected auto, on or off"
    assert not output.exists()


def test_forms_that_are_not_taken_count_nothing(step, tmp_path):
    """Numbers and remarks are those of a compilation that is told the form."""
    needed = shown(step, written(tmp_path, SLOW))["bytes"]
    cluster = written(tmp_path, SLOW, memory=needed - 1)
    taken = shown(step, cluster)["loops"]
    assert taken != BOTH
    told = [
        f"--{name}={'on' if word in taken else 'off'}"
        for name, word in (("peel-microbatches", "peeled"), ("pipeline-loops", "pipelined"))
    ]
    for emit in ("mlir", "stablehlo"):
        printed = [
            tools.call(
                "amsp-compile", step, "-o", tmp_path / "compiled.mlir", "--emit", emit,
                "--cluster", cluster, "--strategy", KEPT, *options,
                "--statistics", "--remarks", "schedule",
            )  # fmt: skip
            for options in ((), told)
        ]
        assert printed[0].stdout == printed[1].stdout
        assert printed[0].stderr == printed[1].stderr != ""
