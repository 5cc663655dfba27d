"""Loops over layers and microbatches, and one whose end the data decides."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

from kinds.registry import kind
from step_parts import Step, mlp_loss, mlp_parameters, normal, with_optimizer


@kind
def scanned_layers(rows=24) -> Step:
    """A scan over stacked layers, each computed again in backward."""

    @jax.checkpoint
    def layer(x, p):
        hidden = jax.nn.gelu(x @ p["up"] + p["bias"])
        return x + hidden @ p["down"], jnp.square(hidden).mean()

    def loss(params, x, y):
        x, sizes = jax.lax.scan(layer, x @ params["in"], params["layers"])
        return jnp.square(x @ params["out"] - y).mean() + 0.01 * sizes.sum()

    layers = {
        "up": normal(3, 6, 10, seed=1, scale=0.3),
        "bias": normal(3, 10, seed=2, scale=0.3),
        "down": normal(3, 10, 6, seed=3, scale=0.3),
    }
    params = {
        "in": normal(5, 6, seed=4),
        "layers": layers,
        "out": normal(6, 3, seed=5),
    }
    batch = (normal(rows, 5, seed=6), normal(rows, 3, seed=7))
    return with_optimizer(loss, optax.adam(0.02), params, batch)


@kind
def accumulated_blocks(rows=24, every=False) -> Step:
    """Microbatches of contiguous rows, or of every second row."""
    params = mlp_parameters()
    optimizer = optax.sgd(0.1, momentum=0.9)

    def microbatches(t):
        if every:
            return t.reshape(-1, 2, *t.shape[1:]).swapaxes(0, 1)
        return t.reshape(2, -1, *t.shape[1:])

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["w0"] + params["b0"])
        return jnp.square(hidden @ params["w1"] + params["b1"] - y).mean()

    def step(params, state, x, y):
        def add(total, batch):
            part = jax.value_and_grad(loss)(params, *batch)
            return jax.tree.map(jnp.add, total, part), None

        zeros = (0.0, jax.tree.map(jnp.zeros_like, params))
        (value, gradients), _ = jax.lax.scan(
            add, zeros, (microbatches(x), microbatches(y))
        )
        gradients = jax.tree.map(lambda g: g / 2, gradients)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value / 2

    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (params, optimizer.init(params), *batch), 2)


@kind
def accumulated_every(rows=24) -> Step:
    return accumulated_blocks(rows, every=True)


@kind
def accumulated_uneven(rows=24) -> Step:
    """Microbatches of three rows, which most worlds do not divide. Beside gradients
    they leave statistics of a batch, a queue of their last outputs, a key, a count;
    each row's output and the rows with the largest ones come out too."""
    optimizer = optax.sgd(0.1)

    def loss(params, key, x, y):
        hidden = x @ params["w0"]
        mean = hidden.mean(0)
        hidden = (hidden - mean) * jax.lax.rsqrt(hidden.var(0) + 0.1) + params["b0"]
        kept = jax.random.bernoulli(key, np.float32(0.75), hidden.shape)
        hidden = jnp.tanh(jnp.where(kept, hidden / 0.75, 0))
        made = hidden @ params["w1"] + params["b1"]
        counted = y[:, 0] > 0
        errors = jnp.where(counted[:, None], jnp.square(made - y), 0)
        value = errors.sum() / jnp.maximum(counted.sum(), 1)
        return value, (mean, made, counted.sum(dtype=jnp.int32))

    def step(params, state, held, x, y):
        def add(carry, batch):
            total, held = carry
            key, drop = jax.random.split(held["key"])
            part, gradients = jax.value_and_grad(loss, has_aux=True)(params, drop, *batch)
            value, (mean, made, count) = part
            queue = jnp.concatenate([held["queue"], made])[-5:]
            held = {
                "mean": 0.9 * held["mean"] + 0.1 * mean,
                "queue": queue,
                "key": key,
                "count": held["count"] + count,
            }
            total = jax.tree.map(jnp.add, total, (value, gradients))
            return (total, held), (made, jnp.argmax(made, 0))

        zeros = (0.0, jax.tree.map(jnp.zeros_like, params))
        blocks = [t.reshape(-1, 3, *t.shape[1:]) for t in (x, y)]
        (total, held), rest = jax.lax.scan(add, (zeros, held), tuple(blocks))
        value, gradients = jax.tree.map(lambda t: t * 3 / rows, total)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, held, value, rest

    held = {
        "mean": np.zeros(7, np.float32),
        "queue": normal(5, 3, seed=8),
        "key": np.array([1, 2], np.uint32),
        "count": np.int32(0),
    }
    params = mlp_parameters()
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (params, optimizer.init(params), held, *batch), 3)


@kind
def unknown_trip_count(rows=24) -> Step:
    """A backtracking line search: how often it runs depends on the loss of all rows,
    computed anew in the condition and, of every power, in the body."""

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["w0"] + params["b0"])
        return jnp.square(hidden @ params["w1"] + params["b1"] - y).mean()

    def step(params, rate, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        size = sum(jnp.square(g).sum() for g in jax.tree.leaves(gradients))

        def move(rate):
            return jax.tree.map(lambda p, g: p - rate * g, params, gradients)

        def is_too_far(carry):
            rate, _, count = carry
            return (loss(move(rate), x, y) > value - 0.9 * rate * size) & (count < 30)

        def shrink(carry):
            rate, powers, count = carry
            return rate * 0.7, powers * 0.5 + (x * rate).mean(), count + 1

        powers = jnp.arange(1.0, 4.0, dtype=value.dtype)
        start = (rate, powers, 0)
        rate, powers, count = jax.lax.while_loop(is_too_far, shrink, start)
        params = move(rate)
        return params, rate * 3, value, powers, count

    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (mlp_parameters(), np.float32(3.0), *batch), 2)


def rotated(x):
    """Rotary positions of (rows, sequence, heads, size)."""
    half = x.shape[-1] // 2
    angles = jnp.outer(jnp.arange(x.shape[1]), 0.1 ** (jnp.arange(half) / half))
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@kind
def recomputed_blocks(rows=24) -> Step:
    """Grouped queries with rotary positions, RMS norms, a gated MLP; each block
    is recomputed in backward, and microbatches are contiguous rows."""
    width, heads, groups, size, vocabulary, sequence = 8, 4, 2, 4, 13, 5

    def norm(x, scale):
        return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * scale

    @jax.checkpoint
    def block(p, x):
        h = norm(x, p["norm1"])
        cut = lambda t: t.reshape(*t.shape[:2], -1, size)
        q, k, v = rotated(cut(h @ p["q"])), rotated(cut(h @ p["k"])), cut(h @ p["v"])
        k, v = (jnp.repeat(t, heads // groups, axis=2) for t in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(size)
        causal = jnp.tril(jnp.ones((sequence, sequence), bool))
        weights = jax.nn.softmax(jnp.where(causal, scores, -1e9))
        h = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        x = x + h.reshape(*x.shape[:2], -1) @ p["out"]
        h = norm(x, p["norm2"])
        return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]

    def loss(params, tokens, targets):
        x = params["embedding"][tokens]
        for p in params["blocks"]:
            x = block(p, x)
        logits = x @ params["embedding"].T
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

    optimizer = optax.adamw(
        0.01, mask=lambda params: jax.tree.map(lambda p: p.ndim > 1, params)
    )

    def step(params, state, tokens, targets):
        batch = tuple(t.reshape(3, -1, sequence) for t in (tokens, targets))

        def add(total, microbatch):
            part = jax.value_and_grad(loss)(params, *microbatch)
            return jax.tree.map(jnp.add, total, part), None

        zeros = (0.0, jax.tree.map(jnp.zeros_like, params))
        (value, gradients), _ = jax.lax.scan(add, zeros, batch)
        gradients = jax.tree.map(lambda g: g / 3, gradients)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value / 3

    shapes = {
        "q": (width, heads * size),
        "k": (width, groups * size),
        "v": (width, groups * size),
        "out": (heads * size, width),
        "gate": (width, 11),
        "up": (width, 11),
        "down": (11, width),
    }

    def blocks(count):
        for i in range(count):
            weights = {
                name: normal(*shape, seed=10 * i + j, scale=0.3)
                for j, (name, shape) in enumerate(shapes.items())
            }
            ones = np.ones(width, np.float32)
            yield {**weights, "norm1": ones, "norm2": ones}

    params = {
        "embedding": normal(vocabulary, width, seed=99),
        "blocks": list(blocks(2)),
    }
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, vocabulary, (2, rows, sequence)).astype(np.int32)
    return Step(step, (params, optimizer.init(params), *tokens), 2)
