"""Models and losses."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

from kinds.registry import kind
from step_parts import Step, cross_entropy, labels_of, normal, with_optimizer


@kind
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


@kind
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


@kind
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


@kind
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


@kind
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


@kind
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


@kind
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


@kind
def in_batch_negatives(rows=24) -> Step:
    """Two views, joined along the batch and not; every row meets all others."""

    def loss(params, x, y):
        z = jnp.concatenate([x @ params["u"], y @ params["v"]])
        z = z / jnp.linalg.norm(z, axis=1, keepdims=True)
        scores = jnp.exp(params["temperature"]) * z @ z.T
        scores = jnp.where(jnp.eye(len(z), dtype=bool), -1e9, scores)
        positive = jnp.roll(jnp.arange(len(z)), len(x))
        cross_entropy = optax.softmax_cross_entropy_with_integer_labels
        joined = cross_entropy(scores, positive).mean()
        # From each view to the other, both ways.
        across = z[: len(x)] @ z[len(x) :].T
        rows = jnp.arange(len(x))
        ways = [cross_entropy(a, rows).mean() for a in (across, across.T)]
        return joined + sum(ways) / 2

    params = {
        "u": normal(5, 6, seed=1),
        "v": normal(3, 6, seed=2),
        "temperature": np.float32(0.5),
    }
    batch = (normal(rows, 5, seed=3), normal(rows, 3, seed=4))
    return with_optimizer(loss, optax.adam(0.01), params, batch)


@kind
def masked_tokens(rows=24) -> Step:
    """Losses and hits of the tokens that count, divided by how many these are in
    the global batch; the rows' lengths differ from rank to rank."""
    vocabulary, length, width = 13, 6, 5

    def loss(params, tokens, lengths):
        x = params["table"][tokens[:, :-1]] + params["position"]
        logits = jax.nn.gelu(x @ params["w"]) @ params["table"].T
        losses = cross_entropy(logits, tokens[:, 1:])
        mask = jnp.arange(1, length) < lengths[:, None]
        hits = (logits.argmax(-1) == tokens[:, 1:]) & mask
        count = mask.sum()
        return jnp.where(mask, losses, 0).sum() / count, (hits.sum() / count, count)

    def step(params, tokens, lengths):
        value_and_grad = jax.value_and_grad(loss, has_aux=True)
        (value, metrics), gradients = value_and_grad(params, tokens, lengths)
        params = jax.tree.map(lambda p, g: p - 0.2 * g, params, gradients)
        return params, value, *metrics

    params = {
        "table": normal(vocabulary, width, seed=1),
        "position": normal(length - 1, width, seed=2),
        "w": normal(width, width, seed=3),
    }
    lengths = np.sort(np.random.default_rng(4).integers(2, length + 1, rows))
    batch = (labels_of((rows, length), vocabulary, 5), lengths.astype(np.int32))
    return Step(step, (params, *batch), 1)
