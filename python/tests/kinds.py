"""One small training step of each kind that people write with JAX and optax.

Each takes the number of rows in a batch. Steps that exist for a class of faults
(steps.py) count as kinds where they are one.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib

from step_parts import Step, mlp, mlp_parameters, normal, with_optimizer


def half():
    """The narrow type of a step; exact where the reference is computed."""
    return jnp.float64 if jax.config.jax_enable_x64 else jnp.bfloat16


def labels_of(rows, classes, seed=0):
    return np.random.default_rng(seed).integers(0, classes, rows).astype(np.int32)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


def matrices_only(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)


# Optimizers


def adamw_schedule(rows=24) -> Step:
    """Warm-up, cosine decay, decay of matrices only, clipping by the global norm."""
    rate = optax.warmup_cosine_decay_schedule(0.0, 0.05, 2, 8)
    optimizer = optax.chain(
        optax.clip_by_global_norm(0.5),
        optax.adamw(rate, weight_decay=0.1, mask=matrices_only),
    )
    return mlp(optimizer, steps=4, rows=rows)


def sgd_momentum(rows=24) -> Step:
    return mlp(optax.sgd(0.1, momentum=0.9, nesterov=True), rows=rows)


def lion(rows=24) -> Step:
    """Its update is the sign of what it read: errors near 0 flip it, so the
    gradients are kept away from 0."""

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["w0"] + params["b0"])
        return (hidden * params["w1"]).mean() * 9 + (params["b1"] * y).sum(1).mean()

    params = {
        "w0": normal(5, 7, seed=1, scale=0.1),
        "b0": np.zeros(7, np.float32),
        "w1": 1 + np.abs(normal(7, seed=3)),
        "b1": normal(3, seed=4),
    }
    batch = (1 + np.abs(normal(rows, 5, seed=5)), 2 + np.abs(normal(rows, 3, seed=6)))
    return with_optimizer(loss, optax.lion(0.01, weight_decay=0.1), params, batch)


def lamb(rows=24) -> Step:
    return mlp(optax.lamb(0.05), rows=rows)


def adafactor(rows=24) -> Step:
    optimizer = optax.adafactor(0.05, min_dim_size_to_factor=4, momentum=0.9)
    return mlp(optimizer, rows=rows)


def muon(rows=24) -> Step:
    return mlp(optax.contrib.muon(0.05), rows=rows)


def multi_steps(rows=24) -> Step:
    """Two calls make one update; the accumulator, always in float32, is state."""
    inner = optax.MultiSteps(optax.adam(0.05), every_k_schedule=2)

    def single(tree):
        return jax.tree.map(lambda t: t.astype(jnp.float32), tree)

    def update(gradients, state, params):
        state = state._replace(acc_grads=single(state.acc_grads))
        return inner.update(single(gradients), state, params)

    optimizer = optax.GradientTransformation(inner.init, update)
    return mlp(optimizer, steps=5, rows=rows)


def skipped_infinite(rows=24) -> Step:
    """A branch makes the update, clipped; in the second step the loss is infinite,
    and another branch hands the states on."""
    inner = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.05))
    optimizer = optax.apply_if_finite(inner, max_consecutive_errors=3)

    def loss(params, tick, x, y):
        error = jnp.square(jnp.tanh(x @ params["w0"] + params["b0"]) @ params["w1"] - y)
        return (error * jnp.where(tick == 1, jnp.inf, 1.0)).mean()

    def step(params, state, tick, x, y):
        gradients = jax.grad(loss)(params, tick, x, y)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, tick + 1

    params = {name: value for name, value in mlp_parameters().items() if name != "b1"}
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    args = (params, optimizer.init(params), np.int32(0), *batch)
    return Step(step, args, 3, steps=4)


# Precision


def bf16_masters(rows=24) -> Step:
    """Parameters in bfloat16 beside float32 masters, which are updated."""
    optimizer = optax.adam(0.02)

    def loss(params, x, y):
        x = x.astype(half())
        hidden = jax.nn.gelu(x @ params["w0"] + params["b0"])
        error = hidden @ params["w1"] + params["b1"]
        return jnp.square(error.astype(jnp.float32) - y).mean()

    def narrow(masters):
        return jax.tree.map(lambda p: p.astype(half()), masters)

    def step(params, masters, state, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        gradients = jax.tree.map(lambda g, p: g.astype(p.dtype), gradients, masters)
        updates, state = optimizer.update(gradients, state, masters)
        masters = optax.apply_updates(masters, updates)
        return narrow(masters), masters, state, value

    masters = mlp_parameters()
    params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), masters)
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (params, masters, optimizer.init(masters), *batch), 3)


def loss_scaling(rows=24, infinite=False) -> Step:
    """The scale halves, and nothing else changes, while a gradient times the
    scale is too large for float16: for two steps, or for ever if a row has an
    infinite element."""

    def loss(params, x, y):
        return jnp.square(x @ params["w"] + params["b"] - y).mean()

    def step(params, moments, scale, x, y):
        def scaled(params):
            return loss(params, x, y) * scale

        gradients = jax.grad(scaled)(params)
        narrow = jax.tree.map(lambda g: g.astype(jnp.float16), gradients)
        finite = jnp.array([jnp.isfinite(g).all() for g in jax.tree.leaves(narrow)]).all()
        gradients = jax.tree.map(lambda g: g / scale, gradients)

        def keep(new, old):
            return jax.tree.map(lambda n, o: jnp.where(finite, n, o), new, old)

        new_moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradients)
        new_params = jax.tree.map(lambda p, m: p - 0.05 * m, params, new_moments)
        scale = jnp.where(finite, scale, scale / 2)
        return keep(new_params, params), keep(new_moments, moments), scale, finite

    params = {"w": normal(5, 3, seed=1), "b": normal(3, seed=2)}
    x, y = normal(rows, 5, seed=3), normal(rows, 3, seed=4)
    x[rows - 1, 2] = np.inf if infinite else 40.0
    gradient = jax.grad(loss)(params, x, y)
    largest = max(float(jnp.abs(g).max()) for g in jax.tree.leaves(gradient))
    # Twice the largest scale that fits, and twice that.
    scale = 1024.0 if infinite else 2 ** np.floor(np.log2(65504 / largest)) * 4
    moments = jax.tree.map(np.zeros_like, params)
    return Step(step, (params, moments, np.float32(scale), x, y), 3, steps=4)


# Loops


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


def accumulated_every(rows=24) -> Step:
    return accumulated_blocks(rows, every=True)


def unknown_trip_count(rows=24) -> Step:
    """A backtracking line search: how often it runs depends on the data."""

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["w0"] + params["b0"])
        return jnp.square(hidden @ params["w1"] + params["b1"] - y).mean()

    def step(params, rate, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        size = sum(jnp.square(g).sum() for g in jax.tree.leaves(gradients))

        def shrink(carry):
            rate, powers, count = carry
            return rate * 0.7, powers * 0.5, count + 1

        powers = jnp.arange(1.0, 4.0, dtype=value.dtype)
        rate, powers, count = jax.lax.while_loop(
            lambda carry: carry[0] * size > 0.01 * value,
            shrink,
            (rate, powers, 0),
        )
        params = jax.tree.map(lambda p, g: p - rate * g, params, gradients)
        return params, rate * 1.5, value, powers, count

    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (mlp_parameters(), np.float32(1.0), *batch), 2)


# Models


def dropout(rows=24) -> Step:
    """Two masks from a key that is split in each step."""

    def loss(params, key, x, labels):
        first, second = jax.random.split(key)
        kept = jax.random.uniform(first, x.shape, jnp.float32) < 0.9
        h = jax.nn.relu(jnp.where(kept, x / 0.9, 0) @ params["w0"])
        kept = jax.random.uniform(second, h.shape, jnp.float32) < 0.5
        logits = jnp.where(kept, h / 0.5, 0) @ params["w1"]
        return cross_entropy(logits, labels).mean()

    def step(params, key, x, labels):
        key, used = jax.random.split(key)
        value, gradients = jax.value_and_grad(loss)(params, used, x, labels)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
        return params, key, value

    params = {"w0": normal(5, 8, seed=1), "w1": normal(8, 3, seed=2)}
    batch = (normal(rows, 5, seed=3), labels_of(rows, 3))
    return Step(step, (params, np.array([1, 2], np.uint32), *batch), 2)


def lora(rows=24) -> Step:
    """Frozen weights, of which only low-rank additions are trained."""
    optimizer = optax.adam(0.02)

    def loss(adapters, base, x, y):
        def dense(x, name):
            a, b = adapters[name]
            return x @ base[name] + 2 * (x @ a) @ b

        return jnp.square(dense(jax.nn.silu(dense(x, "first")), "second") - y).mean()

    def step(adapters, state, base, x, y):
        value, gradients = jax.value_and_grad(loss)(adapters, base, x, y)
        updates, state = optimizer.update(gradients, state, adapters)
        return optax.apply_updates(adapters, updates), state, value

    base = {"first": normal(6, 10, seed=1), "second": normal(10, 4, seed=2)}
    adapters = {
        name: (normal(w.shape[0], 2, seed=3), normal(2, w.shape[1], seed=4, scale=0.1))
        for name, w in base.items()
    }
    batch = (normal(rows, 6, seed=5), normal(rows, 4, seed=6))
    return Step(step, (adapters, optimizer.init(adapters), base, *batch), 2, frozen=1)


def mixture_of_experts(rows=24) -> Step:
    """Two of four experts per token, and a loss that balances them over the
    batch."""
    experts, width = 4, 6

    def loss(params, x, y):
        gates = jax.nn.softmax(x @ params["router"])
        values, chosen = jax.lax.top_k(gates, 2)
        values = values / values.sum(-1, keepdims=True)
        where = jax.nn.one_hot(chosen, experts, dtype=x.dtype)
        weights = (where * values[..., None]).sum(1)
        hidden = jax.nn.gelu(jnp.einsum("td,edh->teh", x, params["up"]))
        out = jnp.einsum("teh,ehd->ted", hidden, params["down"])
        out = jnp.einsum("ted,te->td", out, weights)
        balance = (where.sum(1).mean(0) * gates.mean(0)).sum() * experts
        return jnp.square(x + out - y).mean() + 0.1 * balance

    params = {
        "router": normal(width, experts, seed=1),
        "up": normal(experts, width, 8, seed=2, scale=0.3),
        "down": normal(experts, 8, width, seed=3, scale=0.3),
    }
    batch = (normal(rows, width, seed=4), normal(rows, width, seed=5))
    return with_optimizer(loss, optax.adamw(0.01), params, batch)


def encoder_decoder(rows=24) -> Step:
    """Cross attention on a padded source, a causal target, a tied output."""
    width, heads, vocabulary, longest, length = 8, 2, 11, 5, 4

    def attend(p, x, source, mask):
        def cut(t):
            return t.reshape(*t.shape[:2], heads, -1)

        q, k, v = cut(x @ p["q"]), cut(source @ p["k"]), cut(source @ p["v"])
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // heads)
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p["out"]

    def loss(params, source, lengths, target, labels):
        table = params["table"]
        seen = (jnp.arange(longest) < lengths[:, None])[:, None, None]
        memory = table[source]
        memory = memory + attend(params["encoder"], memory, memory, seen)
        causal = jnp.tril(jnp.ones((length, length), bool))
        x = table[target]
        x = x + attend(params["decoder"], x, x, causal)
        x = x + attend(params["cross"], x, memory, seen)
        return cross_entropy(x @ table.T, labels).mean()

    def block(seed):
        names = ("q", "k", "v", "out")
        return {n: normal(width, width, seed=seed + i, scale=0.4) for i, n in enumerate(names)}

    params = {
        "table": normal(vocabulary, width, seed=1),
        "encoder": block(10),
        "decoder": block(20),
        "cross": block(30),
    }
    rng = np.random.default_rng(2)
    lengths = rng.integers(1, longest + 1, rows).astype(np.int32)
    batch = (
        labels_of((rows, longest), vocabulary, 3),
        lengths,
        labels_of((rows, length), vocabulary, 4),
        labels_of((rows, length), vocabulary, 5),
    )
    return with_optimizer(loss, optax.adam(0.01), params, batch)


def convolutions(rows=24) -> Step:
    """Strided and depthwise convolutions, batch norm over the global batch with
    running statistics, maxima over windows."""
    numbers = ("NHWC", "HWIO", "NHWC")

    def convolve(x, kernel, stride=1, groups=1):
        return jax.lax.conv_general_dilated(
            x,
            kernel,
            (stride, stride),
            "SAME",
            dimension_numbers=numbers,
            feature_group_count=groups,
        )

    def norm(p, seen, x):
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        seen = jax.tree.map(lambda s, v: 0.9 * s + 0.1 * v, seen, (mean, variance))
        return (x - mean) * jax.lax.rsqrt(variance + 1e-3) * p["scale"] + p["bias"], seen

    def loss(params, seen, x, labels):
        x = convolve(x, params["stem"], stride=2)
        x, first = norm(params["norm0"], seen[0], x)
        x = jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "SAME"
        )
        x = convolve(jax.nn.relu(x), params["depthwise"], groups=4)
        x, second = norm(params["norm1"], seen[1], x)
        logits = jax.nn.relu(x).mean((1, 2)) @ params["head"]
        return cross_entropy(logits, labels).mean(), (first, second)

    def step(params, seen, x, labels):
        value_and_grad = jax.value_and_grad(loss, has_aux=True)
        (value, seen), gradients = value_and_grad(params, seen, x, labels)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
        return params, seen, value

    def scale():
        return {"scale": np.ones(4, np.float32), "bias": np.zeros(4, np.float32)}

    params = {
        "stem": normal(3, 3, 2, 4, seed=1, scale=0.4),
        "norm0": scale(),
        "depthwise": normal(3, 3, 1, 4, seed=2, scale=0.4),
        "norm1": scale(),
        "head": normal(4, 3, seed=3),
    }
    seen = tuple((np.zeros(4, np.float32), np.ones(4, np.float32)) for _ in range(2))
    batch = (normal(rows, 6, 6, 2, seed=4), labels_of(rows, 3))
    return Step(step, (params, seen, *batch), 2)


def odd_vocabulary(rows=24) -> Step:
    """A table and a bias of a vocabulary that no group divides."""
    vocabulary = 37

    def loss(params, tokens, labels, mask):
        x = params["table"][tokens].mean(1)
        logits = x @ params["head"] + params["bias"]
        return (cross_entropy(logits, labels) * mask).sum() / mask.sum()

    params = {
        "table": normal(vocabulary, 5, seed=1),
        "head": normal(5, vocabulary, seed=2),
        "bias": normal(vocabulary, seed=3),
    }
    mask = np.random.default_rng(4).random(rows).round().astype(np.float32)
    batch = (labels_of((rows, 3), vocabulary, 5), labels_of(rows, vocabulary, 6), mask)
    return with_optimizer(loss, optax.adamw(0.01), params, batch)


def sorted_rows(rows=24) -> Step:
    """Quantiles of each row, the k largest of the batch, cumulative sums."""

    def loss(params, x, y):
        h = x @ params["w"] + params["b"]
        middle = jnp.sort(h, axis=1)[:, 1:-1].mean(1)
        running = jnp.cumsum(jax.nn.softmax(h), axis=1)
        error = jnp.square(middle + (running * y).sum(1))
        return jax.lax.top_k(error, 4)[0].mean()

    params = {"w": normal(5, 6, seed=1), "b": normal(6, seed=2)}
    batch = (normal(rows, 5, seed=3), normal(rows, 6, seed=4))
    return with_optimizer(loss, optax.sgd(0.05), params, batch)


KINDS: dict[str, Callable[..., Step]] = {
    "sgd_momentum": sgd_momentum,
    "adamw_schedule": adamw_schedule,
    "lion": lion,
    "lamb": lamb,
    "adafactor": adafactor,
    "muon": muon,
    "multi_steps": multi_steps,
    "skipped_infinite": skipped_infinite,
    "bf16_masters": bf16_masters,
    "loss_scaling": loss_scaling,
    "scanned_layers": scanned_layers,
    "accumulated_blocks": accumulated_blocks,
    "accumulated_every": accumulated_every,
    "unknown_trip_count": unknown_trip_count,
    "dropout": dropout,
    "lora": lora,
    "mixture_of_experts": mixture_of_experts,
    "encoder_decoder": encoder_decoder,
    "convolutions": convolutions,
    "odd_vocabulary": odd_vocabulary,
    "sorted_rows": sorted_rows,
}
