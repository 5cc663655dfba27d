"""What amsp-plan predicts, against the programs that it predicts."""

import itertools
import json
import pathlib
import subprocess

import pytest

import steps
from amsp import export, tools

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)

CLUSTER = """
levels:
  - {name: core, size: 2, bandwidth: 9e9, latency: 2e-5}
  - {name: node, size: 2, bandwidth: 1e9, latency: 5e-5}
device: {memory: 1e9, memory_bandwidth: 36e9, peak: {f32: 57e9, bf16: 57e9}}
"""


def plan(step, cluster, *options):
    command = [tools.find("amsp-plan"), step, "--cluster", cluster, "--format", "json"]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def exported(case, directory):
    step = steps.CASES[case]()
    state = tuple(range(step.donated))
    batch = tuple(range(step.donated, len(step.args)))
    export.export_step(step.step, step.args, state, batch, directory)


@pytest.mark.parametrize(
    "case", ["mlp", "gpt_tied", "gpt_tied_accumulated", "llama_scanned"]
)
def test_predicts_the_programs_collectives_for_every_strategy(case, tmp_path):
    exported(case, tmp_path)
    step = tmp_path / "step.mlir"
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER)
    # Which of a small step's can be fused, its dependences decide.
    plain = ("simplify", "decompose", "fuse")
    options = ("--finalists", "0", *(f"--no-{name}-collectives" for name in plain))
    ranked = plan(step, cluster, "--top", "1000", *options)["strategies"]
    accumulates = case in ("gpt_tied_accumulated", "llama_scanned")
    # Chains of three factors on two levels of size 2; with one microbatch g is p.
    assert len(ranked) == (16 if accumulates else 9)
    for predicted in ranked:
        shown = ("--strategy", predicted["strategy"], "--list-collectives")
        found = plan(step, cluster, "--top", "1", *options, *shown)
        assert found["chosen"] == {
            key: value for key, value in predicted.items() if key != "reason"
        }
        time = predicted["time"]
        assert time["gathers"] + time["reductions"] == pytest.approx(
            found["parameter_collective_seconds"], rel=1e-6, abs=1e-9
        )


@pytest.mark.parametrize("case", ["mlp", "gpt_tied"])
def test_rows_and_tokens_per_second(case, tmp_path):
    exported(case, tmp_path)
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER)
    found = plan(tmp_path / "step.mlir", cluster, "--finalists", "0")["plan"]
    step = steps.CASES[case]()
    batch = step.args[step.donated :]
    per_step = {name: found.get(f"{name}_per_second", 0) * found["seconds"]
                for name in ("rows", "tokens")}  # fmt: skip
    tokens = [a.size for a in batch if a.ndim == 2 and a.dtype.kind in "iu"]
    assert per_step["rows"] == pytest.approx(batch[0].shape[0])
    assert per_step["tokens"] == pytest.approx(tokens[0] if tokens else 0)
    assert bool(tokens) == (case == "gpt_tied")


def exported_llama(directory, microbatches, hidden=4096):
    config = {
        "model_type": "llama", "hidden_size": hidden, "intermediate_size": 3 * hidden,
        "num_attention_heads": 32, "num_key_value_heads": 32, "num_hidden_layers": 3,
        "vocab_size": 32000, "max_position_embeddings": 1024, "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False,
    }  # fmt: skip
    path, step = directory / "config.json", directory / "step.mlir"
    path.write_text(json.dumps(config))
    export.main(
        ["llama", "--config", str(path), "--seq", "1024", "--ranks", "8",
         "--microbatches", str(microbatches), "--param-dtype", "bf16",
         "-o", str(step)]
    )  # fmt: skip
    return step


PRESETS = ["ddp", "zero1", "zero2", "zero3", "mics:4x1", "hpz:4x1", "p=1,g=1,os=4x1"]
CLUSTERS = pathlib.Path(__file__).parents[2] / "clusters"


def test_cluster_files_agree_about_a_device():
    """What a device achieves, and how communication slows it, is told once."""
    devices = {}
    for path in sorted(CLUSTERS.glob("*.yaml")):
        device = path.read_text().partition("\ndevice:\n")[2]
        name = device.splitlines()[0]
        assert devices.setdefault(name, device) == device, path.name


INT8 = ("--quantize-gathers", "--quantize-reductions")


@pytest.mark.parametrize("microbatches, wire", [(1, ()), (2, ()), (1, INT8)])
def test_the_estimate_orders_presets_as_the_simulation_does(microbatches, wire, tmp_path):
    step = exported_llama(tmp_path, microbatches)
    for name in ("a800-80gb-800g", "h100-80gb-400g"):
        times = {}
        for preset in PRESETS:
            shown = ("--levels", "4x2", "--finalists", "0", "--list-collectives")
            cluster = CLUSTERS / f"{name}.yaml"
            found = plan(step, cluster, *shown, *wire, "--strategy", preset)
            time, simulated = found["chosen"]["time"], found["plan"]["seconds"]
            times[preset] = found["plan"]["estimated_seconds"], simulated
            moved = {(c["kind"], c["dtype"]) for c in found["collectives"]}
            assert (("all_to_all", "i8") in moved) == bool(wire)
            # Fused by unit, and decomposed; at the program's ends in more pieces,
            # twice as many with int8. A gather of sums has no parameter.
            if not wire or preset in ("zero1", "zero2", "zero3"):
                assert time["gathers"] + time["reductions"] == pytest.approx(
                    found["parameter_collective_seconds"], rel=0.1 if wire else 0.02
                )
        # The estimate does not know what quantizing costs.
        # What hides of gathers behind reductions it takes to be as in a pipeline.
        for estimated, simulated in times.values():
            assert wire or 0.975 < estimated / simulated < 1.11
        for one, other in itertools.permutations(times, 2):
            if times[one][1] < times[other][1] * 0.9:
                # The search takes what is within 1 % as equally fast.
                assert times[one][0] < times[other][0] * 1.01, (name, one, other)
