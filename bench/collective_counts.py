"""Collectives of a training step, beside those that XLA and Shardy make of it.

    .venv/bin/python bench/collective_counts.py [--ranks 8] [--layers 2]

The step is that of a GPT with AdamW and clipping by global norm. amsp shards its
states by a strategy; for JAX, arrays of states are sharded along their first
dimension that the ranks divide, and left whole if there is none. Counted are
collective operations in a step, each once however many tensors it has:

- amsp: what the manifest lists, also without the communication optimizer;
- XLA: in the program that XLA's CPU compiler makes, sharding propagated by
  GSPMD or by Shardy;
- Shardy: in its own IR, propagated and exported with explicit collectives,
  before XLA sees it.

Prints a table in Markdown; --check fails unless docs/communication.md has it.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import os
import pathlib
import re
import tempfile
import warnings

KINDS = ("all_gather", "reduce_scatter", "all_reduce", "all_to_all", "collective_permute")
STRATEGIES = ("ddp", "zero1", "zero3")
# Which of (parameters, optimizer states) are sharded.
SHARDED = {"ddp": (False, False), "zero1": (False, True), "zero3": (True, True)}
HLO = re.compile(r"[})\]] ([a-z-]+?)(?:-start)?\(")
SDY = re.compile(r"\bsdy\.(\w+)")
SHARDY_PASSES = (
    "builtin.module(sdy-propagation-pipeline,"
    "sdy-export-pipeline{enable-insert-explicit-collectives=true})"
)


def counts(names) -> collections.Counter:
    found = collections.Counter(name.replace("-", "_") for name in names)
    return collections.Counter({kind: found[kind] for kind in KINDS})


class Model:
    def __init__(self, layers: int, ranks: int):
        import jax
        import numpy as np

        from amsp.models import gpt

        config = gpt.Config(
            layers=layers, width=32, heads=4, sequence=16, batch=ranks, vocabulary=64
        )
        params = gpt.init(config)
        tokens = np.zeros((config.batch, config.sequence), np.int32)
        self.step = gpt.train_step(config)
        self.args = (params, gpt.optimizer(config).init(params), tokens, tokens)
        self.parameters = len(jax.tree.leaves(params))

    @functools.cached_property
    def exported(self) -> pathlib.Path:
        from amsp import export

        self.directory = tempfile.TemporaryDirectory()
        directory = pathlib.Path(self.directory.name)
        export.export_step(self.step, self.args, (0, 1), (2, 3), directory)
        return directory / "step.mlir"


def count_amsp(model: Model, ranks: int, strategy: str, options=()) -> collections.Counter:
    from amsp import tools

    with tempfile.TemporaryDirectory() as name:
        output = pathlib.Path(name) / "partitioned.mlir"
        arguments = ["--cluster", f"levels={ranks}", "--strategy", strategy]
        arguments += ["--emit", "stablehlo", *options]
        tools.call("amsp-compile", model.exported, "-o", output, *arguments)
        manifest = json.loads(pathlib.Path(f"{output}.manifest.json").read_text())
    listed = manifest["collectives"]
    return counts(c["kind"] for c in listed for _ in range(c["count"]))


def amsp_rows(model: Model, ranks: int, strategy: str):
    alone = ("--no-simplify-collectives", "--no-fuse-collectives")
    yield strategy, "amsp", count_amsp(model, ranks, strategy)
    yield strategy, "amsp, optimizer off", count_amsp(model, ranks, strategy, alone)


def lower(model: Model, ranks: int, strategy: str, shardy: bool):
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()[:ranks]), ("rank",))
    whole = NamedSharding(mesh, PartitionSpec())

    def shard(value):
        for dim, size in enumerate(np.shape(value)):
            if size % ranks == 0:
                return NamedSharding(mesh, PartitionSpec(*[None] * dim, "rank"))
        return whole

    def placed(tree, sharded):
        return jax.tree.map(shard if sharded else lambda _: whole, tree)

    params, states = (placed(t, s) for t, s in zip(model.args, SHARDED[strategy]))
    rows = NamedSharding(mesh, PartitionSpec("rank"))
    jax.config.update("jax_use_shardy_partitioner", shardy)
    return jax.jit(
        model.step,
        in_shardings=(params, states, rows, rows),
        out_shardings=(params, states, whole),
        donate_argnums=(0, 1),
    ).lower(*model.args)


def count_shardy(lowered) -> collections.Counter:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir, passmanager

    with mlir.make_ir_context():
        module = ir.Module.parse(lowered.as_text())
        passmanager.PassManager.parse(SHARDY_PASSES).run(module.operation)
        return counts(SDY.findall(module.operation.get_asm()))


def rows(model: Model, ranks: int):
    """(strategy, who, counts)"""
    for strategy in STRATEGIES:
        yield from amsp_rows(model, ranks, strategy)
        for name, shardy in (("XLA, GSPMD", False), ("XLA, Shardy", True)):
            lowered = lower(model, ranks, strategy, shardy)
            yield strategy, name, counts(HLO.findall(lowered.compile().as_text()))
        yield strategy, "Shardy's passes", count_shardy(lowered)


PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/communication.md"


def row(strategy: str, who: str, found: collections.Counter) -> str:
    cells = [found[kind] for kind in KINDS] + [found.total()]
    return f"| {strategy} | {who} | " + " | ".join(map(str, cells)) + " |"


def is_on_page(strategy: str, who: str, found: collections.Counter) -> bool:
    """The page has one row for XLA, with whichever propagation."""
    who = "XLA" if who.startswith("XLA") else who
    return row(strategy, who, found) in PAGE.read_text().splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    devices = f"--xla_force_host_platform_device_count={options.ranks}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {devices}".strip()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")
    model = Model(options.layers, options.ranks)
    print(f"{model.parameters} parameter tensors, {options.ranks} ranks\n")
    print("| strategy | | " + " | ".join(KINDS) + " | all |")
    print("|---|---|" + "--:|" * (len(KINDS) + 1))
    wrong = 0
    for strategy, who, found in rows(model, options.ranks):
        print(row(strategy, who, found), flush=True)
        wrong += not is_on_page(strategy, who, found)
    if options.check and wrong:
        raise SystemExit(f"error: {wrong} rows are not those of {PAGE.name}")


if __name__ == "__main__":
    main()
