"""Exports a training step of JAX as the files that amsp-compile reads.

    python -m amsp.export gpt --layers 4 --width 128 --heads 4 --sequence 64 \\
        --batch 32 --microbatches 2 --out DIR

A directory then holds `step.mlir` (StableHLO text with debug locations, which
carry the arguments' names), `inputs.npz` (`arg0`, ...: the initial state and a
first batch) and `case.json` (what the arguments are).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import sys
from collections.abc import Callable, Sequence

import jax
import numpy as np

from amsp import arrays


@dataclasses.dataclass(frozen=True)
class Case:
    """What the flat arguments and results of an exported step are."""

    args: list[dict]  # name, shape, dtype
    state: list[tuple[int, int]]  # (argument, the result that is its new value)
    batch_args: list[int]

    def to_json(self) -> dict:
        leading = all(pair == (i, i) for i, pair in enumerate(self.state))
        return {
            "args": self.args,
            # As a number only where arguments and results 0, 1, ... pair up.
            "state_args": len(self.state) if leading else None,
            "state": self.state,
            "batch_args": self.batch_args,
            "split_args": self.batch_args,
            "bf16_as": "uint16",
        }


def leaf_ranges(args: Sequence) -> list[range]:
    """The flat arguments of each argument."""
    ranges, first = [], 0
    for arg in args:
        count = len(jax.tree.leaves(arg))
        ranges.append(range(first, first + count))
        first += count
    return ranges


def lower(step: Callable, args: Sequence, donate_argnums: Sequence[int]) -> str:
    # An argument that the step ignores stays an argument: the files count them.
    jitted = jax.jit(step, donate_argnums=tuple(donate_argnums), keep_unused=True)
    return jitted.lower(*args).as_text(debug_info=True)


def aliases(text: str) -> dict[int, int]:
    """Argument to result, as the text of the module's main function says."""
    signature = next(line for line in text.splitlines() if "@main(" in line)
    found = {}
    for piece in re.split(r"%arg(?=\d+: )", signature)[1:]:
        alias = re.search(r"tf\.aliasing_output = (\d+)", piece)
        if alias:
            found[int(piece.split(":")[0])] = int(alias.group(1))
    return found


def state_pairs(step, args, donate_argnums) -> list[tuple[int, int]]:
    """The results must begin with the new values of the donated arguments."""
    ranges = leaf_ranges(args)
    donated = [leaf for i in sorted(donate_argnums) for leaf in ranges[i]]
    flat_args = jax.tree.leaves(list(args))
    results = jax.tree.leaves(jax.eval_shape(step, *args))
    for result, argument in enumerate(donated):
        want = flat_args[argument]
        if result >= len(results) or (
            (results[result].shape, results[result].dtype) != (want.shape, want.dtype)
        ):
            raise ValueError(
                "the step's results must begin with the new values of the donated "
                f"arguments; result {result} is not that of argument {argument}"
            )
    return [(argument, result) for result, argument in enumerate(donated)]


def export_step(
    step: Callable,
    args: Sequence,
    donate_argnums: Sequence[int],
    batch_argnums: Sequence[int],
    directory: str | pathlib.Path,
) -> Case:
    """Writes step.mlir, inputs.npz and case.json for step(*args).

    `donate_argnums` are the arguments that are state; the step's results begin
    with their new values, in order. `batch_argnums` are cut along dimension 0.
    """
    directory = pathlib.Path(directory)
    args = jax.tree.map(np.asarray, list(args))
    ranges = leaf_ranges(args)
    state = state_pairs(step, args, donate_argnums)
    text = lower(step, args, donate_argnums)
    if aliases(text) != dict(state):
        raise ValueError("JAX paired donated arguments with other results")
    named = jax.tree_util.tree_leaves_with_path(list(args))
    case = Case(
        args=[
            {
                "name": jax.tree_util.keystr(path),
                "shape": list(leaf.shape),
                "dtype": str(leaf.dtype),
            }
            for path, leaf in named
        ],
        state=state,
        batch_args=[leaf for i in batch_argnums for leaf in ranges[i]],
    )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "step.mlir").write_text(text)
    arrays.save_arguments(directory / "inputs.npz", [leaf for _, leaf in named])
    (directory / "case.json").write_text(json.dumps(case.to_json(), indent=1) + "\n")
    return case


def export_gpt(config, directory, text: bytes) -> Case:
    from amsp.models import gpt

    params = gpt.init(config)
    opt_state = gpt.optimizer(config).init(params)
    tokens, targets = next(gpt.batches(config, text, 1))
    args = (params, opt_state, tokens, targets)
    return export_step(gpt.train_step(config), args, (0, 1), (2, 3), directory)


def main(argv: list[str] | None = None) -> int:
    from amsp.models import gpt

    parser = argparse.ArgumentParser(prog="python -m amsp.export")
    model = parser.add_subparsers(dest="model", required=True).add_parser("gpt")
    defaults = gpt.Config()
    for name in ("layers", "width", "heads", "sequence", "batch", "microbatches"):
        model.add_argument(f"--{name}", type=int, default=getattr(defaults, name))
    model.add_argument("--tied", action="store_true", help="tie the embeddings")
    model.add_argument("--text", type=pathlib.Path, help="default: this file's source")
    model.add_argument("--out", type=pathlib.Path, required=True)
    options = vars(parser.parse_args(argv))
    options.pop("model")
    directory, text = options.pop("out"), options.pop("text")
    try:
        data = (text or pathlib.Path(gpt.__file__)).read_bytes()
        export_gpt(gpt.Config(**options), directory, data)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
