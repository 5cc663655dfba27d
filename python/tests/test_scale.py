"""The number of ranks is a number in the program: nothing in it is listed by rank."""

import collections
import re
import resource
import subprocess

import pytest

import steps
from amsp import export, tools

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


@pytest.mark.parametrize("strategy", ["zero1", "zero3"])
def test_its_object_is_as_large(step, strategy, tmp_path):
    """Within 10 %; how long it takes is measured by bench/."""

    def size(ranks):
        output = tmp_path / f"{ranks}.o"
        options = ["--cluster", f"levels={ranks}", "--strategy", strategy, "--emit", "obj"]
        tools.call("amsp-compile", step / "step.mlir", "-o", output, *options)
        return output.stat().st_size

    assert size(1024) == pytest.approx(size(8), rel=0.1)


def test_levels_add_no_collective(step):
    few = ops_of_step(step, "8", "zero3", ["amsp-communicate"])
    assert ops_of_step(step, "8,16,8", "zero3", ["amsp-communicate"]) == few


def chain(name, start, type):
    """Elementwise ops, each of the one before; the last one is NAME."""
    names = [start, *(f"%{name[1:]}.{i}" for i in range(1, 20_000)), name]
    steps = zip(names[1:], names, strict=False)
    return "\n".join(f"{own} = stablehlo.negate {before} : {type}" for own, before in steps)


GATHER = 'amsp.all_gather {} group = <[1:2]> parameter = {} unit = "a" : tensor<2xf32> -> tensor<4xf32>'

# A chain of ops between two gathers of a unit, one from the second gather on to
# where it is used, which is a loop over microbatches.
DEEP = f"""
func.func public @main(%x: tensor<2xf32> {{amsp.role = #amsp.role<param>}},
    %rows: tensor<4x4xf32> {{amsp.role = #amsp.role<batch>}}) -> tensor<4xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %g = {GATHER.format("%x", 0)}
  {chain("%piece", "%x", "tensor<2xf32>")}
  %h = {GATHER.format("%piece", 1)}
  {chain("%w", "%h", "tensor<4xf32>")}
  %0:2 = stablehlo.while(%i = %zero, %sum = %g) : tensor<i32>, tensor<4xf32>
  cond {{
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }} do {{
    %2 = stablehlo.dynamic_slice %rows, %i, %zero, sizes = [1, 4] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x4xf32>) -> tensor<4xf32>
    %4 = stablehlo.multiply %3, %w : tensor<4xf32>
    %5 = stablehlo.add %sum, %4 : tensor<4xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<4xf32>
  }}
  return %0#1 : tensor<4xf32>
}}
"""


def ops_of_deep(tmp_path, *passes):
    step = tmp_path / "step.mlir"
    step.write_text(DEEP)
    command = tools.command("amsp-opt", step, *(f"--{p}" for p in passes))
    # A small stack, so that shorter chains than those of a large model tell.
    stack = lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
    done = subprocess.run(command, check=True, capture_output=True, text=True, preexec_fn=stack)
    text = done.stdout
    return collections.Counter(re.findall(r"(?:amsp\.all_gather|stablehlo)\w*\.?\w*", text))


def test_chains_of_ops_may_be_deep(tmp_path):
    fused = ops_of_deep(tmp_path, "amsp-fuse-collectives", "amsp-schedule-collectives")
    gathers = {op: count for op, count in fused.items() if "gather" in op}
    assert gathers == {"amsp.all_gather": 1} or gathers == {"amsp.all_gather_start": 1}
    assert fused["stablehlo.negate"] == 40_000


def test_microbatches_are_peeled_behind_a_deep_chain(tmp_path):
    peeled = ops_of_deep(tmp_path, "amsp-peel-microbatches")
    # The first iteration stands before the loop, since %w was gathered.
    assert peeled["stablehlo.multiply"] == 2 and peeled["stablehlo.while"] == 1


LAYERS = (2, 4)
ELIMINATION = "eliminate-empty-tensors"


def llama(layers):
    """The small Llama with so many layers, written out."""
    keys = {"hidden_size": 8, "intermediate_size": 12, "num_attention_heads": 4}
    keys |= {"num_key_value_heads": 2, "num_hidden_layers": layers, "vocab_size": 13}
    made = steps.language_model("llama", keys)
    text, _ = export.step_text(made.step, made.args, tuple(range(made.donated)))
    return text


@pytest.fixture(scope="module")
def work_by_layers(tmp_path_factory):
    """What two passes do for steps of LAYERS layers: (visits of ops, ops of the
    step), and the ops before and behind the elimination of empty tensors."""
    directory = tmp_path_factory.mktemp("layers")
    work = []
    for layers in LAYERS:
        step = directory / f"{layers}.mlir"
        step.write_text(llama(layers))
        passes = ("communicate", "lower-to-linalg", "bufferize")
        command = tools.command(
            "amsp-opt", step, "--amsp-partition=levels=2 strategy=zero1",
            *(f"--amsp-{name}" for name in passes), "--amsp-print-statistics",
            *(f"--mlir-print-ir-{when}={ELIMINATION}" for when in ("before", "after")),
        )  # fmt: skip
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        visits = int(re.search(r"amsp-insert-collectives +(\d+) +visits", printed)[1])
        ops = len(re.findall(r"= \"?stablehlo\.", step.read_text()))
        dumps = printed.split("// -----// IR Dump")[1:]
        work.append((visits, ops, [ops_in_order(dump) for dump in dumps]))
    return work


def ops_in_order(text):
    main = text[text.index("func.func public @main") :].split("\n  }\n")[0]
    return [re.sub(r"%[\w#:]+", "%", line).strip() for line in main.splitlines()]


def test_placements_take_work_in_proportion_to_the_layers(work_by_layers):
    (few, few_ops, _), (many, many_ops, _) = work_by_layers
    assert many_ops > 1.5 * few_ops
    assert many / many_ops < 1.1 * few / few_ops


def changed_ops(before, after, directory):
    """The ops of the first list that a least difference removes, and those that
    it adds, counted."""
    files = (directory / "before", directory / "after")
    for file, ops in zip(files, (before, after), strict=True):
        file.write_text("\n".join(ops) + "\n")
    done = subprocess.run(["diff", "--minimal", *files], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    return [
        collections.Counter(line[2:] for line in lines if line.startswith(sign)) for sign in "<>"
    ]


def test_more_layers_move_no_more_for_empty_tensors(work_by_layers, tmp_path):
    """Each op that is moved would have its whole block numbered anew."""
    moved, slices = [], []
    for _, _, dumps in work_by_layers:
        removed, added = changed_ops(*dumps, tmp_path)
        moved.append((removed & added).total())
        slices.append(sum(n for op, n in added.items() if "tensor.extract_slice" in op))
    # The layers' empty tensors became slices, where they stood.
    assert slices[1] - slices[0] >= 4 * (LAYERS[1] - LAYERS[0])
    assert moved[1] <= moved[0]
