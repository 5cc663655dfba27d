"""A disk that is full: each file that a tool writes is the old one or the new
one, and what failed is one error that names it.

A limit on the size of files stands for the disk: a write beyond it fails, after
a first part of the file or at once.
"""

import os
import subprocess

import numpy as np
import pytest

import steps
from amsp import tools
from test_run import STEP, make_inputs

pytestmark = pytest.mark.needs_tools


def limited(blocks, *command):
    """Runs a command that can write files of so many KiB."""
    script = f"trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""
    return subprocess.run(
        ["bash", "-c", script, "bash", *map(str, command)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def expect_old_file(tmp_path, output, blocks, *command):
    """Of a file that was there before, and of none."""
    others = set(tmp_path.iterdir())
    for old in (None, b"old"):
        if old is not None:
            output.write_bytes(old)
        result = limited(blocks, *command)
        assert result.returncode == 1, result
        assert result.stderr.count("\n") == 1, result.stderr
        assert result.stderr.startswith("error: ") and str(tmp_path) in result.stderr
        assert (output.read_bytes() if output.exists() else None) == old
        assert set(tmp_path.iterdir()) - others - {output} == set()


@pytest.fixture
def inputs(tmp_path):
    np.savez(tmp_path / "in.npz", **make_inputs())
    return tmp_path / "in.npz"


def run_command(inputs, *options):
    return tools.command(
        "amsp-run", STEP, "--inputs", inputs, "--quiet", "--steps", 50, *options
    )


def test_results_of_a_run(inputs, tmp_path):
    output = tmp_path / "out.npz"
    expect_old_file(tmp_path, output, 0, *run_command(inputs, "--outputs", output))


@pytest.mark.parametrize("blocks", [0, 1])
def test_a_trace_comes_with_its_results_or_not_at_all(inputs, tmp_path, blocks):
    trace, outputs = tmp_path / "trace", tmp_path / "out.npz"
    command = run_command(inputs, "--outputs", outputs, "--trace", trace)
    expect_old_file(tmp_path, trace, blocks, *command)


@pytest.mark.parametrize("blocks", [0, 1])
def test_a_log_stays_and_the_run_ends(inputs, tmp_path, blocks):
    log, outputs = tmp_path / "log", tmp_path / "out.npz"
    result = limited(blocks, *run_command(inputs, "--outputs", outputs, "--log", log))
    assert result.returncode == 1
    assert result.stderr == f"error: {log}: cannot be written: File too large\n"
    assert not outputs.exists() and log.stat().st_size == 1024 * blocks


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    return steps.prepared("mlp", tmp_path_factory.mktemp("full_disk")).directory / "step.mlir"


CLUSTER = tools.REPOSITORY / "clusters" / "cpu-2core-vm.yaml"
COMPILE = ("amsp-compile", "--cluster", "levels=2", "--strategy", "zero3")
PLAN = ("amsp-plan", "--cluster", CLUSTER, "--levels", "2", "--finalists", "1")


COMPILER_FILES = [
    *((*COMPILE, "--emit", emit, "-o") for emit in ("so", "obj", "llvm", "mlir", "stablehlo")),
    (*COMPILE, "-o", "other.so", "--report"),
    (*PLAN, "--report"),
    (*PLAN, "--timeline"),
    (*PLAN, "-o"),
]


@pytest.mark.parametrize(
    "command, blocks",
    [
        (command, blocks)
        for command in COMPILER_FILES
        for blocks in (0, 1)
        if not blocks or command != (*PLAN, "-o")  # a plan is smaller than a block
    ],
    ids=lambda value: f"{value[0]}{value[-2]}{value[-1]}" if isinstance(value, tuple) else None,
)
def test_files_of_the_compiler(step, tmp_path, command, blocks):
    name, *options = (tmp_path / word if word == "other.so" else word for word in command)
    output = tmp_path / ("file.json" if command[-1] == "--report" else "file")
    expect_old_file(tmp_path, output, blocks, *tools.command(name, step, *options), output)


def test_a_pipe_is_not_replaced(step, tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    name, *options = PLAN
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for output in (pipe, file):
            tools.call(name, step, *options, "-o", output)
        assert os.read(reader, 1 << 16) == file.read_bytes()
    finally:
        os.close(reader)
    assert pipe.is_fifo() and set(tmp_path.iterdir()) == {pipe, file}
