"""Random small training steps under random strategies, against one device.

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

import jobs
import matrix
from amsp import arrays, check, export
from step_parts import normal

ROWS, LENGTH, WIDTH, VOCABULARY = 24, 4, 6, 11
STEPS = 2
GRIDS = [(1,), (2,), (3,), (4,), (6,), (8,), (2, 2), (2, 3), (3, 2), (4, 2), (2, 2, 2)]


# The batch: floats, some of them equal, tokens, labels, a mask.
def make_batch():
    rng = np.random.default_rng(0)
    x = normal(ROWS, WIDTH, seed=1)
    x[:, 2] = np.round(x[:, 2])
    tokens = rng.integers(0, VOCABULARY, (ROWS, LENGTH)).astype(np.int32)
    labels = rng.integers(0, 3, ROWS).astype(np.int32)
    mask = (rng.random((ROWS, LENGTH)) < 0.7) | (np.arange(LENGTH) == 0)
    return x, tokens, labels, mask


BATCH = make_batch()


class State:
    """What a program computes with: the values so far, and its parameters, which
    come into being when they are asked for first."""

    def __init__(self, params, batch, seed):
        self.params, self.seed = params, seed
        self.creates = params is None
        if self.creates:
            self.params = {}
        self.x, self.tokens, self.labels, self.mask = batch
        self.values = [self.x]
        self.penalty = 0.0
        self.number = 0
        self.rng = None

    @property
    def top(self):
        return self.values[-1]

    def push(self, value):
        # Sizes stay near 1: what is compared is no error of rounding.
        self.values.append(value / jnp.sqrt(1 + jnp.square(value).mean(-1, keepdims=True)))

    def parameter(self, *shape, scale=0.5):
        name = f"p{self.number:02}_{len(shape)}_{shape[0] if shape else 0}"
        if self.creates and name not in self.params:
            seed = self.seed * 1000 + self.number
            self.params[name] = normal(*shape, seed=seed, scale=scale)
        return self.params[name]

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def earlier(self, accept):
        """A value of the stack, or none."""
        found = [v for v in self.values[:-1] if accept(v)]
        return self.pick(found) if found else None


INSTRUCTIONS: dict[str, Callable[[State], None]] = {}
# The seed from which on random programs have an instruction that came later, so
# that those of smaller seeds stay what they are.
FIRST_SEEDS = {"branch": 200, "drop": 200}


def instruction(function):
    INSTRUCTIONS[function.__name__] = function
    return function


@instruction
def dense(s):
    width = int(s.rng.integers(1, 9))
    y = s.top @ s.parameter(s.top.shape[-1], width)
    if s.rng.random() < 0.6:
        y = y + s.parameter(width)
    s.push(y)


@instruction
def activate(s):
    functions = (jnp.tanh, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jnp.sin)
    functions += (jax.nn.sigmoid, jnp.abs, jnp.expm1, jax.lax.erf, jnp.arctan, jnp.square)
    s.push(s.pick(functions)(s.top))


@instruction
def normalise(s):
    axis = s.pick((-1, 0, tuple(range(s.top.ndim - 1))))
    centred = s.top - s.top.mean(axis, keepdims=True)
    scale = jax.lax.rsqrt(jnp.square(centred).mean(axis, keepdims=True) + 0.1)
    y = centred * scale
    s.push(y * s.parameter(s.top.shape[-1]) if s.rng.random() < 0.5 else y)


@instruction
def softmax(s):
    s.push(s.pick((jax.nn.softmax, jax.nn.log_softmax))(s.top, axis=-1))


@instruction
def embed(s):
    table = s.parameter(VOCABULARY, WIDTH)
    rows = table[s.tokens] if s.rng.random() < 0.7 else jnp.take(table, s.tokens % 3, axis=0)
    s.push(rows)
    if s.rng.random() < 0.4:  # tied
        s.push(s.top @ table.T)


@instruction
def attend(s):
    if s.top.ndim != 3:
        return
    width = s.top.shape[-1]
    q, k, v = jnp.split(s.top @ s.parameter(width, 3 * width), 3, axis=-1)
    scores = jnp.einsum("bqd,bkd->bqk", q, k)
    causal = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    allowed = causal if s.rng.random() < 0.5 else s.mask[:, None, :]
    weights = jax.nn.softmax(jnp.where(allowed, scores, -1e9))
    s.push(s.top + weights @ v)


@instruction
def pool(s):
    if s.top.ndim != 3:
        return
    kind = int(s.rng.integers(4))
    if kind == 0:
        mask = s.mask[..., None].astype(s.top.dtype)
        s.push((s.top * mask).sum(1) / mask.sum(1))
    elif kind == 1:
        s.push(s.top.max(1))
    elif kind == 2:
        s.push(jax.nn.logsumexp(s.top, axis=1))
    else:
        s.push(s.top.reshape(s.x.shape[0], -1))


@instruction
def combine(s):
    other = s.earlier(lambda v: v.shape == s.top.shape)
    if other is None:
        return
    s.push(s.pick((jnp.add, jnp.subtract, jnp.multiply, jnp.maximum))(s.top, other))


@instruction
def join(s):
    other = s.earlier(lambda v: v.ndim == s.top.ndim and v.shape[-1] + s.top.shape[-1] < 16)
    if other is not None:
        s.push(jnp.concatenate([s.top, other], -1))


@instruction
def cut(s):
    width = s.top.shape[-1]
    first = int(s.rng.integers(width))
    s.push(s.top[..., first : first + 1 + int(s.rng.integers(width))])


@instruction
def move(s):
    kind = int(s.rng.integers(6))
    y = s.top
    if kind == 0:
        y = jnp.flip(y, -1)
    elif kind == 1:
        y = jnp.pad(y, [(0, 0)] * (y.ndim - 1) + [(1, 2)], constant_values=0.5)
    elif kind == 2:
        y = jnp.roll(y, 1, axis=-1)
    elif kind == 3 and y.ndim == 3:
        y = y.swapaxes(1, 2) @ s.parameter(LENGTH, 3)
        y = y.swapaxes(1, 2).sum(1)
    elif kind == 4:
        y = y[..., ::2]
    else:
        y = jnp.tile(y[..., :1], 3)
    s.push(y)


@instruction
def order(s):
    kind = int(s.rng.integers(4))
    if kind == 0:
        s.push(jnp.sort(s.top, axis=-1))
    elif kind == 1:
        s.push(jnp.cumsum(s.top, axis=-1))
    elif kind == 2:
        s.push(jax.lax.top_k(s.top, min(2, s.top.shape[-1]))[0])
    else:
        s.push(jax.lax.cummax(s.top, s.top.ndim - 1))


@instruction
def select(s):
    kind = int(s.rng.integers(4))
    width = s.top.shape[-1]
    if kind == 0:
        keep = (s.labels % 2 == 0).reshape(-1, *[1] * (s.top.ndim - 1))
        s.push(jnp.where(keep, s.top, 0.1))
    elif kind == 1:
        index = (s.labels % width).reshape(-1, *[1] * (s.top.ndim - 1))
        index = jnp.broadcast_to(index, (*s.top.shape[:-1], 1))
        s.push(jnp.take_along_axis(s.top, index, axis=-1))
    elif kind == 2:
        s.push(jax.nn.one_hot(s.labels, 3, dtype=s.top.dtype) @ s.parameter(3, 4))
    else:
        total = jax.ops.segment_sum(s.top, s.labels, num_segments=3)
        s.push(total[s.labels])


@instruction
def contrast(s):
    if s.top.ndim != 2:
        return
    kind = int(s.rng.integers(4))
    if kind == 0:
        scores = s.top @ s.top.T
        s.push(jax.nn.softmax(scores) @ s.top)
    elif kind == 1:
        s.push(s.top - s.top.mean(0))
    elif kind == 2:
        s.push(s.top + jnp.roll(s.top, 1, axis=0))
    else:
        both = jnp.concatenate([s.top, -s.top])
        s.push((both - both.max(0))[: s.top.shape[0]])


@instruction
def layers(s):
    width = s.top.shape[-1]
    stack = s.parameter(3, width, width, scale=0.3)

    def layer(h, w):
        return h + jnp.tanh(h @ w), jnp.square(h).mean()

    if s.rng.random() < 0.5:
        layer = jax.checkpoint(layer)
    h, sizes = jax.lax.scan(layer, s.top, stack)
    s.penalty += 0.1 * sizes.sum()
    s.push(h)


@instruction
def recur(s):
    if s.top.ndim != 3:
        return
    w = s.parameter(s.top.shape[-1], s.top.shape[-1])

    def cell(h, row):
        h = jnp.tanh(row + h @ w)
        return h, h

    zeros = jnp.zeros_like(s.top[:, 0])
    last, every = jax.lax.scan(cell, zeros, s.top.swapaxes(0, 1))
    s.push(last if s.rng.random() < 0.5 else every.swapaxes(0, 1))


@instruction
def repeat(s):
    scale = s.parameter(s.top.shape[-1], scale=0.2)
    count = int(s.rng.integers(1, 4))
    s.push(jax.lax.fori_loop(0, count, lambda i, h: jnp.sin(h * (1 + scale)) + i, s.top))


@instruction
def recompute(s):
    w = s.parameter(s.top.shape[-1], 5)
    s.push(jax.checkpoint(lambda h, w: jnp.tanh(jnp.sin(h @ w)))(s.top, w))


@instruction
def convolve(s):
    if s.top.ndim != 3:
        return
    kernel = s.parameter(2, s.top.shape[-1], 4)
    padding = s.pick(("SAME", [(1, 0)]))
    y = jax.lax.conv_general_dilated(
        s.top, kernel, (1,), padding, dimension_numbers=("NWC", "WIO", "NWC")
    )
    s.push(y)


@instruction
def window(s):
    if s.top.ndim != 3:
        return
    y = jax.lax.reduce_window(
        s.top, -jnp.inf, jax.lax.max, (1, 2, 1), (1, 1, 1), [(0, 0), (0, 1), (0, 0)]
    )
    s.push(y)


@instruction
def scalar(s):
    s.push(s.top * (1 + s.parameter()))


@instruction
def punish(s):
    kind = int(s.rng.integers(3))
    if kind == 0:
        s.penalty += 0.1 * jnp.square(s.parameter(7)).sum()
    elif kind == 1:
        s.penalty += 0.1 * jax.nn.logsumexp(s.top)
    else:
        s.penalty += 0.1 * jnp.square(s.top.mean(0)).sum()


@instruction
def branch(s):
    """Rows, a parameter and a sum of rows, in one branch or the other."""
    w = s.parameter(s.top.shape[-1], s.top.shape[-1])
    number = s.labels.sum() if s.rng.random() < 0.5 else jnp.int32(s.rng.integers(2))
    branches = [
        lambda h: h @ w,
        lambda h: h * jax.nn.sigmoid(w.sum()),
        lambda h: h - h.mean(0),
    ]
    s.push(jax.lax.switch(number % 3, branches, jnp.asarray(s.top, w.dtype)))


@instruction
def drop(s):
    key = jax.random.fold_in(jax.random.PRNGKey(3), int(s.rng.integers(9)))
    if s.rng.random() < 0.5:
        s.push(jnp.where(jax.random.bernoulli(key, 0.8, s.top.shape), s.top, 0))
    else:
        s.push(s.top + 0.1 * jax.random.normal(key, (1, s.top.shape[-1]), s.top.dtype))


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
    names = [name for name in INSTRUCTIONS if seed >= FIRST_SEEDS.get(name, 0)]
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


# Microbatches of 12 rows have to be divided by the ranks.
def fits(program: Program, grid) -> bool:
    return program.microbatches == "none" or 12 % int(np.prod(grid)) == 0


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
        with EXPORTING:
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
        return check.check_case(directory, results).faults

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
        case = export.export_step(step, args, (0, 1), batch, directory)
        for name, wide in (("expected.npz", False), ("expected64.npz", True)):
            arrays.save_results(directory / name, reference(step, args, wide))
        return tuple(case.batch_args)


EXPORTING = threading.Lock()


# Compiled fast, as steps run for a few times only.
FAST = {"xla_backend_optimization_level": 0}
UNFUSED = FAST | {"xla_disable_hlo_passes": "fusion"}


def reference(step, args, wide):
    """Results on one device after STEPS steps."""
    results = run_on_device(step, args, wide, FAST)
    # XLA's fusion computes a value once more for each reader, and not always to
    # the same bits: the gradient of a maximum then finds no element that equals
    # it, and is 0/0. Without fusion, which takes twice as long, a NaN is true.
    if any(result.dtype.kind == "f" and np.isnan(result).any() for result in results):
        results = run_on_device(step, args, wide, UNFUSED)
    return results


def run_on_device(step, args, wide, options):
    kind = np.float64 if wide else np.float32

    def cast(value):
        value = np.asarray(value)
        return value.astype(kind) if value.dtype == np.float32 else value

    with jax.enable_x64(wide):
        args = jax.tree.map(cast, list(args))
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
        grids = [g for g in GRIDS if all(fits(p, g) for p in programs)]
        grid = grids[int(rng.integers(len(grids)))]
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
