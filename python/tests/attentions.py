"""One small training step for each way in which people write attention."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

from step_parts import Step, half, normal, with_optimizer

WIDTH, LENGTH, SOURCE, FAR = 16, 9, 20, 4


def cut(x, heads):
    """[rows, length, heads, elements]"""
    return x.reshape(*x.shape[:2], heads, -1)


def by_jax(q, k, v, seen, bias, causal=True):
    """Flax, too, calls this or writes `by_einsum`."""
    return jax.nn.dot_product_attention(q, k, v, bias, seen, is_causal=causal)


KEPT = 0.75


def draw(key, shape):
    """`jax.random.bernoulli`, but for the reference's type."""
    return jax.random.uniform(key, shape, jnp.float32) < KEPT


def dropped_by_factor(weights, key):
    """As Flax does: one mask for all rows and heads, made a factor."""
    kept = draw(key, (1, 1, *weights.shape[-2:]))
    return weights * (kept.astype(weights.dtype) / jnp.asarray(KEPT, weights.dtype))


def dropped_by_selection(weights, key):
    return jnp.where(draw(key, weights.shape), weights / KEPT, 0)


def by_einsum(q, k, v, seen, bias, drop=None):
    """Queries are scaled, as Flax does; the softmax is in the operands' type."""
    q = q / jnp.sqrt(q.shape[-1]).astype(q.dtype)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    if bias is not None:
        scores = scores + bias
    if seen is not None:
        scores = jnp.where(seen, scores, jnp.finfo(scores.dtype).min)
    weights = jax.nn.softmax(scores)
    if drop is not None:
        weights = drop(weights)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def by_masked_weights(q, k, v, seen, bias, drop=None):
    """Weights are masked as the scores are: a row of which nothing is left is zero."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    seen = seen & jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jnp.where(seen, jax.nn.softmax(jnp.where(seen, scores, -1e9)), 0)
    if drop is not None:
        weights = drop(weights)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def by_two_biases(q, k, v, seen, bias):
    """Biases are added to the scores one by one."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    for each in bias:
        scores = scores + each
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def by_hand(q, k, v, seen, bias, drop=None, constant=False):
    """Heads before queries; a finite score for what is left out; a constant mask."""
    q, k, v = (t.transpose(0, 2, 1, 3) for t in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    if bias is not None:
        scores = scores + bias
    shape = scores.shape[-2:]
    causal = np.tril(np.ones(shape, bool)) if constant else jnp.tril(jnp.ones(shape, bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    if drop is not None:
        weights = drop(weights)
    return (weights @ v).transpose(0, 2, 1, 3)


def by_exponentials(q, k, v, seen, bias):
    """A softmax of one's own, scaled by a product."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.25
    if seen is not None:
        scores = jnp.where(seen, scores, -1e30)
    powers = jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True)))
    weights = powers * (1 / powers.sum(-1, keepdims=True))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def by_custom_rule(q, k, v, seen, bias):
    """A softmax whose derivative is written by hand."""

    @jax.custom_jvp
    def softmax(x):
        return jax.nn.softmax(x)

    @softmax.defjvp
    def derivative(primals, tangents):
        y = softmax(*primals)
        (dx,) = tangents
        return y, y * (dx - (y * dx).sum(-1, keepdims=True))

    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.5
    return jnp.einsum("bhqk,bkhd->bqhd", softmax(scores), v)


def by_repeated_keys(q, k, v, seen, bias, **options):
    k, v = (jnp.repeat(t, q.shape[2] // t.shape[2], axis=2) for t in (k, v))
    return by_hand(q, k, v, seen, bias, **options)


def by_groups(q, k, v, seen, bias, drop):
    """Heads that share keys are a dimension of queries; rows have masks of their own."""
    q = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[-1])
    weights = jax.nn.softmax(jnp.einsum("bqmgd,bkmd->bmgqk", q, k))
    out = jnp.einsum("bmgqk,bkmd->bqmgd", drop(weights), v)
    return out.reshape(*out.shape[:2], -1, out.shape[-1])


def learned_biases(p, queries, source, seen, dtype, apart):
    """What is learned of distances, by head, and the mask added to it, as in T5. If
    `apart`, a list of both and what is learned of distances for all heads."""
    distance = jnp.arange(queries)[:, None] - jnp.arange(source)
    distance = jnp.clip(distance, -FAR, FAR) + FAR
    biases = [p["bias"][distance].transpose(2, 0, 1)[None].astype(dtype)]
    if seen is not None:
        biases.append(jnp.where(seen, 0, -1e9).astype(dtype))
    if apart:
        return [*biases, p["near"][distance].astype(dtype)]
    return functools.reduce(jnp.add, biases)


def attending(
    attend, rows=24, heads=4, keys=4, cross=False, masked=False, biased=False, learned=False,
    apart=False, shared=False, dtype=None, recomputed=False, scanned=False, length=LENGTH,
    drop=None,
) -> Step:  # fmt: skip
    """Two layers; with `masked`, sources of several lengths, some of none; with
    `learned`, a bias by distance that is a parameter, and to which masks are added,
    as in T5, once for all layers if it is `shared`. `drop` gives weights behind
    dropout, of these and a key. If `scanned`, layers are stacked, and their softmaxes
    are saved."""
    each = WIDTH // heads

    def look(x, source, lengths):
        """What is seen of the source, and of which types and sizes."""
        length = (source if cross else x).shape[1]
        if not masked:
            return None, length
        return (jnp.arange(length) < lengths[:, None])[:, None, None], length

    def learn(p, x, source, lengths):
        seen, length = look(x, source, lengths)
        kind = half() if dtype else x.dtype
        return learned_biases(p, x.shape[1], length, seen, kind, apart)

    def mixed(p, x, source, lengths, key, bias=None):
        cast = (lambda t: t.astype(half())) if dtype else (lambda t: t)
        x, source = cast(x), cast(source if cross else x)
        q, k, v = (
            cut(t @ cast(p[name]), count)
            for t, name, count in ((x, "q", heads), (source, "k", keys), (source, "v", keys))
        )
        seen, _ = look(x, source, lengths)
        if biased:  # Less for what is further away.
            distance = jnp.abs(jnp.arange(q.shape[1])[:, None] - jnp.arange(k.shape[1]))
            bias = -0.1 * distance[None, None].astype(q.dtype)
        if learned:
            bias = learn(p, x, source, lengths) if bias is None else bias
            seen = None
        options = {"drop": functools.partial(drop, key=key)} if drop else {}
        out = attend(q, k, v, seen, bias, **options)
        return x + out.reshape(x.shape) @ cast(p["out"])

    layer = jax.checkpoint(mixed) if recomputed else mixed

    def loss(params, x, source, lengths, y):
        bias = learn(params[0], x, source, lengths) if shared else None

        def run(x, numbered):
            number, p = numbered
            key = jax.random.fold_in(jax.random.key(7), number) if drop else None
            return layer(p, x, source, lengths, key, bias), None

        if scanned:
            x, _ = jax.lax.scan(run, x, (jnp.arange(2), params))
        else:
            for numbered in enumerate(params):
                x, _ = run(x, numbered)
        return jnp.square(x.astype(y.dtype) - y).mean()

    def block(seed):
        shapes = {"q": heads, "k": keys, "v": keys}
        params = {
            name: normal(WIDTH, count * each, seed=seed + i, scale=0.4)
            for i, (name, count) in enumerate(shapes.items())
        }
        if learned:
            params["bias"] = normal(2 * FAR + 1, heads, seed=seed + 8)
            if apart:
                params["near"] = normal(2 * FAR + 1, seed=seed + 7)
        return {**params, "out": normal(WIDTH, WIDTH, seed=seed + 9, scale=0.4)}

    lengths = np.random.default_rng(1).integers(0, SOURCE + 1, rows).astype(np.int32)
    lengths[:3] = (0, 1, SOURCE)[:rows]
    if learned:  # Behind a mask of -1e9, float64 keeps a bias and float32 does not.
        lengths = np.maximum(lengths, 1)
    batch = (
        normal(rows, length, WIDTH, seed=2),
        normal(rows, SOURCE, WIDTH, seed=3),
        lengths,
        normal(rows, length, WIDTH, seed=4),
    )
    # Unlike Adam's, the update does not divide by gradients that are almost zero.
    optimizer = optax.sgd(0.01, momentum=0.9)
    layers = [block(10), block(30)]
    if scanned:
        layers = jax.tree.map(lambda *each: np.stack(each), *layers)
    return with_optimizer(loss, optimizer, layers, batch, steps=2)


STYLES = {
    "jax_causal": functools.partial(attending, by_jax),
    "jax_grouped": functools.partial(attending, by_jax, keys=2),
    "jax_masked_cross": functools.partial(
        attending, functools.partial(by_jax, causal=False), cross=True, masked=True
    ),
    "jax_masked_causal": functools.partial(attending, by_jax, cross=True, masked=True),
    "jax_biased": functools.partial(attending, by_jax, biased=True),
    "jax_bf16": functools.partial(attending, by_jax, keys=2, dtype="bf16"),
    "flax_masked": functools.partial(attending, by_einsum, cross=True, masked=True),
    "flax_biased": functools.partial(attending, by_einsum, biased=True),
    "flax_bf16": functools.partial(attending, by_einsum, dtype="bf16"),
    "hand": functools.partial(attending, by_hand),
    "constant_mask": functools.partial(
        attending, functools.partial(by_hand, constant=True)
    ),
    "masked_weights": functools.partial(
        attending, by_masked_weights, cross=True, masked=True
    ),
    "masked_weights_dropped": functools.partial(
        attending, by_masked_weights, cross=True, masked=True, drop=dropped_by_selection
    ),
    "own_softmax": functools.partial(attending, by_exponentials, cross=True, masked=True),
    "custom_rule": functools.partial(attending, by_custom_rule),
    "repeated_keys": functools.partial(attending, by_repeated_keys, keys=2),
    "recomputed": functools.partial(attending, by_jax, recomputed=True),
    "scanned": functools.partial(attending, by_jax, keys=2, scanned=True),
    "scanned_dropped": functools.partial(
        attending, by_masked_weights, cross=True, masked=True, drop=dropped_by_selection,
        scanned=True,
    ),  # fmt: skip
    "dropped_flax": functools.partial(attending, by_einsum, drop=dropped_by_factor, dtype="bf16"),
    "dropped_masked": functools.partial(
        attending, by_einsum, cross=True, masked=True, drop=dropped_by_selection
    ),
    "dropped_groups": functools.partial(attending, by_groups, keys=2, drop=dropped_by_selection),
    "dropped_recomputed": functools.partial(
        attending, by_hand, recomputed=True, drop=dropped_by_selection
    ),
    "learned_grouped": functools.partial(attending, by_jax, keys=2, learned=True),
    "learned_bf16": functools.partial(attending, by_einsum, learned=True, dtype="bf16"),
    "learned_masked_dropped": functools.partial(
        attending, by_einsum, cross=True, masked=True, learned=True, drop=dropped_by_selection
    ),
    "two_biases": functools.partial(
        attending, by_two_biases, cross=True, masked=True, learned=True, apart=True
    ),
    "shared_masked": functools.partial(
        attending, by_einsum, cross=True, masked=True, learned=True, shared=True
    ),
}


def long(length=512) -> Step:
    """Of which the scores would take most of the memory."""
    return attending(by_jax, rows=2, heads=4, length=length)


def short_blocks() -> Step:
    """Blocks of queries, and some that are left."""
    return attending(by_jax, rows=4, length=520)


def varied_blocks() -> Step:
    """Each block slices the mask of dropout, and writes rows of a bias' gradient."""
    return attending(by_hand, rows=4, length=520, drop=dropped_by_factor, learned=True)
