"""Strategies of a step, predicted from a profile of this machine and measured.

    .venv/bin/python bench/predicted_order.py [--ranks 2,4]
        [--transports threads,mpi] [--rounds 3] [--steps 5]

For each number of ranks and transport, amsp-profile measures the machine, and
amsp-plan predicts from that file the step of a GPT under each strategy: one
sequence a rank, so that communication matters (4 layers, width 512, vocabulary
1024, AdamW). Then the compiled steps run in turn. Prints for each strategy the
simulated and the median measured step, their quotient, and for each pair whose
measured medians differ by more than the spread of the runs (the larger of the
two distances between quartiles) whether the prediction has it in that order.
Exits with 1 if a pair is in the other order.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import pathlib
import statistics
import sys
import tempfile

import numpy as np

from amsp import export, tools
from amsp.models import gpt

STRATEGIES = ("zero1", "zero2", "zero3", "ddp")
MODEL = dict(layers=4, width=512, heads=8, vocabulary=1024, sequence=64)


@dataclasses.dataclass
class Contender:
    strategy: str
    compiled: pathlib.Path
    predicted: float  # seconds
    seconds: list[float] = dataclasses.field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return high - low


def export_gpt(ranks: int, directory: pathlib.Path) -> export.Case:
    config = gpt.Config(batch=ranks, **MODEL)
    params = gpt.init(config)
    shape = (config.batch, config.sequence + 1)
    rows = np.random.default_rng(0).integers(0, config.vocabulary, shape, np.int32)
    return export.export_step(
        gpt.train_step(config),
        (params, gpt.optimizer(config).init(params), rows[:, :-1], rows[:, 1:]),
        donate_argnums=(0, 1),
        batch_argnums=(2, 3),
        directory=directory,
    )


def prepare(ranks: int, transport: str, directory: pathlib.Path) -> list[Contender]:
    case = export_gpt(ranks, directory)
    cluster, step = directory / "here.yaml", directory / "step.mlir"
    profile = ("--ranks", ranks, "--transport", transport, "--max-gemm", 512)
    tools.call("amsp-profile", "-o", cluster, *profile)
    batch = ",".join(map(str, case.batch_args))
    contenders = []
    for strategy in STRATEGIES:
        given = ("--cluster", cluster, "--strategy", strategy, "--batch-args", batch)
        plan = json.loads(tools.call("amsp-plan", step, *given, "--format", "json").stdout)
        compiled = directory / f"{strategy}.so"
        tools.call("amsp-compile", step, "-o", compiled, *given)
        contenders.append(Contender(strategy, compiled, plan["plan"]["seconds"]))
    return contenders


def measure(contenders, transport, rounds, steps, directory):
    inputs, outputs = directory / "inputs.npz", directory / "outputs.npz"
    log = directory / "log.jsonl"
    for _ in range(rounds):
        for contender in contenders:
            log.unlink(missing_ok=True)
            options = ("--transport", transport, "--log", log)
            tools.run_step(contender.compiled, inputs, outputs, steps + 1, *options)
            lines = log.read_text().splitlines()
            # The first step touches memory first.
            contender.seconds += [json.loads(line)["seconds"] for line in lines[1:]]


def report(ranks: int, transport: str, contenders: list[Contender]) -> bool:
    """Prints the table; whether all pairs that can be told apart are in order."""
    print(f"\n| {ranks} ranks, {transport} | predicted ms | measured ms | quotient |")
    print("|---|---|---|---|")
    for c in contenders:
        quotient = c.predicted / c.median
        print(f"| {c.strategy} | {c.predicted * 1e3:.1f} | {c.median * 1e3:.1f} | {quotient:.2f} |")
    told, right = 0, 0
    for a, b in itertools.combinations(contenders, 2):
        if abs(a.median - b.median) <= max(a.spread, b.spread):
            continue
        told += 1
        right += (a.median < b.median) == (a.predicted < b.predicted)
    print(f"\n{right} of {told} pairs that the runs tell apart are in the predicted order")
    return right == told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--transports", default="threads,mpi")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5, help="measured in each round")
    given = parser.parse_args()
    in_order = True
    for ranks in map(int, given.ranks.split(",")):
        for transport in given.transports.split(","):
            with tempfile.TemporaryDirectory() as name:
                directory = pathlib.Path(name)
                contenders = prepare(ranks, transport, directory)
                measure(contenders, transport, given.rounds, given.steps, directory)
                in_order &= report(ranks, transport, contenders)
    return 0 if in_order else 1


if __name__ == "__main__":
    sys.exit(main())
