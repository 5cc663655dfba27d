"""Exports a training step of JAX as the files that amsp-compile reads.

    python -m amsp.export llama --config config.json --seq 4096 --microbatch 1 \\
        --microbatches 4 --ranks 64 --param-dtype bf16 -o step.mlir
    python -m amsp.export gpt --layers 4 --width 128 --heads 4 --sequence 64 \\
        --batch 32 --microbatches 2 --out DIR

The first writes the step of a model that transformers describe (`llama`,
`gpt2`), from shapes alone. The second makes a directory with `step.mlir`
(StableHLO text with debug locations, which carry the arguments' names),
`inputs.npz` (`arg0`, ...: the initial state and a first batch) and `case.json`
(what the arguments are).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import sys
from collections.abc import Callable, Sequence

import jax
import numpy as np

from amsp import arrays
from amsp.models import gpt, language
from amsp.models.training import AdamW, Training

# What export_step writes.
CASE_FILES = ("step.mlir", "inputs.npz", "case.json")

DTYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}


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
    return numbers_of_arguments(text, "tf.aliasing_output")


def numbers_of_arguments(text: str, attribute: str) -> dict[int, int]:
    """The arguments of the module's main function that have the attribute, and
    its number."""
    signature = next(line for line in text.splitlines() if "@main(" in line)
    found = {}
    for piece in re.split(r"%arg(?=\d+: )", signature)[1:]:
        number = re.search(rf"{re.escape(attribute)} = (\d+)", piece)
        if number:
            found[int(piece.split(":")[0])] = int(number.group(1))
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


def step_text(
    step: Callable, args: Sequence, donate_argnums: Sequence[int]
) -> tuple[str, list[tuple[int, int]]]:
    """The step as StableHLO text and its pairs (argument, new value). Shapes and
    types of `args` suffice (jax.ShapeDtypeStruct)."""
    state = state_pairs(step, args, donate_argnums)
    text = lower(step, args, donate_argnums)
    if aliases(text) != dict(state):
        raise ValueError("JAX paired donated arguments with other results")
    return text, state


def verify_outputs(outputs: Sequence, inputs: Sequence) -> None:
    """ValueError if an output exists and is one of the inputs, by any name."""
    for output in map(pathlib.Path, outputs):
        for read in map(pathlib.Path, inputs):
            if output.is_file() and read.is_file() and output.samefile(read):
                raise ValueError(
                    f"output '{output}' is the input '{read}': it would be overwritten"
                )


def write_text(path: str | pathlib.Path, text: str) -> None:
    """The whole file, or none."""
    path = pathlib.Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def is_key(leaf) -> bool:
    """A typed key of random numbers (jax.random.key)."""
    dtype = getattr(leaf, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def words_of_key(leaf):
    """What a step computes with in the place of a typed key; others as they are."""
    return jax.random.key_data(leaf) if is_key(leaf) else leaf


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
    Of a typed key (jax.random.key) the files have the words.
    """
    directory = pathlib.Path(directory)
    args = [
        jax.tree.map(lambda leaf: leaf if is_key(leaf) else np.asarray(leaf), arg) for arg in args
    ]
    ranges = leaf_ranges(args)
    text, state = step_text(step, args, donate_argnums)
    values = jax.tree.map(lambda leaf: np.asarray(words_of_key(leaf)), args)
    named = jax.tree_util.tree_leaves_with_path(values)
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
    step_file, inputs, description = (directory / name for name in CASE_FILES)
    write_text(step_file, text)
    arrays.save_arguments(inputs, [leaf for _, leaf in named])
    write_text(description, json.dumps(case.to_json(), indent=1) + "\n")
    return case


def export_gpt(config, directory, text: bytes) -> Case:
    params = gpt.init(config)
    opt_state = gpt.optimizer(config).init(params)
    tokens, targets = next(gpt.batches(config, text, 1))
    args = (params, opt_state, tokens, targets)
    return export_step(gpt.train_step(config), args, (0, 1), (2, 3), directory)


def export_language_model(model: language.LanguageModel, path) -> None:
    """Writes the model's training step to the file `path`, from shapes alone."""
    text, _ = step_text(model.step, model.argument_shapes, (0, 1))
    write_text(path, text)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value


def add_language_model(models, family: str) -> None:
    parser = models.add_parser(
        family,
        help=f"the step of a {family} model, from a config.json of transformers",
        description="The batch of the exported step is microbatch x microbatches x "
        "ranks sequences; it is planned and compiled for clusters of that many "
        "ranks. (A cluster of another size divides the same batch otherwise.)",
    )
    parser.add_argument("--config", type=pathlib.Path, required=True)
    parser.add_argument("--seq", type=positive, required=True, help="tokens")
    parser.add_argument(
        "--microbatch",
        type=positive,
        default=1,
        help="sequences of a rank and microbatch (default: 1)",
    )
    parser.add_argument(
        "--microbatches",
        type=positive,
        default=1,
        help="microbatches of a step, in a loop that accumulates gradients",
    )
    parser.add_argument(
        "--ranks", type=positive, default=8, help="of the cluster (default: 8)"
    )
    parser.add_argument(
        "--param-dtype",
        choices=DTYPES,
        default="f32",
        help="parameters of 16 bits have f32 masters among the optimizer's states",
    )
    parser.add_argument(
        "--grad-dtype",
        choices=DTYPES,
        help="in which microbatches are accumulated (default: that of parameters)",
    )
    parser.add_argument(
        "--clip",
        type=float,
        default=AdamW.clip,
        help="the gradients' global norm (default: %(default)s; 0: not)",
    )
    parser.add_argument(
        "--scan-layers", action="store_true", help="stack the layers, and scan over them"
    )
    parser.add_argument(
        "--remat", action="store_true", help="recompute each layer in backward"
    )
    parser.add_argument(
        "-o", dest="out", type=pathlib.Path, default=pathlib.Path("step.mlir")
    )


def add_gpt(models) -> None:
    parser = models.add_parser("gpt", help="a small byte-level GPT with its first batch")
    defaults = gpt.Config()
    for name in ("layers", "width", "heads", "sequence", "batch", "microbatches"):
        parser.add_argument(f"--{name}", type=int, default=getattr(defaults, name))
    parser.add_argument("--tied", action="store_true", help="tie the embeddings")
    parser.add_argument("--text", type=pathlib.Path, help="default: this file's source")
    parser.add_argument("--out", type=pathlib.Path, required=True)


def run(options: dict) -> None:
    family = options.pop("model")
    if family == "gpt":
        directory, text = options.pop("out"), options.pop("text")
        text = text or pathlib.Path(gpt.__file__)
        verify_outputs([directory / name for name in CASE_FILES], [text])
        data = text.read_bytes()
        export_gpt(gpt.Config(**options), directory, data)
        return
    verify_outputs([options["out"]], [options["config"]])
    microbatches = options["microbatches"]
    model = language.LanguageModel(
        family,
        language.FAMILIES[family].Config.read(options["config"]),
        sequence=options["seq"],
        rows=options["microbatch"] * microbatches * options["ranks"],
        training=Training(
            microbatches,
            DTYPES[options["param_dtype"]],
            options["grad_dtype"] and DTYPES[options["grad_dtype"]],
            AdamW(clip=options["clip"]),
        ),
        scan_layers=options["scan_layers"],
        remat=options["remat"],
    )
    export_language_model(model, options["out"])
    print(
        f"{options['out']}: {model.rows} sequences of {model.sequence} tokens, "
        f"{options['microbatch']} a rank and microbatch for {options['ranks']} ranks "
        f"and {microbatches} microbatch(es)"
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m amsp.export")
    models = parser.add_subparsers(dest="model", required=True)
    for family in language.FAMILIES:
        add_language_model(models, family)
    add_gpt(models)
    try:
        run(vars(parser.parse_args(argv)))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
