"""Small training steps, each made to bring out one class of faults."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import threading
from collections.abc import Callable

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax

import attentions
import jobs
from amsp import arrays, check, export, reference
from amsp.models import gpt, language, training
from amsp.models.training import AdamW, Training
from kinds import KINDS
from step_parts import Step, mlp, mlp_loss, normal, sgd, with_optimizer


def wide_mlp() -> Step:
    """On 1024 ranks, pieces and local batches still have several elements."""

    def loss(params, x):
        return jnp.square(jnp.tanh(x @ params["w0"]) @ params["w1"]).mean()

    params = {"w0": normal(64, 128, seed=1), "w1": normal(128, 32, seed=2)}
    batch = (normal(4096, 64, seed=3),)
    return with_optimizer(loss, optax.adam(0.01), params, batch, steps=1)


def norms() -> Step:
    """Clips by the 2-norm; the three norms are results."""

    def loss(params, x):
        return jnp.square(x @ params["w"] + params["b"]).mean()

    def step(params, x):
        gradients = jax.grad(loss)(params, x)
        leaves = jax.tree.leaves(gradients)
        one = sum(jnp.abs(g).sum() for g in leaves)
        two = jnp.sqrt(sum(jnp.square(g).sum() for g in leaves))
        top = functools.reduce(jnp.maximum, [jnp.abs(g).max() for g in leaves])
        scale = 0.5 / jnp.maximum(two, 0.5)
        new = jax.tree.map(lambda p, g: p - scale * g, params, gradients)
        return new, one, two, top

    params = {"w": normal(6, 5, seed=1), "b": normal(1, seed=2)}
    return Step(step, (params, normal(12, 6, seed=3)), 1)


def mixed_types() -> Step:
    """Units of bfloat16 matrices and float32 norms, each updated in its type."""

    def loss(params, x, y):
        for layer in params["layers"]:
            root = jax.lax.rsqrt(jnp.square(x).mean(1, keepdims=True) + 1e-3)
            scaled = x * root * layer["scale"] + layer["bias"]
            for name in "w", "v":
                scaled = jnp.tanh(scaled.astype(layer[name].dtype) @ layer[name])
            x = x + scaled.astype(x.dtype)
        return jnp.square(x - y).mean()

    def layer(seed):
        matrices = {name: normal(6, 6, seed=seed + i) for i, name in enumerate("wv")}
        return {
            **{name: value.astype(ml_dtypes.bfloat16) for name, value in matrices.items()},
            "scale": 1 + 0.1 * normal(6, seed=seed + 2),
            "bias": normal(6, seed=seed + 3),
        }

    batch = (normal(8, 6, seed=9), normal(8, 6, seed=10))
    params = {"layers": [layer(1), layer(5)]}
    return with_optimizer(loss, optax.sgd(0.25), params, batch)


def shards_3_and_4() -> Step:
    def step(w, x):
        gradient = jax.grad(lambda w: (x * w).sum(1).mean())(w)
        norm = jnp.sqrt(jnp.square(gradient).sum())
        return w - gradient / jnp.maximum(norm, 1.0), norm

    x = np.tile(np.array([3, 4], np.float32), (12, 1))
    return Step(step, (np.zeros(2, np.float32), x), 1, steps=1)


def trust_ratio() -> Step:
    """Reads norms of state that rests in padded pieces."""

    def loss(params, x):
        return sum(
            jnp.tanh(p * x[:, : p.size]).sum(1).mean() for p in params.values()
        )

    def step(params, x):
        value, gradients = jax.value_and_grad(loss)(params, x)

        def update(p, g):
            ratio = jnp.sqrt(jnp.square(p).sum()) / jnp.sqrt(jnp.square(g).sum())
            return p - 0.1 * ratio * g

        largest = functools.reduce(jnp.maximum, [p.max() for p in params.values()])
        return jax.tree.map(update, params, gradients), value, largest

    params = {f"p{size}": -1 - np.abs(normal(size, seed=size)) for size in (1, 5, 7)}
    return Step(step, (params, normal(12, 7, seed=1)), 1)


def small_gpt(layers=1, microbatches=1, tied=False) -> Step:
    config = gpt.Config(
        layers=layers,
        width=8,
        heads=2,
        sequence=4,
        batch=12,
        vocabulary=13,
        tied=tied,
    )
    tokens = np.random.default_rng(0).integers(0, 13, (2, 12, 4)).astype(np.int32)
    loss = functools.partial(gpt.loss, config)
    optimizer = optax.sgd(0.5, momentum=0.9)
    return with_optimizer(loss, optimizer, gpt.init(config), tokens, microbatches)


def language_model(family, keys, **options) -> Step:
    training = Training(microbatches=3, adamw=AdamW(learning_rate=0.02, warmup=0))
    config = language.FAMILIES[family].Config.from_keys(keys)
    model = language.LanguageModel(family, config, 5, 12, training, **options)
    tokens = np.random.default_rng(0).integers(0, 13, (2, 12, 5)).astype(np.int32)
    return Step(model.step, (*model.initial_state(), *tokens), 2)


def small_llama(**options) -> Step:
    keys = {
        "hidden_size": 8,
        "intermediate_size": 12,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_hidden_layers": 2,
        "vocab_size": 13,
    }
    return language_model("llama", keys, **options)


def small_gpt2(**options) -> Step:
    keys = {"n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 6, "vocab_size": 13}
    return language_model("gpt2", keys, **options)


def one_hot_gradients() -> Step:
    """Row i moves element i by 1; every row is in a microbatch of its own rank."""

    def step(w, x):
        _, gradient = gpt.accumulated(
            jax.value_and_grad(lambda w, x: (w * x).sum()), w, (x,), 3
        )
        return (w - 3 * gradient,)

    return Step(step, (np.zeros(12, np.float32), np.eye(12, dtype=np.float32)), 1, 1)


def unequal_masks() -> Step:
    def loss(params, x, y, mask):
        error = jnp.square(x @ params["w"] - y) * mask
        return error.sum() / mask.sum()

    mask = np.array([[1, 0, 0, 0], [1, 1, 1, 0]], np.float32)
    args = (
        {"w": normal(3, seed=1)},
        normal(2, 4, 3, seed=2),
        normal(2, 4, seed=3),
        mask,
    )
    return Step(sgd(loss), args, 1)


def narrow_indices(dtype=np.int8) -> Step:
    """Rows of the batch, more than 8 bits count, picked and written by 8 bits."""
    limits = (-9, 127) if dtype == np.int8 else (0, 256)
    indices = np.random.default_rng(1).integers(*limits, 40).astype(dtype)
    wide = np.arange(40, dtype=np.float32)[:, None]

    def loss(params, x):
        h = x @ params["w"]
        picked = jnp.take(h, indices, axis=0, mode="clip") * wide
        columns = jax.lax.ScatterDimensionNumbers((1,), (0,), (0,))
        factors = jnp.broadcast_to(1 + wide / 40, (40, 8)).astype(h.dtype)
        written = jax.lax.scatter_mul(h, indices[:, None], factors, columns)
        return jnp.square(picked).mean() / 40 + jnp.tanh(written).mean()

    return Step(sgd(loss), ({"w": normal(4, 8, seed=2)}, normal(256, 4, seed=1)), 1)


def sizes(*counts, rows=24) -> Step:
    """Parameters of these sizes, each element with a gradient of its own."""

    def loss(params, x):
        return sum(
            jnp.tanh(p * x[:, : p.size]).sum(1).mean() for p in params.values()
        )

    params = {f"p{count}": normal(count, seed=count) for count in counts}
    batch = (normal(rows, max(counts), seed=1),)
    return with_optimizer(loss, optax.sgd(0.1, momentum=0.9), params, batch)


def rows_of_several_kinds() -> Step:
    """Batch norm with running statistics, dropout from a key that is state, an
    average of the weights, masks and labels in the batch, metrics and rows as
    results."""

    def loss(params, statistics, key, x, labels, mask):
        h = x @ params["w0"]
        mean, variance = h.mean(0), h.var(0)
        h = (h - mean) * jax.lax.rsqrt(variance + 1e-5) * params["scale"]
        kept = jax.random.uniform(key, h.shape, jnp.float32) < 0.8
        h = jax.nn.gelu(h, approximate=False)
        logits = jnp.where(kept, h / 0.8, 0.0) @ params["w1"]
        rows = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        seen = {
            "mean": 0.9 * statistics["mean"] + 0.1 * mean,
            "variance": 0.9 * statistics["variance"] + 0.1 * variance,
            "count": statistics["count"] + mask.sum(),
        }
        hits = (logits.argmax(-1) == labels) & mask
        value = jnp.where(mask, rows, 0.0).sum() / mask.sum()
        return value, (seen, hits.sum() / mask.sum(), rows, rows.max())

    def step(params, average, statistics, key, x, labels, mask):
        key, used = jax.random.split(key)
        value_and_grad = jax.value_and_grad(loss, has_aux=True)
        (value, (statistics, *metrics)), gradients = value_and_grad(
            params, statistics, used, x, labels, mask
        )
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
        average = jax.tree.map(lambda a, p: 0.9 * a + 0.1 * p, average, params)
        return params, average, statistics, key, value, metrics

    params = {
        "w0": normal(5, 7, seed=1),
        "scale": np.ones(7, np.float32),
        "w1": normal(7, 3, seed=2),
    }
    statistics = {
        "mean": np.zeros(7, np.float32),
        "variance": np.ones(7, np.float32),
        "count": np.int32(0),
    }
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 24).astype(np.int32)
    batch = (normal(24, 5, seed=4), labels, rng.random(24) < 0.7)
    key = np.array([3, 7], np.uint32)
    return Step(step, (params, params, statistics, key, *batch), 4)


def scanned_microbatches(count) -> Step:
    """A loop over microbatches, of one microbatch too."""

    def step(params, x, y):
        def add(total, microbatch):
            part = jax.value_and_grad(mlp_loss)(params, *microbatch)
            return jax.tree.map(jnp.add, total, part), None

        zeros = (0.0, jax.tree.map(jnp.zeros_like, params))
        rows = tuple(training.microbatches_of(t, count) for t in (x, y))
        (value, gradients), _ = jax.lax.scan(add, zeros, rows)
        update = lambda p, g: p - 0.1 * g / count
        return jax.tree.map(update, params, gradients), value / count

    params = {
        "w0": normal(5, 7, seed=1, scale=0.4),
        "b0": normal(7, seed=2),
        "w1": normal(7, 3, seed=3, scale=0.4),
        "b1": normal(3, seed=4),
    }
    return Step(step, (params, normal(24, 5, seed=5), normal(24, 3, seed=6)), 1)


def stacked_layers(
    optimizer=None, microbatches=1, recomputed=False, cast=None, layers=3, unroll=1
) -> Step:
    """A scan over stacked layers: norms, biases, a gated MLP whose sizes most
    worlds do not divide. `cast` says where parameters become bfloat16: in the
    layer or before the loop."""
    width, hidden, vocabulary = 7, 5, 11
    half = lambda tree: jax.tree.map(lambda p: p.astype(jnp.bfloat16), tree)

    def layer(x, p):
        if cast == "layer":
            p = half(p)
        h = x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * p["norm"]
        h = jax.nn.silu(h @ p["gate"] + p["bias"]) * (h @ p["up"])
        return x + h @ p["down"], jnp.abs(h).mean()

    if recomputed:
        layer = jax.checkpoint(layer)

    def loss(params, tokens, targets):
        blocks = half(params["layers"]) if cast == "before" else params["layers"]
        x = params["embedding"][tokens]
        x, sizes = jax.lax.scan(layer, x, blocks, unroll=unroll)
        logits = x @ params["embedding"].T
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
        return losses.mean() + 0.1 * sizes.mean()

    if optimizer is None:
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(0.01))
    params = {
        "embedding": normal(vocabulary, width, seed=1),
        "layers": {
            "norm": np.ones((layers, width), np.float32),
            "bias": normal(layers, hidden, seed=2),
            "gate": normal(layers, width, hidden, seed=3, scale=0.4),
            "up": normal(layers, width, hidden, seed=4, scale=0.4),
            "down": normal(layers, hidden, width, seed=5, scale=0.4),
        },
    }
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, vocabulary, (2, 24, 3)).astype(np.int32)
    return with_optimizer(loss, optimizer, params, tokens, microbatches)


def stacked_masters() -> Step:
    """A scan over stacked bfloat16 copies of float32 masters."""

    def loss(params, x, y):
        layer = lambda x, w: (x + jnp.tanh(x @ w.astype(x.dtype)), None)
        return jnp.square(jax.lax.scan(layer, x, params)[0] - y).mean()

    def step(masters, params, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        masters = masters - 0.1 * gradients.astype(masters.dtype)
        return masters, masters.astype(jnp.bfloat16), value

    masters = normal(3, 7, 7, seed=1, scale=0.4)
    batch = normal(12, 7, seed=2), normal(12, 7, seed=3)
    return Step(step, (masters, masters.astype(ml_dtypes.bfloat16), *batch), 2)


def stacks_of_stacks() -> Step:
    """A scan over groups of layers, in each a scan over layers; a stack of
    scalars; a stack that is read in two loops, and by position outside."""

    def loss(params, x, y):
        def layer(x, p):
            return x + jnp.tanh(x @ p["w"]) * p["scale"], None

        def group(x, p):
            x, _ = jax.lax.scan(layer, x, {"w": p["w"], "scale": p["scale"]})
            return x @ p["out"], None

        x, _ = jax.lax.scan(group, x, params["groups"])
        add = lambda x, w: (x + x @ w, None)
        x, _ = jax.lax.scan(add, x, params["groups"]["out"], reverse=True)
        return jnp.square(x @ params["groups"]["w"][1, 0] - y).mean()

    params = {
        "groups": {
            "w": normal(2, 3, 5, 5, seed=1, scale=0.4),
            "scale": normal(2, 3, seed=2),
            "out": normal(2, 5, 5, seed=3, scale=0.4),
        }
    }
    batch = (normal(24, 5, seed=4), normal(24, 5, seed=5))
    return with_optimizer(loss, optax.adam(0.01), params, batch)


def branches() -> Step:
    """A switch with its gradient; conditionals that start a state, hand an old
    value on, swap two states, give one value twice, pick the batch's rows or a
    constant, nest, and update what a loop carries."""

    def loss(params, n, x, y):
        kinds = (lambda h: h, jnp.tanh, jax.nn.relu)
        h = jax.lax.switch(n % 3, kinds, x @ params["w0"])
        return jnp.square(h @ params["w1"] - y).mean()

    def averages(n, old, new):
        def average(a, g):
            return jax.lax.cond(n == 0, lambda a: g, lambda a: 0.9 * a + 0.1 * g, a)

        return jax.tree.map(average, old, new)

    def step(params, average, n, x, y):
        value, gradients = jax.value_and_grad(loss)(params, n, x, y)
        size = jax.tree.map(lambda g: jnp.square(g).sum(), gradients)
        size = averages(n, average["size"], size)
        scaled = jax.tree.map(lambda g, s: g / jnp.sqrt(s + 1), gradients, size)
        mean = averages(n, average["mean"], scaled)
        left, right = jax.lax.cond(
            n == 1, lambda a, b: (b, a), lambda a, b: (a, b + 1), *average["pair"]
        )
        first, second = jax.lax.cond(
            n == 1, lambda a: (a, a), lambda a: (a + 1, 2 * a), mean["w1"]
        )
        rows = jax.lax.cond(n == 1, lambda x: x, lambda x: x + 1, x)
        constant = np.arange(5).astype(rows.dtype)
        chosen = jax.lax.cond(n == 1, lambda: constant, lambda: rows.sum(0))
        nested = jax.lax.cond(
            n == 0,
            lambda c: c,
            lambda c: jax.lax.cond(n == 1, lambda c: c, lambda c: chosen, c),
            average["nested"],
        )

        def count(carry, i):
            old, odd = carry
            odd = jax.lax.cond(i % 2 == n % 2, lambda o: o, lambda o: o + old, odd)
            return (odd, old), odd.sum()

        (old, odd), sums = jax.lax.scan(count, average["carried"], jnp.arange(3))
        params = jax.tree.map(lambda p, m: p - 0.1 * m, params, mean)
        average = {
            "size": size,
            "mean": mean,
            "pair": (left, right),
            "nested": nested,
            "carried": (odd, old),
        }
        return params, average, n + 1, value, first, second, rows, sums

    params = {"w0": normal(5, 7, seed=1), "w1": normal(7, 3, seed=2)}
    average = {
        "size": jax.tree.map(lambda p: np.float32(0), params),
        "mean": jax.tree.map(np.zeros_like, params),
        "pair": (normal(4, 3, seed=3), normal(4, 3, seed=4)),
        "nested": normal(5, seed=5),
        "carried": (normal(6, seed=6), normal(6, seed=7)),
    }
    batch = (normal(24, 5, seed=8), normal(24, 3, seed=9))
    return Step(step, (params, average, np.int32(0), *batch), 3, steps=4)


CASES: dict[str, Callable[[], Step]] = {
    **KINDS,
    **{f"attention_{style}": made for style, made in attentions.STYLES.items()},
    "attention_long": attentions.long,
    "attention_blocks": attentions.short_blocks,
    "attention_varied_blocks": attentions.varied_blocks,
    "rows_of_several_kinds": rows_of_several_kinds,
    "stacked": stacked_layers,
    "stacked_even": lambda: stacked_layers(layers=6),
    "stacked_odd": lambda: stacked_layers(layers=7, recomputed=True),
    "stacked_recomputed": lambda: stacked_layers(recomputed=True),
    "stacked_accumulated": lambda: stacked_layers(microbatches=3, recomputed=True),
    "stacked_bf16": lambda: stacked_layers(optax.sgd(0.1), cast="layer"),
    "stacked_bf16_before": lambda: stacked_layers(
        optax.sgd(0.1), cast="before", recomputed=True
    ),
    "stacked_lamb": lambda: stacked_layers(optax.lamb(0.01), unroll=2, layers=4),
    "stacked_masters": stacked_masters,
    "stacks_of_stacks": stacks_of_stacks,
    "branches": branches,
    "norms": norms,
    "shards_3_and_4": shards_3_and_4,
    "trust_ratio": trust_ratio,
    "gpt": lambda: small_gpt(layers=2),
    "gpt_tied": lambda: small_gpt(tied=True),
    "gpt_accumulated": lambda: small_gpt(microbatches=3),
    "gpt_four_microbatches": lambda: small_gpt(layers=3, microbatches=4),
    "one_microbatch": lambda: scanned_microbatches(1),
    "two_microbatches": lambda: scanned_microbatches(2),
    "gpt_tied_accumulated": lambda: small_gpt(microbatches=3, tied=True),
    "gpt2": small_gpt2,
    "llama": small_llama,
    "llama_scanned": lambda: small_llama(scan_layers=True, remat=True),
    "mlp": lambda: mlp(optax.sgd(0.1, momentum=0.9)),
    "one_hot_gradients": one_hot_gradients,
    "unequal_masks": unequal_masks,
    "narrow_indices": narrow_indices,
    "unsigned_indices": lambda: narrow_indices(np.uint8),
    "ten_large_steps": lambda: mlp(optax.sgd(0.3, momentum=0.5), steps=10),
    "ten_adam_steps": lambda: mlp(
        optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(0.05)), steps=10
    ),
    "wide_mlp": wide_mlp,
    "one_adam_step": lambda: mlp(optax.adam(0.125), steps=1),
    "odd_sizes": lambda: sizes(1, 5, 7),
    "mixed_types": mixed_types,
    "sizes_of_buckets": lambda: sizes(1, 63, 64, 65, 1023, 1024, 1025, 4099, rows=4),
}


@dataclasses.dataclass(frozen=True)
class Prepared:
    directory: pathlib.Path  # step.mlir, inputs.npz, expected.npz, expected64.npz
    batch_args: tuple[int, ...]
    steps: int


PREPARING = threading.Lock()
READY: dict[tuple[str, pathlib.Path], Prepared] = {}


def prepared(name: str, root: pathlib.Path) -> Prepared:
    """Once for all jobs: one that came second would write what the first reads."""
    with PREPARING:
        if (name, root) not in READY:
            READY[name, root] = prepare(CASES[name](), root / name)
        return READY[name, root]


def prepare(step: Step, directory: pathlib.Path) -> Prepared:
    """Exports the step; runs it on one device in both precisions."""
    donated = tuple(range(step.donated))
    case = export.export_step(step.step, step.args, donated, step.batch, directory)
    for name, float64 in (("expected.npz", False), ("expected64.npz", True)):
        batches = [{}] * step.steps
        history = reference.run(step.step, step.args, donated, batches, float64)
        arrays.save_results(directory / name, history[-1])
    return Prepared(directory, tuple(case.batch_args), step.steps)


@dataclasses.dataclass(frozen=True)
class StepJob(jobs.Job):
    """A step of this file, compiled, run, and compared with one device."""

    case: str
    cluster: str
    strategy: str
    path: str
    options: tuple[str, ...] = ()  # of amsp-compile

    def __str__(self):
        cluster = self.cluster.rpartition("/")[2]
        return "-".join((self.case, cluster, self.strategy, self.path, *self.options))

    def run(self, directory: pathlib.Path) -> FinishedStep:
        ready = prepared(self.case, directory.parent)
        results, manifest = jobs.compile_and_run(
            ready.directory / "step.mlir",
            ready.directory / "inputs.npz",
            directory,
            self.cluster,
            self.strategy,
            self.path,
            ready.steps,
            ready.batch_args,
            self.options,
        )
        comparison = check.check_case(ready.directory, results)
        return FinishedStep(
            comparison,
            manifest,
            check.read(results),
            check.read(ready.directory / "inputs.npz"),
        )


@dataclasses.dataclass(frozen=True)
class FinishedStep:
    comparison: check.Comparison
    manifest: dict
    results: dict
    inputs: dict
