"""Random small training steps under random strategies, against jaxlib's interpreter
on one device, in float64, with the error of its float32 run as the yardstick.

    scripts/fuzz.sh [--count N] [--seed S] [--jobs J]

A program is a list of instructions, each a name and a seed, which change a stack
of values; any list is a program, so a failing one is reduced by leaving
instructions out. Several programs share one module, since most of the time goes
into processes and compilations.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax

import fuzz_unusual  # noqa: F401
import fuzz_usual  # noqa: F401
import interpreter
import jobs
import matrix
from amsp import arrays, check, export
from fuzz_state import BATCH, FIRST_SEEDS, INSTRUCTIONS, State

STEPS = 2
GRIDS = [(1,), (2,), (3,), (4,), (6,), (8,), (2, 2), (2, 3), (3, 2), (4, 2), (2, 2, 2)]


OPTIMIZERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "sgd": lambda: optax.sgd(0.1),
    "momentum": lambda: optax.sgd(0.1, momentum=0.9),
    "adam": lambda: optax.adam(0.01, eps=1e-3),
    "clipped": lambda: optax.chain(
        optax.clip_by_global_norm(0.1), optax.adamw(0.01, eps=1e-3)
    ),
    "lamb": lambda: optax.lamb(0.01, eps=1e-3),
}
LOSSES = ("square", "labels", "masked", "largest")
MICROBATCHES = ("none", "none", "blocks", "every")


@dataclasses.dataclass(frozen=True)
class Program:
    seed: int
    instructions: tuple[tuple[str, int], ...]
    loss: str
    optimizer: str
    microbatches: str

    def compute_loss(self, params, batch, created=None):
        s = State(params, batch, self.seed)
        for name, seed in self.instructions:
            # Numbered by seed, so that leaving out others changes nothing.
            s.number, s.rng = seed % 97, np.random.default_rng(seed)
            INSTRUCTIONS[name](s)
        s.number, s.rng = 98, np.random.default_rng(self.seed)
        value = self.reduce(s) + s.penalty
        if created is not None:
            created.update(s.params)
        return value

    def reduce(self, s):
        if self.loss == "labels":
            h = s.top.reshape(s.top.shape[0], -1)
            logits = h @ s.parameter(h.shape[-1], 3)
            return optax.softmax_cross_entropy_with_integer_labels(logits, s.labels).mean()
        h = s.top @ s.parameter(s.top.shape[-1], 2)
        if self.loss == "masked" and h.ndim == 3:
            mask = s.mask[..., None].astype(h.dtype)
            return (jnp.square(h) * mask).sum() / mask.sum()
        if self.loss == "largest":
            return jnp.square(h).max(-1).mean()
        return jnp.square(h - s.x[:, :1].reshape(-1, *[1] * (h.ndim - 1))).mean()

    def parameters(self):
        created = {}
        jax.eval_shape(lambda: self.compute_loss(None, BATCH, created))
        return created

    def update(self, params, state, batch):
        value, gradients = self.gradients(params, batch)
        updates, state = OPTIMIZERS[self.optimizer]().update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value

    def gradients(self, params, batch):
        value_and_grad = jax.value_and_grad(self.compute_loss)
        if self.microbatches == "none":
            return value_and_grad(params, batch)

        def microbatches(t):
            if self.microbatches == "every":
                return t.reshape(-1, 2, *t.shape[1:]).swapaxes(0, 1)
            return t.reshape(2, -1, *t.shape[1:])

        def add(total, rows):
            return jax.tree.map(jnp.add, total, value_and_grad(params, rows)), None

        zeros = (jnp.zeros((), batch[0].dtype), jax.tree.map(jnp.zeros_like, params))
        total, _ = jax.lax.scan(add, zeros, tuple(map(microbatches, batch)))
        return jax.tree.map(lambda t: t / 2, total)


def random_program(seed: int) -> Program:
    rng = np.random.default_rng(seed)
    names = [name for name in INSTRUCTIONS if seed >= FIRST_SEEDS[name]]
    count = int(rng.integers(2, 10))
    chosen = [names[int(i)] for i in rng.integers(0, len(names), count)]
    if rng.random() < 0.6:
        chosen.insert(0, "embed")
    numbers = rng.permutation(97)[: len(chosen)]
    seeds = [int(n) + 97 * int(rng.integers(1000)) for n in numbers]
    return Program(
        seed,
        tuple(zip(chosen, seeds)),
        LOSSES[int(rng.integers(len(LOSSES)))],
        list(OPTIMIZERS)[int(rng.integers(len(OPTIMIZERS)))],
        MICROBATCHES[int(rng.integers(len(MICROBATCHES)))],
    )


@dataclasses.dataclass(frozen=True)
class Trial(jobs.Job):
    """Programs in one step, under one strategy, by one path."""

    programs: tuple[Program, ...]
    grid: tuple[int, ...]
    strategy: str
    path: str

    def __str__(self):
        seeds = f"{self.programs[0].seed}-{self.programs[-1].seed}"
        return f"{seeds}-{matrix.cluster(self.grid)}-{self.strategy}-{self.path}"

    def run(self, directory: pathlib.Path) -> list[str]:
        """What is wrong."""
        directory.mkdir(parents=True, exist_ok=True)
        batch_args = self.prepare(directory)
        results, _ = jobs.compile_and_run(
            directory / "step.mlir",
            directory / "inputs.npz",
            directory,
            matrix.cluster(self.grid),
            self.strategy,
            self.path,
            STEPS,
            batch_args,
        )
        faults = check.check_case(directory, results).faults
        if faults and self.path == "stablehlo" and holds_nan(np.load(results).values()):
            program = directory / "step.partitioned.mlir"
            inputs = directory / "inputs.npz"
            jobs.run_under_xla([program], inputs, [results], STEPS, UNFUSED_FLAG)
            faults = check.check_case(directory, results).faults
        return faults

    def prepare(self, directory):
        params = [program.parameters() for program in self.programs]
        states = [
            OPTIMIZERS[program.optimizer]().init(p)
            for program, p in zip(self.programs, params)
        ]

        def step(params, states, *batch):
            results = [
                program.update(p, state, batch)
                for program, p, state in zip(self.programs, params, states)
            ]
            return tuple([result[i] for result in results] for i in range(3))

        args = (params, states, *BATCH)
        batch = tuple(range(2, 2 + len(BATCH)))
        wide = directory / "wide"
        with EXPORTING:
            case = export.export_step(step, args, (0, 1), batch, directory)
            with jax.enable_x64(True):
                export.export_step(step, widened(args), (0, 1), batch, wide)
        runs = [
            (directory / "step.mlir", directory / "inputs.npz", directory / "expected.npz"),
            (wide / "step.mlir", wide / "inputs.npz", directory / "expected64.npz"),
        ]
        if not interpreter.run_apart(runs, STEPS, len(case.state)):
            with EXPORTING:
                results = reference(step, args)
                with jax.enable_x64(True):
                    results64 = reference(step, widened(args))
            arrays.save_results(directory / "expected.npz", results)
            arrays.save_results(directory / "expected64.npz", results64)
        return tuple(case.batch_args)


EXPORTING = threading.Lock()


UNFUSED = {"xla_disable_hlo_passes": "fusion"}
UNFUSED_FLAG = "--xla_disable_hlo_passes=fusion"


def widened(args):
    def cast(value):
        value = np.asarray(value)
        return value.astype(np.float64) if value.dtype == np.float32 else value

    return jax.tree.map(cast, args)


def reference(step, args):
    """Results on one device after STEPS steps, by XLA."""
    results = run_on_device(step, args, {})
    if holds_nan(results):
        results = run_on_device(step, args, UNFUSED)
    return results


def holds_nan(results) -> bool:
    """XLA's fusion computes a value once more for each reader, and not always to the
    same bits: the gradient of a maximum then finds no element that equals it, and is
    0/0. Without fusion, which takes twice as long, a NaN is true."""
    return any(result.dtype.kind == "f" and np.isnan(result).any() for result in results)


def run_on_device(step, args, options):
    args = list(args)
    compiled = jax.jit(step).lower(*args).compile(options)
    for _ in range(STEPS):
        results = compiled(*args)
        args[:2] = results[:2]
    return [np.asarray(leaf) for leaf in jax.tree.leaves(results)]


def trials(first: int, count: int, together: int = 10) -> list[Trial]:
    found = []
    for number in range(0, count, together):
        seeds = range(first + number, first + min(number + together, count))
        programs = tuple(map(random_program, seeds))
        rng = np.random.default_rng(first + number)
        grid = GRIDS[int(rng.integers(len(GRIDS)))]
        strategies = matrix.strategies(grid)
        strategy = strategies[int(rng.integers(len(strategies)))]
        path = jobs.PATHS[(number // together) % len(jobs.PATHS)]
        found.append(Trial(programs, grid, strategy, path))
    return found


def faults_of(trial: Trial) -> list[str]:
    """Of a run of its own; an error of a tool is a fault."""
    directory = pathlib.Path(tempfile.mkdtemp())
    try:
        return trial.run(directory)
    except Exception as error:
        return [f"{type(error).__name__}: {str(error).splitlines()[0][:300]}"]
    finally:
        shutil.rmtree(directory)


def reduced(trial: Trial) -> Trial:
    """One failing program of a trial with as few instructions as fail."""
    for program in trial.programs:
        one = dataclasses.replace(trial, programs=(program,))
        if faults_of(one):
            break
    else:
        return trial
    shrinks = True
    while shrinks:
        shrinks = False
        for index in range(len(program.instructions)):
            kept = program.instructions[:index] + program.instructions[index + 1 :]
            fewer = dataclasses.replace(program, instructions=kept)
            if faults_of(dataclasses.replace(trial, programs=(fewer,))):
                program, shrinks = fewer, True
                break
    for change in ({"microbatches": "none"}, {"optimizer": "sgd"}, {"loss": "square"}):
        simpler = dataclasses.replace(program, **change)
        if faults_of(dataclasses.replace(trial, programs=(simpler,))):
            program = simpler
    return dataclasses.replace(trial, programs=(program,))


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz.sh")
    parser.add_argument("--count", type=int, default=10_000, help="programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(argv)
    os.environ["XLA_FLAGS"] = jobs.fast_xla_flags()
    failed = done = 0
    todo = trials(options.seed, options.count)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for trial, faults in zip(todo, pool.map(faults_of, todo)):
            done += len(trial.programs)
            if faults:
                failed += 1
                print(f"FAILED: {trial}: {faults[0]}", flush=True)
                small = reduced(trial)
                print(f"reduced: {small!r}: {faults_of(small)}", flush=True)
            if done % 500 < len(trial.programs):
                print(f"{done} programs, {failed} trials failed", flush=True)
    print(f"{done} programs, {failed} trials failed")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
