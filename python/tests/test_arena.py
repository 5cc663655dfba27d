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


@pytest.mark.parametrize("name", ["mlp", "gpt", "gpt_accumulated", "gpt_tied"])
def test_the_peak_is_what_a_step_touches(name, probe, tmp_path):
    prepared = test_steps.prepared(name, tmp_path)
    step = tmp_path / "step.so"
    batch = ",".join(str(index) for index in prepared.batch_args)
    tools.call(
        "amsp-compile", prepared.directory / "step.mlir", "-o", step,
        "--cluster", "levels=1", "--strategy", "zero3", "--batch-args", batch,
    )  # fmt: skip
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
    assert int(touched.stdout) == manifest["arena_bytes"]
