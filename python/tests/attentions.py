"""One small training step for each way in which people write attention."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

from kinds import half
from step_parts import Step, normal, with_optimizer

WIDTH, LENGTH, SOURCE = 16, 9, 20


def cut(x, heads):
    """[rows, length, heads, elements]"""
    return x.reshape(*x.shape[:2], heads, -1)


def by_jax(q, k, v, seen, bias, causal=True):
    """Flax, too, calls this or writes `by_einsum`."""
    return jax.nn.dot_product_attention(q, k, v, bias, seen, is_causal=causal)


def by_einsum(q, k, v, seen, bias):
    """Queries are scaled, as Flax does; the softmax is in the operands' type."""
    q = q / jnp.sqrt(q.shape[-1]).astype(q.dtype)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    if bias is not None:
        scores = scores + bias
    if seen is not None:
        scores = jnp.where(seen, scores, jnp.finfo(scores.dtype).min)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def by_hand(q, k, v, seen, bias, constant=False):
    """Heads before queries; a finite score for what is left out; a constant mask."""
    q, k, v = (t.transpose(0, 2, 1, 3) for t in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    shape = scores.shape[-2:]
    causal = np.tril(np.ones(shape, bool)) if constant else jnp.tril(jnp.ones(shape, bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
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


def by_repeated_keys(q, k, v, seen, bias):
    k, v = (jnp.repeat(t, q.shape[2] // t.shape[2], axis=2) for t in (k, v))
    return by_hand(q, k, v, seen, bias)


def attending(
    attend, rows=24, heads=4, keys=4, cross=False, masked=False, biased=False,
    dtype=None, recomputed=False, length=LENGTH,
) -> Step:  # fmt: skip
    """Two layers; with `masked`, sources of several lengths, some of none."""
    each = WIDTH // heads

    def mixed(p, x, source, lengths):
        cast = (lambda t: t.astype(half())) if dtype else (lambda t: t)
        x, source = cast(x), cast(source if cross else x)
        q, k, v = (
            cut(t @ cast(p[name]), count)
            for t, name, count in ((x, "q", heads), (source, "k", keys), (source, "v", keys))
        )
        seen = bias = None
        if masked:
            seen = (jnp.arange(k.shape[1]) < lengths[:, None])[:, None, None]
        if biased:  # Less for what is further away.
            distance = jnp.abs(jnp.arange(q.shape[1])[:, None] - jnp.arange(k.shape[1]))
            bias = -0.1 * distance[None, None].astype(q.dtype)
        out = attend(q, k, v, seen, bias)
        return x + out.reshape(x.shape) @ cast(p["out"])

    layer = jax.checkpoint(mixed) if recomputed else mixed

    def loss(params, x, source, lengths, y):
        for p in params:
            x = layer(p, x, source, lengths)
        return jnp.square(x.astype(y.dtype) - y).mean()

    def block(seed):
        shapes = {"q": heads, "k": keys, "v": keys}
        params = {
            name: normal(WIDTH, count * each, seed=seed + i, scale=0.4)
            for i, (name, count) in enumerate(shapes.items())
        }
        return {**params, "out": normal(WIDTH, WIDTH, seed=seed + 9, scale=0.4)}

    lengths = np.random.default_rng(1).integers(0, SOURCE + 1, rows).astype(np.int32)
    lengths[:3] = (0, 1, SOURCE)[:rows]
    batch = (
        normal(rows, length, WIDTH, seed=2),
        normal(rows, SOURCE, WIDTH, seed=3),
        lengths,
        normal(rows, length, WIDTH, seed=4),
    )
    # Unlike Adam's, the update does not divide by gradients that are almost zero.
    optimizer = optax.sgd(0.01, momentum=0.9)
    return with_optimizer(loss, optimizer, [block(10), block(30)], batch, steps=2)


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
    "own_softmax": functools.partial(attending, by_exponentials, cross=True, masked=True),
    "custom_rule": functools.partial(attending, by_custom_rule),
    "repeated_keys": functools.partial(attending, by_repeated_keys, keys=2),
    "recomputed": functools.partial(attending, by_jax, recomputed=True),
}


def long(length=512) -> Step:
    """Of which the scores would take most of the memory."""
    return attending(by_jax, rows=2, heads=4, length=length)


def short_blocks() -> Step:
    """Blocks of queries, and some that are left."""
    return attending(by_jax, rows=4, length=520)
