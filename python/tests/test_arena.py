"""The arena that the compiler reports is the one that a step uses."""

import math
import pathlib
import subprocess

import pytest
import steps as test_steps
from amsp import arrays, tools

pytestmark = pytest.mark.needs_tools

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    program = tmp_path_factory.mktemp("probe") / "arena_probe"
    source = pathlib.Path(__file__).parent / "arena_probe.c"
    include = ROOT / "runtime" / "include"
    # The step calls back into the program.
    command = ["clang-22", "-O1", "-rdynamic", f"-I{include}", source, "-o", program]
    subprocess.run([*command, "-ldl"], check=True)
    return program


def get_bytes(value):
    itemsize = arrays.DTYPES[value["dtype"]].itemsize
    # At least one: null stands for a result that is state.
    return max(1, math.prod(value["local_shape"]) * itemsize)


def touched_bytes(probe, prepared, directory, cluster, strategy):
    """Of the arena: those that the step touches, and those that it says."""
    step = directory / "step.so"
    tools.compile_step(
        prepared.directory / "step.mlir", step, cluster, strategy, prepared.batch_args
    )
    manifest = tools.manifest(step)
    arguments = [str(get_bytes(value)) for value in manifest["arguments"]]
    results = [
        "0" if value.get("argument") is not None else str(get_bytes(value))
        for value in manifest["results"]
    ]
    touched = subprocess.run(
        [probe, step, str(manifest["arena_bytes"]), *arguments, "/", *results],
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return int(touched.stdout), manifest["arena_bytes"]


@pytest.mark.parametrize("name", ["mlp", "gpt", "gpt_accumulated", "gpt_tied"])
def test_the_peak_is_what_a_step_touches(name, probe, tmp_path):
    prepared = test_steps.prepared(name, tmp_path)
    touched, planned = touched_bytes(probe, prepared, tmp_path, "levels=1", "zero3")
    assert touched == planned


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return test_steps.prepared("gpt_accumulated", tmp_path_factory.mktemp("exported"))


@pytest.mark.parametrize("strategy", ["ddp", "zero1", "zero2", "zero3", "mics:2x1", "hpz:2x1"])
def test_the_arena_of_every_preset_holds_all_that_is_touched(strategy, probe, exported, tmp_path):
    """What is gathered and reduced included; the estimate is not off by more than
    one buffer's alignment."""
    touched, planned = touched_bytes(probe, exported, tmp_path, "levels=2x2", strategy)
    assert planned - 64 < touched <= planned
