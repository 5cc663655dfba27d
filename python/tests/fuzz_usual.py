"""Instructions of random programs: what most models are made of."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from fuzz_state import LENGTH, VOCABULARY, WIDTH, instruction


@instruction()
def dense(s):
    width = int(s.rng.integers(1, 9))
    y = s.top @ s.parameter(s.top.shape[-1], width)
    if s.rng.random() < 0.6:
        y = y + s.parameter(width)
    s.push(y)


@instruction()
def activate(s):
    functions = (jnp.tanh, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jnp.sin)
    functions += (jax.nn.sigmoid, jnp.abs, jnp.expm1, jax.lax.erf, jnp.arctan, jnp.square)
    s.push(s.pick(functions)(s.top))


@instruction()
def normalise(s):
    axis = s.pick((-1, 0, tuple(range(s.top.ndim - 1))))
    centred = s.top - s.top.mean(axis, keepdims=True)
    scale = jax.lax.rsqrt(jnp.square(centred).mean(axis, keepdims=True) + 0.1)
    y = centred * scale
    s.push(y * s.parameter(s.top.shape[-1]) if s.rng.random() < 0.5 else y)


@instruction()
def softmax(s):
    s.push(s.pick((jax.nn.softmax, jax.nn.log_softmax))(s.top, axis=-1))


@instruction()
def embed(s):
    table = s.parameter(VOCABULARY, WIDTH)
    rows = table[s.tokens] if s.rng.random() < 0.7 else jnp.take(table, s.tokens % 3, axis=0)
    s.push(rows)
    if s.rng.random() < 0.4:  # tied
        s.push(s.top @ table.T)


@instruction()
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


@instruction()
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


@instruction()
def combine(s):
    other = s.earlier(lambda v: v.shape == s.top.shape)
    if other is None:
        return
    s.push(s.pick((jnp.add, jnp.subtract, jnp.multiply, jnp.maximum))(s.top, other))


@instruction()
def join(s):
    other = s.earlier(lambda v: v.ndim == s.top.ndim and v.shape[-1] + s.top.shape[-1] < 16)
    if other is not None:
        s.push(jnp.concatenate([s.top, other], -1))


@instruction()
def cut(s):
    width = s.top.shape[-1]
    first = int(s.rng.integers(width))
    s.push(s.top[..., first : first + 1 + int(s.rng.integers(width))])


@instruction()
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


@instruction()
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


@instruction()
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


@instruction()
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


@instruction()
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


@instruction()
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


@instruction()
def repeat(s):
    scale = s.parameter(s.top.shape[-1], scale=0.2)
    count = int(s.rng.integers(1, 4))
    s.push(jax.lax.fori_loop(0, count, lambda i, h: jnp.sin(h * (1 + scale)) + i, s.top))


@instruction()
def recompute(s):
    w = s.parameter(s.top.shape[-1], 5)
    s.push(jax.checkpoint(lambda h, w: jnp.tanh(jnp.sin(h @ w)))(s.top, w))


@instruction()
def convolve(s):
    if s.top.ndim != 3:
        return
    kernel = s.parameter(2, s.top.shape[-1], 4)
    padding = s.pick(("SAME", [(1, 0)]))
    y = jax.lax.conv_general_dilated(
        s.top, kernel, (1,), padding, dimension_numbers=("NWC", "WIO", "NWC")
    )
    s.push(y)


@instruction()
def window(s):
    if s.top.ndim != 3:
        return
    y = jax.lax.reduce_window(
        s.top, -jnp.inf, jax.lax.max, (1, 2, 1), (1, 1, 1), [(0, 0), (0, 1), (0, 0)]
    )
    s.push(y)


@instruction()
def scalar(s):
    s.push(s.top * (1 + s.parameter()))


@instruction()
def punish(s):
    kind = int(s.rng.integers(3))
    if kind == 0:
        s.penalty += 0.1 * jnp.square(s.parameter(7)).sum()
    elif kind == 1:
        s.penalty += 0.1 * jax.nn.logsumexp(s.top)
    else:
        s.penalty += 0.1 * jnp.square(s.top.mean(0)).sum()


@instruction(first_seed=200)
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


@instruction(first_seed=200)
def drop(s):
    """Of numbers in float32: those in float64 would be others."""
    key = jax.random.fold_in(jax.random.PRNGKey(3), int(s.rng.integers(9)))
    if s.rng.random() < 0.5:
        kept = jax.random.uniform(key, s.top.shape, jnp.float32) < 0.8
        s.push(jnp.where(kept, s.top, 0))
    else:
        noise = jax.random.normal(key, (1, s.top.shape[-1]), jnp.float32)
        s.push(s.top + 0.1 * noise.astype(s.top.dtype))
