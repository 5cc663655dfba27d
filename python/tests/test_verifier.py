"""The verifiers of a rank's program, tested by mutation.

In programs that the compiler emits, on tensors and on buffers, a group, an order,
an await, a type or a buffer is broken. The verifiers accept every program as
emitted, reject every broken one, and name the operation, or the result that a
wrong sum comes to.
"""

import collections
import functools
import math
import random
import re
import subprocess

import pytest

import steps
from amsp import tools

pytestmark = pytest.mark.needs_tools

PROGRAMS = [
    ("mlp", "levels=2,2", "zero3"),
    ("mlp", "levels=2,2", "p=2x1,g=2x1,os=2x2"),
    ("mlp", "levels=4", "zero1"),
    ("mlp", "levels=2,2,2", "p=2x1x1,g=2x2x1,os=2x2x2"),
    ("norms", "levels=3", "zero2"),
    ("norms", "levels=2,3", "mics:2x1"),
    ("unequal_masks", "levels=2", "ddp"),
    ("odd_sizes", "levels=2,2", "p=2,os=4"),
    ("trust_ratio", "levels=2,2", "hpz:2x1"),
    ("rows_of_several_kinds", "levels=2,2", "zero3"),
    ("mlp", "levels=2,2", "zero3", "quantize-gathers quantize-reductions"),
    ("odd_sizes", "levels=2,2", "p=2,os=4", "quantize-reductions"),
]
OP = r"'(amsp|memref)\.\w+' op "
VERIFIERS = {
    "tensors": "amsp-verify-program",
    "scheduled": "amsp-verify-program",
    "buffers": "amsp-verify-buffers",
}


def amsp_opt(text, *passes):
    return subprocess.run(
        tools.command("amsp-opt", "-", *(f"--{name}" for name in passes)),
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def emitted(tmp_path_factory):
    """The program of a rank, on tensors with starts and awaits of single tensors,
    on tensors as it is scheduled, and, with fused collectives, on buffers."""
    root = tmp_path_factory.mktemp("programs")

    @functools.cache
    def emit(case, levels, strategy, communicate=""):
        step = (steps.prepared(case, root).directory / "step.mlir").read_text()
        partition = f"amsp-partition={levels} strategy={strategy}"
        single = f"amsp-communicate=fuse=false overlap=off {communicate}"
        tensors = amsp_opt(step, partition, single)
        assert tensors.returncode == 0, tensors.stderr
        fused = f"amsp-communicate={communicate}" if communicate else "amsp-communicate"
        lower = (fused, "amsp-lower-to-linalg", "amsp-bufferize")
        buffers = amsp_opt(step, partition, *lower)
        assert buffers.returncode == 0, buffers.stderr
        apart = f"amsp-communicate=fuse=false {communicate}"
        scheduled = amsp_opt(step, partition, apart)
        assert scheduled.returncode == 0, scheduled.stderr
        return {
            "tensors": split_collectives(tensors.stdout),
            "scheduled": scheduled.stdout,
            "buffers": buffers.stdout,
        }

    return emit


def split_collectives(text):
    """Of the gathers, all_reduces and all_to_alls of one tensor every other one
    as a start and an await, whatever the schedule has split."""

    def split(match):
        indent, name, kind, rest, types, result = match.groups()
        split.count += 1
        split.of_kind[kind] += 1
        if split.of_kind[kind] % 2:
            return match[0]
        pending = f"!amsp.pending<{result}>"
        types = f"{types}{pending}" if types else result
        return (
            f"{indent}%started{split.count} = amsp.{kind}_start{rest}: {types}\n"
            f"{indent}{name} = amsp.await %started{split.count} : {pending}"
        )

    split.count = 0
    split.of_kind = collections.Counter()
    collective = (
        r"^( *)(%\w+) = amsp\.(all_gather|all_reduce|all_to_all)( .*): (tensor<\S+> -> )?(tensor<\S+>)$"
    )
    return re.sub(collective, split, text, flags=re.M)


class Mutation:
    """Chooses, by a seed, what to break in the lines of a program."""

    def __init__(self, text, seed):
        self.lines = text.splitlines()
        self.random = random.Random(seed)

    def text(self):
        return "\n".join(self.lines)

    def pick(self, pattern):
        """The number of a line that holds the pattern, and the match."""
        found = [(i, m) for i, line in enumerate(self.lines) if (m := re.search(pattern, line))]
        return self.random.choice(found)

    def change(self, pattern, replace):
        """In one of the lines that hold the pattern."""
        number, match = self.pick(pattern)
        line = self.lines[number]
        self.lines[number] = line[: match.start()] + replace(match) + line[match.end() :]

    def change_collective(self, pattern, replace):
        """In the start of a collective on buffers, and alike in its await."""
        number, match = self.pick(r"collective_start (<\d+,)")
        for i in (j for j, line in enumerate(self.lines) if match[1] in line):
            self.lines[i] = re.sub(pattern, replace, self.lines[i], count=1)


def tensor_group(program):
    program.change(
        r"(amsp\.(?:all_reduce|all_gather|all_to_all|reduce_scatter)\w* .*group = <\[\d+):\d+",
        lambda m: m[1] + ":7",  # no cluster here has a digit of 7 ranks
    )


def tensor_wrong_group(program):
    """Scalars are summed over a group that exists, but is not theirs: pairs of
    ranks instead of all."""
    program.lines = [
        re.sub(r"group = <\[1:\d+\]>", "group = <[1:2]>", line)
        if re.search(r"amsp\.all_reduce\w* .*: tensor<f32>", line)
        else line
        for line in program.lines
    ]


def tensor_type(program):
    """One operand has another element type than what the collective moves."""
    number, match = program.pick(
        r"^( *%\w+)( = amsp\.(?:all_gather|reduce_scatter|all_reduce)\w* +(?:\w+ +)?)(%\w+)"
        r"( group .* : )(tensor<((?:\d+x)*)[a-z]\w*>)( -> .*)?$"
    )
    name, kind, operand, group, given, shape, result = match.groups()
    other = f"tensor<{shape}f64>"
    if result:
        collective = f"{name}{kind}%mutant{group}{other}{result}"
    else:  # the type of an all_reduce is its result's: another tensor beside it
        collective = f"{name}:2{kind}{operand}, %mutant{group}{given}, {other}"
    program.lines[number : number + 1] = [
        f"%mutant = stablehlo.convert {operand} : ({given}) -> {other}",
        collective,
    ]


def tensor_order(program):
    """A collective that only one rank runs."""
    number, match = program.pick(
        r"^ *(%\w+) = (amsp\.all_reduce +\w+ (%\w+) .*: (tensor<\S+>))$"
    )
    result, collective, operand, type_ = match.groups()
    program.lines[number] = f"""
      %mutant_i = amsp.group_index group = <[1:2]> : tensor<i32>
      %mutant_z = stablehlo.constant dense<0> : tensor<i32>
      %mutant_p = stablehlo.compare EQ, %mutant_i, %mutant_z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      {result} = "stablehlo.if"(%mutant_p) ({{
        %mutant = {collective}
        stablehlo.return %mutant : {type_}
      }}, {{
        stablehlo.return {operand} : {type_}
      }}) : (tensor<i1>) -> {type_}"""


def tensor_await_lost(program):
    """What a start delivers comes from elsewhere."""
    number, match = program.pick(r"^( *%\w+) = amsp\.await .*<(tensor<\S*f32>)>$")
    program.lines[number] = f"{match[1]} = stablehlo.constant dense<0.0> : {match[2]}"


def tensor_await_twice(program):
    number, match = program.pick(r"^ *%\w+( = amsp\.await .*)$")
    program.lines.insert(number, "%mutant" + match[1])


def scheduled_bound(program):
    """A collective goes out as often as the bound on bytes in flight does not
    allow, and is awaited as often."""
    _, bound = program.pick(r"amsp\.prefetch_bytes = (\d+)")
    number, match = program.pick(r"^ *%\w+ = (amsp\.\w+_start .*(tensor<[^<>]*>)>?)$")
    start, result = match.groups()
    copies = range(int(bound[1]) // 4 + 1)  # of 4 bytes at least
    lines = [f"%mutant{i} = {start}" for i in copies]
    lines += [f"%mutant_a{i} = amsp.await %mutant{i} : !amsp.pending<{result}>" for i in copies]
    program.lines[number:number] = lines


def buffer_group(program):
    program.change_collective(r"<\[(\d+):\d+", r"<[\1:7")


def buffer_order(program):
    """Two collectives have each other's number."""
    starts = [i for i, line in enumerate(program.lines) if "collective_start" in line]
    place = program.random.randrange(len(starts) - 1)
    ids = [re.search(r"<(\d+),", program.lines[starts[place + k]])[1] for k in (0, 1)]
    for i, line in enumerate(program.lines):
        for own, other in (ids, ids[::-1]):
            if re.search(rf"collective_\w+ <{own},", line):
                program.lines[i] = line.replace(f"<{own},", f"<{other},", 1)


def buffer_await_lost(program):
    number, _ = program.pick(r"collective_await")
    del program.lines[number]


def buffer_await_twice(program):
    number, match = program.pick(r"collective_await")
    program.lines.insert(number, program.lines[number])


def buffer_type(program):
    program.change_collective(r"full = \[(\d+)", lambda m: f"full = [{int(m[1]) + 1}")


def buffer_in_flight(program):
    """The await comes after the first op that uses the destination."""
    candidates = []
    for number, line in enumerate(program.lines):
        match = re.search(r"collective_await .* into (%\w+)(?:, %\w+)* :", line)
        if not match:
            continue
        for later in range(number + 1, len(program.lines)):
            text = program.lines[later]
            if text.strip() == "}":
                break
            used = re.search(rf"{match[1]}\b", text)
            if used and "amsp." in text and "view" not in text:
                candidates.append((number, later))
                break
    number, later = program.random.choice(candidates)
    program.lines.insert(later, program.lines.pop(number))


MUTATIONS = {
    "tensors": [
        tensor_group,
        tensor_wrong_group,
        tensor_type,
        tensor_order,
        tensor_await_lost,
        tensor_await_twice,
    ],
    "scheduled": [scheduled_bound],
    "buffers": [
        buffer_group,
        buffer_order,
        buffer_await_lost,
        buffer_await_twice,
        buffer_type,
        buffer_in_flight,
    ],
}


@pytest.mark.parametrize("program", PROGRAMS, ids="-".join)
def test_emitted_programs_are_accepted(emitted, program):
    for level, text in emitted(*program).items():
        result = amsp_opt(text, VERIFIERS[level])
        assert result.returncode == 0, result.stderr


def has_wrong_group(program):
    """Pairs of ranks are a group but not all ranks, over which scalars are
    summed but under mics."""
    sizes = [int(size) for size in re.findall(r"\d+", program[1])]
    return sizes[0] % 2 == 0 and math.prod(sizes) > 2 and "mics" not in program[2]


BROKEN = [
    pytest.param(program, mutate, id="-".join((*program, mutate.__name__)))
    for program in PROGRAMS
    for mutate in sum(MUTATIONS.values(), [])
    if mutate is not tensor_wrong_group or has_wrong_group(program)
]


@pytest.mark.parametrize("program, mutate", BROKEN)
def test_broken_programs_are_rejected(emitted, program, mutate):
    level = next(level for level, mutations in MUTATIONS.items() if mutate in mutations)
    mutation = Mutation(emitted(*program)[level], f"{program} {mutate.__name__}")
    mutate(mutation)
    result = amsp_opt(mutation.text(), VERIFIERS[level])
    assert result.returncode != 0, mutation.text()
    errors = [line for line in result.stderr.splitlines() if "error: " in line]
    assert len(errors) == 1, result.stderr
    # A wrong sum shows in a result; all else at the operation.
    named = r"result \d+ is replicated, but may differ" if mutate is tensor_wrong_group else OP
    assert re.search(named, errors[0]), errors
