"""The memory that amsp-plan prints, against compiled steps and what is known of ZeRO."""

import json
import math
import re

import numpy as np
import pytest

import jobs
import matrix
from amsp import export, tools
from test_planner import CLUSTER, plan

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)
needs_cases = pytest.mark.skipif(
    not jobs.cases_directory().is_dir(),
    reason=f"no {jobs.cases_directory()}; set AMSP_CASES_DIR",
)
PRESETS = ["ddp", "zero1", "zero2", "zero3", "mics:2x1", "hpz:2x1", "p=1,g=2x1,os=2x2"]


@pytest.fixture
def cluster(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER)
    return path


def compiled_manifest(step, cluster, strategy, directory):
    report = directory / "report.json"
    tools.call(
        "amsp-compile", step, "-o", directory / "compiled.mlir", "--emit", "mlir",
        "--cluster", cluster, "--strategy", strategy, "--report", report,
    )  # fmt: skip
    return json.loads(report.read_text())


@needs_cases
@pytest.mark.needs_tools
@pytest.mark.parametrize("case", matrix.CASES)
def test_it_is_the_compiled_steps(case, cluster, tmp_path):
    step = jobs.cases_directory() / case / "step.mlir"
    for strategy in PRESETS:
        shown = ("--strategy", strategy, "--top", "1", "--finalists", "1")
        found = plan(step, cluster, *shown)["plan"]
        manifest = compiled_manifest(step, cluster, strategy, tmp_path)
        assert found["bytes"] == manifest["memory_bytes"], strategy
        assert sum(found["memory"].values()) == found["bytes"]
        assert found["memory"]["at_rest"] == manifest["state_bytes"]
        arena = ("kept", "gathered", "gradients", "communication", "activations")
        in_arena = sum(found["memory"][item] for item in (*arena, "between_buffers"))
        assert in_arena == manifest["arena_bytes"]


@needs_cases
@pytest.mark.needs_tools
def test_the_chosen_plan_is_what_is_compiled(cluster, tmp_path):
    step = jobs.cases_directory() / "gpt_adamw" / "step.mlir"
    found = plan(step, cluster, "--top", "1")["plan"]
    manifest = compiled_manifest(step, cluster, "auto", tmp_path)
    factors = {
        unit: ",".join(f"{s}={'x'.join(map(str, f))}" for s, f in
                       ((s, strategy[s]) for s in ("p", "g", "os")))
        for unit, strategy in manifest["units"].items()
    }  # fmt: skip
    assert factors == found["units"]
    assert found["bytes"] == manifest["memory_bytes"]


@needs_cases
@pytest.mark.needs_tools
def test_a_rank_runs_with_exactly_that_limit(tmp_path):
    case = jobs.cases_directory() / "mlp_momentum"
    step, outputs = tmp_path / "step.so", tmp_path / "out.npz"
    tools.compile_step(case / "step.mlir", step, "levels=2x2", "zero3")
    needed = tools.manifest(step)["memory_bytes"]
    run = (step, case / "inputs.npz", outputs, 1)
    with pytest.raises(tools.ToolError) as refused:
        tools.run_step(*run, "--memory-limit", needed - 1)
    assert f"a rank needs {needed} bytes (state " in str(refused.value)
    assert str(refused.value).startswith("error: ") and not outputs.exists()
    tools.run_step(*run, "--memory-limit", needed)
    assert outputs.exists()
    for wrong in ("0", "-5", "many"):
        with pytest.raises(tools.ToolError, match="--memory-limit"):
            tools.run_step(*run, "--memory-limit", wrong)


@needs_cases
@pytest.mark.needs_tools
def test_more_memory_never_makes_the_best_plan_worse(tmp_path):
    """But for the 1 % within which plans count as equally fast."""
    step = jobs.cases_directory() / "gpt_accumulate" / "step.mlir"
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER.replace("1e9, latency: 5e-5", "2e7, latency: 5e-5"))
    least = math.inf
    # With 750 kB, no fast plan fits by the estimate with loops pipelined.
    for memory in (5.4e5, 7e5, 7.5e5):
        found = plan(step, cluster, "--memory", str(memory), "--top", "1")["plan"]
        assert found["bytes"] <= memory
        assert found["seconds"] <= least * 1.01, memory
        least = min(least, found["seconds"])
        # By the estimate, this one needs a little more than there is.
        assert memory > 5.4e5 or found["estimated_bytes"] > memory


def exported_llama(directory, microbatches, **changes):
    """4 ranks, bf16 parameters and gradients, f32 master and moments: 2, 2 and
    12 bytes a parameter."""
    config = {
        "model_type": "llama", "hidden_size": 16, "intermediate_size": 40,
        "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 2,
        "vocab_size": 50, "max_position_embeddings": 8, "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False,
    } | changes  # fmt: skip
    path, step = directory / "config.json", directory / "step.mlir"
    path.write_text(json.dumps(config))
    export.main(
        ["llama", "--config", str(path), "--seq", "8", "--ranks", "4",
         "--microbatches", str(microbatches), "--param-dtype", "bf16",
         "-o", str(step)]
    )  # fmt: skip
    return step


@pytest.mark.needs_tools
def test_what_a_compiled_plan_needs_corrects_the_search(tmp_path):
    """By the estimate, the fastest plan fits. Compiled, it needs more than there is,
    and so the search goes on within what that leaves."""
    changes = {"hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 8}
    step = exported_llama(tmp_path, 1, **changes)
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(
        "levels: [{name: node, size: 4, bandwidth: 2e7, latency: 5e-5}]\n"
        "device: {memory: MEMORY, memory_bandwidth: 36e9, peak: {f32: 57e9, bf16: 57e9}}\n"
    )
    links = cluster.read_text()
    cluster.write_text(links.replace("MEMORY", "1e9"))
    free = plan(step, cluster, "--top", "100")
    fastest = free["plan"]
    estimated = {entry["strategy"]: entry["bytes"] for entry in free["strategies"]}
    assert estimated[fastest["strategy"]] < fastest["bytes"]
    memory = (estimated[fastest["strategy"]] + fastest["bytes"]) / 2
    cluster.write_text(links.replace("MEMORY", str(memory)))
    found = plan(step, cluster, "--top", "1")["plan"]
    assert found["bytes"] <= memory
    # Some layers are kept as in the fastest plan.
    assert fastest["strategy"] in found["units"].values()
    manifest = compiled_manifest(step, cluster, "auto", tmp_path)
    assert manifest["memory_bytes"] == found["bytes"]


def factor_of(strategy, state):
    factors = dict(part.split("=") for part in strategy.split(","))
    return math.prod(map(int, factors[state].split("x")))


def padded(manifest):
    """Elements of all parameters, each padded to a multiple of os's pieces."""
    return sum(p["padded"] for p in manifest["parameters"])


@pytest.mark.needs_tools
@pytest.mark.parametrize("microbatches", [2, 3])
def test_the_zero_memory_table(microbatches, cluster, tmp_path):
    """During a step a rank keeps 2/p + 2/g + 12/os bytes of each parameter."""
    step = exported_llama(tmp_path, microbatches)
    for strategy in ["ddp", "zero1", "zero2", "zero3", "p=1,g=2x1,os=2x2",
                     "p=2x1,g=2x1,os=2x2", "mics:2x1"]:  # fmt: skip
        shown = ("--strategy", strategy, "--top", "1", "--finalists", "1")
        found = plan(step, cluster, *shown)["plan"]
        factors = found["strategy"]
        manifest = compiled_manifest(step, cluster, strategy, tmp_path)
        elements = padded(manifest)
        p, g, os = (factor_of(factors, state) for state in ("p", "g", "os"))
        whole = sum(q["elements"] for q in manifest["parameters"])
        assert found["kept"] == {
            # A whole value has no padding.
            "parameters": 2 * (elements // p if p > 1 else whole),
            "gradients": 2 * elements // g if os > 1 else 2 * whole,
            "optimizer_states": 12 * (elements // os),
        }, strategy


@pytest.mark.needs_tools
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_of_24_stacked_layers_two_are_whole(dtype, tmp_path):
    """Beside the state (P, G and OS, all in pieces) and the activations: two layers'
    parameters or gradients; where the loops over them are pipelined, one more."""
    hidden, inner = 128, 344
    config = {
        "model_type": "llama", "hidden_size": hidden, "intermediate_size": inner,
        "num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 24,
        "vocab_size": 64, "max_position_embeddings": 8, "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False,
    }  # fmt: skip
    path, step = tmp_path / "config.json", tmp_path / "step.mlir"
    path.write_text(json.dumps(config))
    export.main(
        ["llama", "--config", str(path), "--seq", "8", "--ranks", "8", "--scan-layers",
         "--remat", "--param-dtype", dtype, "-o", str(step)]
    )  # fmt: skip
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER.replace("size: 2", "size: 4", 1))
    layer = 4 * hidden * hidden + 3 * hidden * inner + 2 * hidden
    # Gradients travel in f32.
    whole = 4 * layer
    # What rests of them between layers has the parameters' type.
    gradients = 24 * layer * {"f32": 4, "bf16": 2}[dtype] / 8
    for loops, layers in (("off", 2), ("on", 3)):
        shown = ("--strategy", "zero3", "--top", "1", "--finalists", "1")
        found = plan(step, cluster, *shown, f"--pipeline-loops={loops}")["plan"]
        assert found["loops"] == ([] if loops == "off" else ["pipelined"])
        memory = found["memory"]
        assert memory["gradients"] >= gradients
        state = memory["at_rest"] + gradients + memory["batch_and_results"]
        least = state + layers * whole + memory["activations"]
        assert found["bytes"] <= 1.1 * least


@pytest.mark.needs_tools
def test_volumes(cluster, tmp_path):
    """What a rank of n = 4 sends for a layer's parameter, in its elements: 2 (n-1)/n
    where it is kept whole, 3 (n-1)/n where forward and backward gather it. Others
    are read in forward only, or backward follows at once."""
    step = exported_llama(tmp_path, 1)
    whole, sharded = 2 * 3 / 4, 3 * 3 / 4
    # Half of it once over the nodes, twice within a node, and the reduction.
    hybrid = 1 / 2 * 1 / 2 + 2 * 1 / 2 + 3 / 4
    # Twice within a node; reduced there, and the half of it over the nodes.
    within = 2 * 1 / 2 + 1 / 2 + 2 * 1 / 2 * 1 / 2
    expected = {"ddp": whole, "zero1": whole, "zero2": whole, "zero3": sharded,
                "hpz:2x1": hybrid, "mics:2x1": within}  # fmt: skip
    for strategy, volume in expected.items():
        manifest = compiled_manifest(step, cluster, strategy, tmp_path)
        layers = [p for p in manifest["parameters"] if "layers" in p["name"]]
        assert len(layers) == 18
        for parameter in layers:
            assert parameter["sent_elements"] == volume * parameter["padded"], strategy
        if strategy in ("ddp", "zero1", "zero2", "zero3"):
            for parameter in manifest["parameters"]:
                if parameter not in layers:
                    assert parameter["sent_elements"] == whole * parameter["padded"]


@pytest.mark.needs_tools
def test_names_and_order_of_arguments_do_not_matter(cluster, tmp_path):
    found = []
    for permute in (False, True):
        step = tmp_path / f"step{permute}.mlir"
        step.write_text(permuted_step(permute))
        found.append(plan(step, cluster, "--top", "100"))
    first, second = found
    assert first["strategies"] == second["strategies"]
    assert first["plan"]["bytes"] == second["plan"]["bytes"]
    assert sorted(first["plan"]["units"].values()) == sorted(
        second["plan"]["units"].values()
    )


def permuted_step(permute: bool) -> str:
    """Two layers with momentum; the second time under other names, in another
    order."""
    types = {"w0": "8x16", "w1": "16x8", "m0": "8x16", "m1": "16x8", "x": "8x8"}
    order = ["w0", "w1", "m0", "m1", "x"]
    names = {"w0": "p['h'][0]", "w1": "p['h'][1]", "m0": "s['h'][0]", "m1": "s['h'][1]"}
    if permute:
        order = ["m1", "w1", "w0", "m0", "x"]
        names = {"w0": "a['z'][7]", "w1": "a['z'][2]", "m0": "q[7]", "m1": "q[2]"}
    state = [name for name in order if name != "x"]
    arguments = [
        f"%{name}: tensor<{types[name]}xf32> "
        + (f"{{tf.aliasing_output = {state.index(name)} : i32}} " if name in state else "")
        + f'loc("{names.get(name, name)}")'
        for name in order
    ]
    results = ", ".join(f"tensor<{types[name]}xf32>" for name in state)
    a, b = "tensor<8x16xf32>", "tensor<16x8xf32>"
    x = "tensor<8x8xf32>"
    return f"""
func.func public @main({", ".join(arguments)}) -> ({results}) {{
  %h = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : ({x}, {a}) -> {a}
  %y = stablehlo.dot_general %h, %w1, contracting_dims = [1] x [0] : ({a}, {b}) -> {x}
  %g1 = stablehlo.dot_general %h, %y, contracting_dims = [0] x [0] : ({a}, {x}) -> {b}
  %gh = stablehlo.dot_general %y, %w1, contracting_dims = [1] x [1] : ({x}, {b}) -> {a}
  %g0 = stablehlo.dot_general %x, %gh, contracting_dims = [0] x [0] : ({x}, {a}) -> {a}
  %n0 = stablehlo.add %m0, %g0 : {a}
  %n1 = stablehlo.add %m1, %g1 : {b}
  %u0 = stablehlo.subtract %w0, %n0 : {a}
  %u1 = stablehlo.subtract %w1, %n1 : {b}
  return {", ".join("%" + {"w0": "u0", "w1": "u1", "m0": "n0", "m1": "n1"}[n] for n in state)} : {results}
}}
"""


@needs_cases
@pytest.mark.needs_tools
def test_auto_is_the_default_for_any_cluster(cluster, tmp_path):
    case = jobs.cases_directory() / "mlp_momentum"
    step, page = tmp_path / "step.so", tmp_path / "plan.html"
    for given, assumes in [("levels=2x2", True), (cluster, False)]:
        done = tools.call(
            "amsp-compile", case / "step.mlir", "-o", step, "--cluster", given,
            "--report", page,
        )  # fmt: skip
        assert "remark: --strategy auto chose p=" in done.stderr
        assert ("for A100 with 80 GB" in done.stderr) == assumes
        text = page.read_text()
        assert text.startswith("<!doctype html>") and "Memory against time" in text
    # A measured timeline beside the predicted one.
    trace = tmp_path / "trace.json"
    tools.run_step(
        step, case / "inputs.npz", tmp_path / "out.npz", 2, "--trace", trace
    )
    tools.call(
        "amsp-plan", case / "step.mlir", "--cluster", cluster, "--report", page,
        "--trace", trace,
    )  # fmt: skip
    text = page.read_text()
    assert "Predicted timeline" in text and "Measured timeline, rank 0" in text
    summary = json.loads(trace.read_text())["summary"]
    rows = re.findall(r"<tr><td>(all|level \w+|unit [^<]+)</td>(.*)</tr>", text)
    shown = {name: re.findall(r"([\d.]+) ms", cells) for name, cells in rows}
    names = "level core", "level node"
    for name, entry in [
        ("all", summary),
        *((names[entry["level"]], entry) for entry in summary["levels"]),
    ]:
        transfer, exposed = entry["transfer_seconds"], entry["exposed_seconds"]
        measured = [float(cell) for cell in shown[name][2:]]
        np.testing.assert_allclose(measured, [transfer * 1e3, exposed * 1e3], atol=1e-3)
        assert float(shown[name][0]) > 0, name
    units = {entry["unit"] for entry in summary["units"]} - {None}
    assert {f"unit {unit}" for unit in units} <= set(shown)
    with pytest.raises(tools.ToolError, match="error: trace '.*': "):
        tools.call(
            "amsp-plan", case / "step.mlir", "--cluster", cluster, "--report", page,
            "--trace", cluster,
        )  # fmt: skip
