"""Every kind of step, on every grid, under every strategy, by every path: on both
transports, and what --emit stablehlo writes under XLA.

    scripts/matrix.sh [--kinds NAMES] [--worlds NUMBERS] [--paths NAMES]
                      [--share I/N] [--steps K] [--jobs J]

Each step runs K times on the same batch and is compared with JAX on one device
(amsp.check). `--share 2/50` takes every 50th combination, beginning with the
second. Prints a table of kinds and worlds; exits with 1 if a number is wrong, a
tool fails or does not end.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import traceback

import jobs
import matrix
import steps
from amsp import check, tools
from kinds import KINDS

PATHS = ("threads", "mpi", "xla")
SECONDS = 600


def grids(world: int) -> list[tuple[int, ...]]:
    """Every way to write the world as levels of more than one rank."""
    found = [(world,)]
    for inner in range(2, world):
        if world % inner == 0:
            found += [(inner, *outer) for outer in grids(world // inner)]
    return found


def rows(world: int) -> int:
    """That ranks, and two or three microbatches, divide; up to four ranks there are
    as many in all worlds, so that what is exported once serves several."""
    return 6 * max(world, 4)


@dataclasses.dataclass(frozen=True)
class Combination:
    kind: str
    world: int
    grid: tuple[int, ...]
    strategy: str

    def __str__(self):
        return f"{self.kind} {matrix.cluster(self.grid)} {self.strategy}"


def combinations(kinds, worlds) -> list[Combination]:
    return [
        Combination(kind, world, grid, strategy)
        for kind in kinds
        for world in worlds
        for grid in grids(world)
        for strategy in matrix.strategies(grid)
    ]


def groups(chosen: list[Combination]) -> list[list[Combination]]:
    """Of one kind and grid, which run together."""
    together = itertools.groupby(chosen, lambda one: (one.kind, one.grid))
    return [list(group) for _, group in together]


class Runner:
    def __init__(self, root: pathlib.Path, count: int, paths):
        self.root, self.count, self.paths = root, count, paths
        self.ready = {}
        self.exporting = threading.Lock()

    def prepared(self, kind: str, batch: int) -> steps.Prepared:
        with self.exporting:
            if (kind, batch) not in self.ready:
                step = dataclasses.replace(KINDS[kind](batch), steps=self.count)
                directory = self.root / f"{kind}-{batch}"
                self.ready[kind, batch] = steps.prepare(step, directory)
            return self.ready[kind, batch]

    def run(self, number: int, group: list[Combination]) -> list[list[str]]:
        """What is wrong of each of them, one text per path. They are of one kind and
        one world."""
        directory = self.root / str(number)
        directory.mkdir()
        try:
            ready = self.prepared(group[0].kind, rows(group[0].world))
            by_path = [self.run_by(path, group, ready, directory) for path in self.paths]
            return [list(faults) for faults in zip(*by_path, strict=True)]
        except Exception as error:
            return [[self.describe(error)] * len(self.paths) for _ in group]
        finally:
            shutil.rmtree(directory)

    def run_by(self, path, group, ready, directory) -> list[str]:
        directories = [directory / str(number) for number in range(len(group))]
        if path == "xla":
            self.run_under_xla(group, ready, directories)
        return [
            self.faults_of(path, one, ready, place) for one, place in zip(group, directories)
        ]

    def run_under_xla(self, group, ready, directories) -> None:
        """In one process, which takes longer to start than a small program to compile and
        run. What gives no result here is run by itself, and says why."""
        programs, outputs = [], []
        try:
            for one, place in zip(group, directories):
                programs.append(self.compiled("xla", one, ready, place))
                outputs.append(place / "xla.npz")
            inputs = ready.directory / "inputs.npz"
            jobs.run_under_xla(programs, inputs, outputs, self.count)
        except Exception:
            for output in outputs:
                output.unlink(missing_ok=True)

    def faults_of(self, path, one: Combination, ready, directory) -> str:
        inputs, output = ready.directory / "inputs.npz", directory / f"{path}.npz"
        try:
            program = self.compiled(path, one, ready, directory)
            if path != "xla":
                options = ("--transport", path)
                tools.run_step(program, inputs, output, self.count, *options, timeout=SECONDS)
            elif not output.exists():
                jobs.run_under_xla([program], inputs, [output], self.count)
            return "; ".join(check.check_case(ready.directory, output).faults)
        except Exception as error:
            return self.describe(error)

    def compiled(self, path, one: Combination, ready, directory) -> pathlib.Path:
        """Once for both transports."""
        directory.mkdir(exist_ok=True)
        program = directory / ("step.mlir" if path == "xla" else "step.so")
        if not program.exists():
            tools.compile_step(
                ready.directory / "step.mlir",
                program,
                matrix.cluster(one.grid),
                one.strategy,
                ready.batch_args,
                emit="stablehlo" if path == "xla" else "so",
                timeout=SECONDS,
            )
        return program

    @staticmethod
    def describe(error: Exception) -> str:
        if isinstance(error, tools.ToolError):
            return "; ".join(str(error).splitlines()[:5])
        return traceback.format_exc(limit=-1)


def print_table(outcomes, kinds, worlds):
    """`passed/run` by kind and world."""
    width = max(map(len, kinds))
    print(f"{'':{width}}", *(f"{world:>9}" for world in worlds))
    for kind in kinds:
        cells = []
        for world in worlds:
            results = outcomes[kind, world]
            passed = sum(not fault for fault in results)
            cells.append(f"{passed}/{len(results)}" if results else "-")
        print(f"{kind:{width}}", *(f"{cell:>9}" for cell in cells))


def names(text: str) -> list[str]:
    return text.split(",")


def parse(argv):
    parser = argparse.ArgumentParser(prog="scripts/matrix.sh")
    parser.add_argument("--kinds", type=names, default=list(KINDS))
    parser.add_argument(
        "--worlds", type=lambda text: list(map(int, names(text))), default=range(1, 9)
    )
    parser.add_argument("--paths", type=names, default=list(PATHS))
    parser.add_argument("--share", default="1/1", help="I/N: every N-th, from the I-th")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(argv)
    for kind in options.kinds:
        if kind not in KINDS:
            parser.error(f"no kind {kind}; there are {', '.join(KINDS)}")
    for path in options.paths:
        if path not in PATHS:
            parser.error(f"no path {path}; there are {', '.join(PATHS)}")
    return options


def main(argv=None) -> int:
    options = parse(argv)
    first, every = map(int, options.share.split("/"))
    chosen = combinations(options.kinds, options.worlds)[first - 1 :: every]
    outcomes = collections.defaultdict(list)
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        runner = Runner(pathlib.Path(directory), options.steps, options.paths)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            together = groups(chosen)
            results = pool.map(runner.run, range(len(together)), together)
            for one, faults in zip(chosen, itertools.chain.from_iterable(results)):
                outcomes[one.kind, one.world] += faults
                for path, fault in zip(options.paths, faults):
                    if fault:
                        failed += 1
                        print(f"FAILED: {one} {path}: {fault}", flush=True)
    print_table(outcomes, options.kinds, options.worlds)
    total = len(chosen) * len(options.paths)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
