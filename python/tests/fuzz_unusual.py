"""Instructions of random programs: ops that steps use less often, or with less
usual operands. What they decide (orders, positions, counts) comes from the
batch's integers, so that rounding does not change it. Narrow types are left to
the kinds of steps: where a value is rounded to bfloat16 decides by itself."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from fuzz_state import instruction


def column(values, like):
    """One number for each row, for all of the row's elements."""
    return values.reshape(-1, *[1] * (like.ndim - 1)).astype(like.dtype)


@instruction(first_seed=220)
def bits(s):
    """Integers, their bits, and what clamps and divides them."""
    n = s.labels.astype(jnp.uint32) + jnp.uint32(s.rng.integers(1, 9))
    mixed = [
        lambda: (n * jnp.uint32(2654435761)) >> 27,
        lambda: (n << 2) ^ (n | 5) & ~jnp.uint32(1),
        lambda: jax.lax.population_count(n * jnp.uint32(77)),
        lambda: jax.lax.clz(n) + jax.lax.rem(n, jnp.uint32(3)),
        lambda: jnp.abs(jax.lax.shift_right_arithmetic(-n.astype(jnp.int32), jnp.int32(1))),
        lambda: jnp.clip(n // 2, 1, 3),
    ]
    value = s.pick(mixed)() % 16
    s.push(s.top * (1 + column(value, s.top) / 16))


@instruction(first_seed=220)
def position(s):
    """Slices and updates at a position that is known when the step runs."""
    kind, width = int(s.rng.integers(4)), s.top.shape[-1]
    start = s.labels.sum() % width
    if kind == 0:
        s.push(jax.lax.dynamic_slice_in_dim(s.top, start, (width + 1) // 2, axis=-1))
    elif kind == 1:
        new = jnp.broadcast_to(s.parameter(1), (*s.top.shape[:-1], 1))
        s.push(jax.lax.dynamic_update_slice_in_dim(s.top, new, start, axis=-1))
    elif kind == 2:
        row = s.labels.sum() % s.top.shape[0]
        s.push(s.top + jax.lax.dynamic_index_in_dim(s.top, row, axis=0))
    else:
        w = s.parameter(5, width)
        s.push(s.top * jax.lax.dynamic_index_in_dim(w, start % 5, keepdims=False))


@instruction(first_seed=220)
def scatter(s):
    kind, width = int(s.rng.integers(4)), s.top.shape[-1]
    rows = s.labels
    if kind == 0:
        index = np.array([0, width - 1, 0])
        s.push(s.top.at[..., index].add(s.parameter(3)))
    elif kind == 1:
        index = np.unique(s.rng.integers(0, width, 3))
        s.push(s.top.at[..., index].set(s.parameter(len(index))))
    elif kind == 2:
        top = jax.lax.stop_gradient(s.top)
        most = jax.ops.segment_max(top, rows, num_segments=3)
        s.push(s.top - jnp.maximum(most, -9)[rows])
    else:
        table = s.parameter(3, width)
        s.push(table.at[rows].add(s.top.reshape(len(rows), -1, width).sum(1))[rows])


@instruction(first_seed=240)
def narrow_indices(s):
    """Indices of 8 bits, into a dimension that may have more elements than they
    count to."""
    flat = s.top.reshape(-1)
    index = s.rng.integers(-20, 127, 7).astype(np.int8)
    if s.rng.random() < 0.5:
        s.push(s.top + jnp.take(flat, index, mode="clip") @ s.parameter(7))
    else:
        numbers = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
        written = jax.lax.scatter_add(flat, index[:, None], s.parameter(7), numbers)
        s.push(written.reshape(s.top.shape))


@instruction(first_seed=220)
def convolve_otherwise(s):
    """Strides, dilations, groups, two dimensions."""
    if s.top.ndim != 3:
        return
    kind, width = int(s.rng.integers(4)), s.top.shape[-1]
    names = ("NWC", "WIO", "NWC")
    options = {"dimension_numbers": names}
    if kind == 0:
        kernel = s.parameter(2, width, 3)
        y = jax.lax.conv_general_dilated(s.top, kernel, (2,), [(1, 0)], **options)
        y = jnp.repeat(y, 2, axis=1)[:, : s.top.shape[1]]
    elif kind == 1:
        kernel = s.parameter(2, width, 3)
        y = jax.lax.conv_general_dilated(
            s.top, kernel, (1,), [(2, 0)], rhs_dilation=(2,), **options
        )
    elif kind == 2:
        kernel = s.parameter(3, 1, 2 * width)
        y = jax.lax.conv_general_dilated(
            s.top, kernel, (1,), "SAME", feature_group_count=width, **options
        )
    else:
        y = jax.lax.conv_general_dilated(
            s.top[..., None],
            s.parameter(3, 2, 1, 2),
            (1, 1),
            "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        y = y.reshape(*s.top.shape[:2], -1)
    s.push(y)


@instruction(first_seed=220)
def window_otherwise(s):
    """Means and minima over windows, of rows and of elements."""
    if s.top.ndim != 3:
        return
    kind = int(s.rng.integers(3))
    if kind == 0:
        pads = [(0, 0), (1, 0), (0, 0)]
        y = jax.lax.reduce_window(s.top, 0.0, jax.lax.add, (1, 2, 1), (1, 1, 1), pads) / 2
    elif kind == 1:
        y = jax.lax.reduce_window(s.top, jnp.inf, jax.lax.min, (1, 2, 1), (1, 2, 1), "SAME")
        y = jnp.concatenate([y, s.top[:, 2:]], axis=1)[:, : s.top.shape[1]]
    else:
        pads = [(0, 0), (0, 0), (1, 1)]
        y = jax.lax.reduce_window(s.top, -jnp.inf, jax.lax.max, (1, 1, 3), (1, 1, 1), pads)
    s.push(y)


@instruction(first_seed=220)
def accumulate(s):
    kind = int(s.rng.integers(5))
    last = s.top.ndim - 1
    if kind == 0:
        s.push(jax.lax.cumlogsumexp(s.top, last))
    elif kind == 1:
        s.push(jax.lax.cumprod(1 + 0.1 * s.top, last, reverse=True))
    elif kind == 2:
        s.push(jax.lax.associative_scan(jnp.add, s.top, axis=last))
    elif kind == 3:
        s.push(jnp.cumsum(s.top, axis=0) / 8)
    else:
        s.push(jax.lax.cummin(s.top, last))


@instruction(first_seed=220)
def until(s):
    """A loop that ends when the batch's integers say so."""
    count = s.labels.sum() % 4
    h = jax.lax.stop_gradient(s.top)
    _, shrunk = jax.lax.while_loop(
        lambda carry: carry[0] < count,
        lambda carry: (carry[0] + 1, jnp.sin(carry[1]) * 0.9),
        (jnp.zeros_like(count), h),
    )
    s.push(s.top + shrunk)


@instruction(first_seed=220)
def reduce_otherwise(s):
    kind = int(s.rng.integers(4))
    if kind == 0:
        s.push(s.top * (1 + 0.1 * s.top).prod(-1, keepdims=True))
    elif kind == 1:
        odd = (s.tokens % 2 == 1).all(1) | (s.tokens == 3).any(1)
        s.push(jnp.where(column(odd, s.top) > 0, s.top, 0.5 * s.top))
    elif kind == 2:
        at = jnp.argmax(s.x, axis=-1) - jnp.argmin(s.x, axis=-1)
        s.push(s.top * (1 + column(at, s.top) / 8))
    else:
        s.push(s.top - s.top.min(0) + 0.1 * jnp.abs(s.top).max())


@instruction(first_seed=220)
def arrange(s):
    """Rows in another order, which the whole batch decides."""
    kind = int(s.rng.integers(3))
    if kind == 0:
        s.push(s.top[jnp.argsort(s.labels)])
    elif kind == 1:
        rows = s.top.reshape(s.top.shape[0], -1)
        keys = jnp.broadcast_to(jnp.arange(rows.shape[1])[None] % 3, rows.shape)
        _, rows = jax.lax.sort((keys, rows), dimension=1, num_keys=1, is_stable=True)
        s.push(rows.reshape(s.top.shape))
    else:
        counts = jnp.cumsum(jax.nn.one_hot(s.labels, 3, dtype=jnp.int32), axis=0)
        place = jnp.take_along_axis(counts, s.labels[:, None], axis=1)[:, 0]
        s.push(s.top / (1 + column(place, s.top)))


@instruction(first_seed=220)
def function(s):
    """Functions that models use seldom."""
    functions = [
        lambda h: jnp.log1p(jnp.square(h)),
        lambda h: jnp.cbrt(1 + jnp.square(h)),
        lambda h: jnp.power(1.5 + jnp.tanh(h), 1.7),
        lambda h: jnp.arctan2(h, 2 + jnp.cos(h)),
        lambda h: jax.lax.erf_inv(0.5 * jnp.tanh(h)),
        lambda h: jax.lax.lgamma(2.5 + jnp.square(h)),
        lambda h: jax.scipy.special.erfc(h) + jnp.sinh(0.5 * jnp.tanh(h)),
        lambda h: jnp.clip(h, -0.3, 0.7) + jnp.where(jnp.isfinite(h), 0, h),
        lambda h: jnp.rint(s.x[:, :1].sum() * 0) + jnp.hypot(h, 1.0),
    ]
    s.push(s.pick(functions)(s.top))


@instruction(first_seed=220)
def chance(s):
    """Random integers, orders and classes, the same in any precision."""
    key = jax.random.fold_in(jax.random.PRNGKey(5), int(s.rng.integers(9)))
    rows = s.top.shape[0]
    kind = int(s.rng.integers(3))
    if kind == 0:
        n = jax.random.randint(key, (rows,), 0, 5, jnp.int32)
        s.push(s.top * (1 + column(n, s.top) / 8))
    elif kind == 1:
        noise = jax.random.gumbel(key, (rows, 3), jnp.float32)
        s.push(s.top + column(jnp.argmax(noise, -1), s.top) / 8)
    else:
        s.push(s.top[jax.random.permutation(key, rows)])
