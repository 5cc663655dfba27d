"""The number of ranks is a number in the program: nothing in it is listed by rank."""

import collections
import re
import subprocess

import pytest

import steps
from amsp import tools

pytestmark = pytest.mark.needs_tools

STAGES = (["amsp-communicate"], ["amsp-communicate", "amsp-lower-to-linalg", "amsp-bufferize"])


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    return steps.prepared("wide_mlp", tmp_path_factory.mktemp("exported")).directory


def ops_of_step(step, levels, strategy, passes):
    """How often each op stands in the step's function."""
    partition = f"--amsp-partition=levels={levels} strategy={strategy}"
    command = tools.command("amsp-opt", step / "step.mlir", partition, *(f"--{p}" for p in passes))
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    main = text[text.index("func.func public @main") :].split("\n  }\n")[0]
    return collections.Counter(re.findall(r"\b(?:amsp|stablehlo|scf|memref)\.\w+", main))


@pytest.mark.parametrize("strategy", ["ddp", "zero1", "zero3", "p=2,g=4,os=all"])
@pytest.mark.parametrize("passes", STAGES, ids=lambda p: p[-1])
def test_a_program_for_1024_ranks_is_as_long_as_one_for_8(step, strategy, passes):
    few = ops_of_step(step, "8", strategy, passes)
    kinds = ("amsp.collective_start", "amsp.all_reduce", "amsp.reduce_scatter")
    assert sum(count for op, count in few.items() if op.startswith(kinds)) > 0
    assert ops_of_step(step, "1024", strategy, passes) == few


def test_levels_add_no_collective(step):
    few = ops_of_step(step, "8", "zero3", ["amsp-communicate"])
    assert ops_of_step(step, "8,16,8", "zero3", ["amsp-communicate"]) == few
