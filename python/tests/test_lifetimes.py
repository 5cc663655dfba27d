"""No full-size copy of a parameter outlives its use."""

import collections
import json
import math
import pathlib

import pytest

import steps
from amsp import tools

# Ops that make another copy of a parameter out of a copy.
COPYING = {
    "stablehlo.convert",
    "stablehlo.transpose",
    "stablehlo.reshape",
    "stablehlo.slice",
    "stablehlo.bitcast_convert",
}


def elements(value) -> int:
    return math.prod(value.type.shape)


def blocks_of(module):
    """Every block that holds collectives or uses of them."""
    pending = [module.operation]
    while pending:
        op = pending.pop()
        for region in op.regions:
            for block in region:
                operations = [inner.operation for inner in block.operations]
                yield operations
                pending += operations


def live_copies(operations) -> list[int]:
    """Elements of gathered copies alive at each op of a block. A copy is a
    gathered buffer or what COPYING ops make of it."""
    live, copies = [0] * len(operations), set()
    for at, op in enumerate(operations):
        copy = op.name == "stablehlo.all_gather" or (
            op.name in COPYING and op.operands[0] in copies
        )
        if not copy:
            continue
        copies.add(op.results[0])
        users = {use.owner.operation for use in op.results[0].uses}
        last = max(
            (i for i, other in enumerate(operations) if other in users), default=at
        )
        for i in range(at, last + 1):
            live[i] += elements(op.results[0])
    return live


def parse(text: str):
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir

    with jax_mlir.make_ir_context():
        return ir.Module.parse(text)


def test_the_count_sees_a_copy_that_lives_too_long():
    """The first copy is 8 elements and its transpose 8 more; a second gather of
    8 begins while the transpose still waits for its use."""
    gather = (
        '"stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, '
        "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> "
        ": (tensor<2x2xf32>) -> tensor<4x2xf32>"
    )
    text = f"""
    func.func @main(%x: tensor<2x2xf32>) -> tensor<4x4xf32> {{
      %a = {gather}
      %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
      %other = stablehlo.add %x, %x : tensor<2x2xf32>
      %b = {gather}
      %r = stablehlo.dot_general %b, %t, contracting_dims = [1] x [0] : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
      return %r : tensor<4x4xf32>
    }}"""
    counted = [live_copies(block) for block in blocks_of(parse(text))]
    assert [8, 16, 8, 16, 16, 0] in counted


def gathered(case, tmp_path, *options):
    """Elements by unit, and of each parameter; the most that are whole at once.
    What is gathered ahead has a bound of its own (test_overlap.py)."""
    options = (*options, "--overlap", "off")
    output = tmp_path / "zero3.mlir"
    ready = steps.prepared(case, tmp_path)
    tools.compile_step(
        ready.directory / "step.mlir",
        output,
        "levels=2x2",
        "zero3",
        ready.batch_args,
        emit="stablehlo",
        options=options,
    )
    manifest = json.loads(pathlib.Path(f"{output}.manifest.json").read_text())
    sizes, units = [], collections.Counter()
    for traffic in manifest["parameters"]:
        sizes.append(traffic["padded"])
        units[manifest["arguments"][traffic["argument"]]["unit"]] += traffic["padded"]
    live = [live_copies(block) for block in blocks_of(parse(output.read_text()))]
    return units, sizes, max(max(block, default=0) for block in live)


@pytest.mark.needs_tools
@pytest.mark.parametrize("case", ["gpt", "gpt_accumulated"])
def test_gathered_copies_die_with_their_use(tmp_path, case):
    _, sizes, most = gathered(case, tmp_path, "--no-fuse-collectives")
    # At least the largest parameter was gathered; of two layers and their
    # embeddings never half is whole at a time.
    assert max(sizes) <= most <= sum(sizes) // 2


@pytest.mark.needs_tools
@pytest.mark.parametrize("case", ["gpt", "gpt_accumulated"])
def test_fused_gathers_are_one_unit_at_a_time(tmp_path, case):
    units, sizes, most = gathered(case, tmp_path)
    # Beside the unit, a copy of one parameter: transposed, for its use.
    assert most <= max(units.values()) + max(sizes)
