"""What amsp-plan predicts, against the programs that it predicts."""

import json
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


@pytest.mark.parametrize("case", ["mlp", "gpt_tied", "gpt_tied_accumulated"])
def test_predicts_the_programs_collectives_for_every_strategy(case, tmp_path):
    exported(case, tmp_path)
    step = tmp_path / "step.mlir"
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER)
    # The model of the search knows no fused and no decomposed collectives.
    plain = ("simplify", "decompose", "fuse")
    options = ("--finalists", "0", *(f"--no-{name}-collectives" for name in plain))
    ranked = plan(step, cluster, "--top", "1000", *options)["strategies"]
    accumulates = "accumulated" in case
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
