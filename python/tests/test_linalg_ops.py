"""StableHLO ops through linalg give the numbers that JAX gives.

Each group of ops is one function with many named results, so that one module
is compiled for all of them.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from linalg_harness import RANDOM, Lowered, assert_same, check, normal

SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, 3e9, -3e9, 300.7],
    np.float32,
)


def test_float_elementwise(tmp_path):
    def function(x, y, positive):
        return {
            "add": x + y,
            "sub": x - y,
            "mul": x * y,
            "div": x / y,
            "rem": lax.rem(x, y),
            "max": jnp.maximum(x, y),
            "min": jnp.minimum(x, y),
            "pow": lax.pow(positive, x),
            "atan2": lax.atan2(x, y),
            "neg": -x,
            "abs": jnp.abs(x),
            "sign": jnp.sign(x),
            "ceil": jnp.ceil(x),
            "floor": jnp.floor(x),
            "round": lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
            "round_even": lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
            "exp": jnp.exp(x),
            "expm1": jnp.expm1(x),
            "log": jnp.log(positive),
            "log1p": jnp.log1p(positive),
            "tanh": jnp.tanh(x),
            "logistic": lax.logistic(x),
            "sin": jnp.sin(x),
            "cos": jnp.cos(x),
            "tan": jnp.tan(x),
            "sqrt": jnp.sqrt(positive),
            "rsqrt": lax.rsqrt(positive),
            "cbrt": jnp.cbrt(positive),
            "square": jnp.square(x),
            "clamp": lax.clamp(-0.5, x, 0.25),
            "is_finite": jnp.isfinite(x),
            "bits": lax.bitcast_convert_type(x, jnp.int32),
            "reduce_precision": lax.reduce_precision(x, 8, 7),
        }

    x, y = normal(5, 7), normal(5, 7)
    check(tmp_path, function, x, y, np.abs(normal(5, 7)) + 0.1, rtol=3e-6, interpreted=True)


def test_special_values(tmp_path):
    """Infinities, NaN, signed zeros, saturation."""

    def function(x, y):
        y = y[:, None]
        compares = {
            name: compare(x + jnp.zeros_like(y), y + jnp.zeros_like(x))
            for name, compare in {
                "eq": lax.eq,
                "ne": lax.ne,
                "lt": lax.lt,
                "le": lax.le,
                "gt": lax.gt,
                "ge": lax.ge,
            }.items()
        }
        return {
            **compares,
            "max": jnp.maximum(x, y),
            "min": jnp.minimum(x, y),
            "sign": jnp.sign(x),
            "finite": jnp.isfinite(x),
            "to_i32": lax.convert_element_type(x, jnp.int32),
            "to_u32": lax.convert_element_type(x, jnp.uint32),
            "to_i8": lax.convert_element_type(x, jnp.int8),
            "to_u8": lax.convert_element_type(x, jnp.uint8),
            "to_bool": lax.convert_element_type(x, jnp.bool_),
            "exp": jnp.exp(x[:9]),
            "log": jnp.log(x[:9]),
            "tanh": jnp.tanh(x),
            "rsqrt": lax.rsqrt(x[:9]),
            "sort_key": lax.lt_to_p.bind(x[:, None] + y * 0, y + x * 0),
        }

    check(tmp_path, function, SPECIAL, SPECIAL, rtol=3e-6)


def test_integers(tmp_path):
    def function(a, b, u, v, shift, p, q):
        return {
            "div": lax.div(a, b),
            "rem": lax.rem(a, b),
            "udiv": lax.div(u, v),
            "urem": lax.rem(u, v),
            "max": jnp.maximum(a, b),
            "umax": jnp.maximum(u, v),
            "umin": jnp.minimum(u, v),
            "ult": u < v,
            "slt": a < b,
            "abs": jnp.abs(a),
            "sign": jnp.sign(a),
            "pow": lax.integer_pow(a, 3),
            "and": a & b,
            "or": a | b,
            "xor": a ^ b,
            "not": ~a,
            "shl": lax.shift_left(a, shift),
            "shr": lax.shift_right_logical(a, shift),
            "sar": lax.shift_right_arithmetic(a, shift),
            "popcount": lax.population_count(u),
            "clz": lax.clz(u),
            "u_to_f": u.astype(jnp.float32),
            "i_to_f": a.astype(jnp.float32),
            "u_to_i8": u.astype(jnp.int8),
            "i_to_bool": a.astype(jnp.bool_),
            "p_and_q": p & q,
            "p_plus_q": p.astype(jnp.int32) + q,
            "not_p": ~p,
            "p_to_f": p.astype(jnp.float32),
            "select": jnp.where(p, a, b),
            "clamp": jnp.clip(a, -3, 5),
            "sum": u.sum(),
            "any": p.any(),
            "all": q.all(axis=0),
        }

    a = np.array([7, -7, 5, -(2**31), 0, 12, -1, 3], np.int32)
    b = np.array([2, 2, 0, -1, 3, -5, -1, 2**31 - 1], np.int32)
    u = a.astype(np.uint32)
    v = b.astype(np.uint32)
    shift = np.array([0, 1, 31, 32, 33, 4, 2, 7], np.int32)
    p, q = a > 0, b > 0
    divisions = ("div", "rem", "udiv", "urem")  # By 0, too.
    check(tmp_path, function, a, b, u, v, shift, p, q, unjudged=divisions)


def test_data_movement(tmp_path):
    def function(x, s, i, j):
        return {
            "broadcast": jnp.broadcast_to(x, (2, 4, 6)),
            "broadcast_unit": jnp.broadcast_to(x[:, :1], (4, 6)) + x,
            "broadcast_scalar": jnp.full((3, 2), s),
            "constant": jnp.arange(6, dtype=jnp.float32) * x,
            "table": x + np.arange(24, dtype=np.float32).reshape(4, 6),
            "splat": jnp.ones((3, 3)),
            "iota": lax.broadcasted_iota(jnp.int32, (3, 5), 1),
            "iota_f": lax.broadcasted_iota(jnp.float32, (3, 5), 0),
            "transpose": x.T,
            "transpose3": jnp.transpose(x.reshape(2, 2, 6), (2, 0, 1)),
            "reshape": x.reshape(3, 8),
            "reshape_up": x.reshape(2, 2, 3, 2),
            "reshape_down": x.reshape(-1),
            "reshape_unit": x.reshape(1, 4, 1, 6, 1),
            "reshape_scalar": s.reshape(1, 1),
            "to_scalar": x[:1, :1].reshape(()),
            "reverse": jnp.flip(x, 1),
            "reverse_all": lax.rev(x, (0, 1)),
            "slice": x[1:3, 1:6:2],
            "pad": lax.pad(x, s, [(1, 2, 0), (0, 1, 2)]),
            "pad_negative": lax.pad(x, s, [(-1, 1, 0), (2, -3, 1)]),
            "pad_gone": lax.pad(x, s, [(-3, -1, 0), (0, 0, 0)]),
            "concatenate": jnp.concatenate([x, x[:2] * 2, x[3:]], 0),
            "concatenate1": jnp.concatenate([x, -x], 1),
            "dynamic_slice": lax.dynamic_slice(x, (i, j), (2, 3)),
            "dynamic_update": lax.dynamic_update_slice(x, x[:2, :3] * 10, (i, j)),
            "dynamic_index": lax.dynamic_index_in_dim(x, i, keepdims=False),
            "select": jnp.where(x > 0, x, 0.0),
            "triangle": jnp.tril(jnp.ones((5, 5))),
            "empty": jnp.zeros((0, 3)) + 1,
            "empty_sum": jnp.sum(x[:0], axis=0),
            "empty_concat": jnp.concatenate([x[:0], x]),
            "barrier": lax.optimization_barrier(x) + 1,
        }

    x = normal(4, 6)
    lowered = Lowered(function, (x, np.float32(9), np.int32(0), np.int32(0)), tmp_path)
    for i, j in [(1, 2), (-5, 100), (3, 4)]:
        arguments = (x, np.float32(9), np.int32(i), np.int32(j))
        assert_same(lowered(*arguments), jax.jit(function)(*arguments), 1e-6, 0)


def test_reductions(tmp_path):
    def function(x, big):
        return {
            "sum": x.sum(),
            "sum0": x.sum(0),
            "sum1": x.sum(1),
            "sum02": x.sum((0, 2)),
            "max": x.max(2),
            "min": x.min(0),
            "prod": x.prod(1),
            "argmax": x.argmax(2),
            "argmin": x.argmin(0),
            "mean": x.mean((0, 1, 2)),
            "var": x.var(1),
            "logsumexp": jax.nn.logsumexp(x, axis=2),
            "init": lax.reduce(x, np.float32(3), lax.add, (1,)),
            "product_of_squares": jnp.sum(x * x, (1, 2)),
            "big": big.sum(),
            "bf16": x.astype(jnp.bfloat16).max(0).astype(jnp.float32),
        }

    check(tmp_path, function, normal(3, 4, 5), normal(100_000), atol=1e-4, interpreted=True)


def test_dot_general(tmp_path):
    def function(a, b, c, d, v, i, h):
        h = h.astype(jnp.bfloat16)
        return {
            "matmul": a @ b,
            "transposed": b.T @ a.T,
            "transposed_result": (a @ b).T,
            "batch": jnp.einsum("bhqd,bhkd->bhqk", c, d),
            "batch_out": jnp.einsum("bhqk,bhkd->bqhd", c, d.swapaxes(2, 3)),
            "heads": jnp.einsum("bqhd,bkhd->bhqk", c, d),
            "outer_rows": jnp.einsum("bhqd,bhkd->qk", c, d),
            "matvec": a @ v,
            "dot": v @ v,
            "outer": jnp.outer(v, v),
            "integers": i @ i.T,
            # JAX may keep the result in f32: compare what it rounds to anyway.
            "bf16": jnp.round((h @ h.T).astype(jnp.float32)),
            "bf16_to_f32": jnp.dot(h, h.T, preferred_element_type=jnp.float32),
            "empty": a[:, :0] @ b[:0],
        }

    a, b, v = normal(5, 6), normal(6, 3), normal(6)
    c, d = normal(2, 4, 4, 6), normal(2, 4, 4, 6)
    i = np.arange(12, dtype=np.int32).reshape(3, 4)
    h = normal(4, 6)
    unjudged = ("bf16", "bf16_to_f32", "empty")
    check(tmp_path, function, a, b, c, d, v, i, h, rtol=1e-5, atol=1e-5, unjudged=unjudged)


def test_gather_scatter(tmp_path):
    """Rows, elements and windows, inside, outside and repeated."""

    def function(table, ids, updates, labels, index):
        drop = {"mode": "drop"}
        rows = jnp.arange(4)
        return {
            "rows": table[ids],
            "clipped": jnp.take(table, ids, axis=0, mode="clip"),
            "filled": jnp.take(table, ids, axis=0, mode="fill"),
            "columns": jnp.take(table, labels, axis=1, mode="clip"),
            "per_row": jnp.take_along_axis(table[:4], labels[:, None], axis=1),
            "elements": table[rows, labels],
            "scalar": table[index],
            "add_rows": table.at[ids].add(updates, **drop),
            "set_rows": table.at[ids[0]].set(updates[0], **drop),
            "max_rows": table.at[ids].max(updates, **drop),
            "mul_elements": table.at[rows, labels].multiply(2.0, **drop),
            "add_elements": jnp.zeros((6,)).at[ids].add(1.0, **drop),
            "per_row_add": jax.vmap(lambda t, i: t.at[i].add(1.0))(table[:4], labels),
            "window": lax.dynamic_update_slice(table, table[:2, :2], (index, index)),
            "columns_add": table.at[:, labels].add(1.0, **drop),
            "u8": jnp.zeros((9,)).at[labels.astype(jnp.uint8)].add(1.0),
        }

    table = normal(6, 5)
    ids = np.array([[0, 5, 5], [2, -1, 17]], np.int32)
    labels = np.array([0, 4, 2, 4], np.int32)
    updates = normal(2, 3, 5)
    check(tmp_path, function, table, ids, updates, labels, np.int32(3), interpreted=True)


def test_gradient_of_embedding(tmp_path):
    def loss(table, ids, labels):
        logits = table[ids] @ table.T
        logp = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(logp, labels[..., None], -1).mean()

    ids = RANDOM.integers(0, 11, (3, 4)).astype(np.int32)
    labels = RANDOM.integers(0, 11, (3, 4)).astype(np.int32)
    check(tmp_path, jax.value_and_grad(loss), normal(11, 8), ids, labels, interpreted=True)


def test_control_flow(tmp_path):
    def scan(w, xs):
        def step(carry, x):
            carry = jnp.tanh(carry @ w + x)
            return carry, carry.sum()

        return lax.scan(step, jnp.zeros(4), xs)

    def function(w, xs, n, p):
        return {
            "scan": scan(w, xs),
            "grad": jax.grad(lambda w: scan(w, xs)[1].sum())(w),
            "fori": lax.fori_loop(0, 5, lambda i, x: x * 1.5 + i, 1.0),
            "fori_n": lax.fori_loop(2, n, lambda i, x: x + i * xs[i % 3, 0], 1.0),
            "never": lax.fori_loop(7, n, lambda i, x: x + 1, 1.0),
            "while": lax.while_loop(lambda x: x < 100.0, lambda x: x * 3, xs[0, 0] ** 2 + 1),
            "cond": lax.cond(p, lambda x: x + 1, lambda x: x * 2, xs),
            "switch": [
                lax.switch(i, [lambda x: x, lambda x: -x, lambda x: x * x], xs)
                for i in (n - 6, n, n - 4, n - 9)
            ],
        }

    w, xs = normal(4, 4), normal(3, 4)
    lowered = Lowered(function, (w, xs, np.int32(5), np.bool_(True)), tmp_path)
    assert "scf.while" in lowered.linalg and "scf.for" in lowered.linalg
    for n, p in [(5, True), (6, False), (0, True)]:
        arguments = (w, xs, np.int32(n), np.bool_(p))
        assert_same(lowered(*arguments), jax.jit(function)(*arguments), 1e-5, 1e-6)


def test_layers(tmp_path):
    """Softmax, layer norm, attention and their gradients."""

    def attention(x, w):
        q, k, v = jnp.split(x @ w, 3, axis=-1)
        heads = lambda t: t.reshape(2, 6, 2, 4).transpose(0, 2, 1, 3)
        scores = heads(q) @ heads(k).swapaxes(2, 3) / 2.0
        scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -jnp.inf)
        mixed = jax.nn.softmax(scores) @ heads(v)
        return mixed.transpose(0, 2, 1, 3).reshape(2, 6, 8)

    def norm(x, scale, bias):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale + bias

    def loss(parameters, x):
        w, scale, bias = parameters
        hidden = norm(attention(x, w), scale, bias)
        return jnp.mean(jax.nn.gelu(hidden + x) ** 2)

    parameters = (normal(8, 24), normal(8), normal(8))
    check(tmp_path, jax.value_and_grad(loss), parameters, normal(2, 6, 8), interpreted=True)


def test_adam_update(tmp_path):
    def update(p, m, v, g, step):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        t = step.astype(jnp.float32) + 1
        m_hat = m / (1 - 0.9**t)
        v_hat = v / (1 - 0.999**t)
        return p - 1e-3 * (m_hat / (jnp.sqrt(v_hat) + 1e-8) + 0.01 * p), m, v

    arguments = (*(normal(13, 7) for _ in range(2)), normal(13, 7) ** 2, normal(13, 7))
    lowered = check(tmp_path, update, *arguments, np.int32(3), interpreted=True)
    # The whole update is one pass over memory.
    kernels = [l for l in lowered.linalg.splitlines() if '["parallel"]' in l]
    assert len(kernels) == 1, lowered.linalg


GRIDS = {
    "tanh": (np.tanh, jnp.tanh, np.linspace(-12, 12, 20001)),
    "tanh_small": (np.tanh, jnp.tanh, np.geomspace(1e-8, 1, 20001)),
    "exp": (np.exp, jnp.exp, np.linspace(-80, 80, 20001)),
    "log": (np.log, jnp.log, np.geomspace(1e-30, 1e30, 20001)),
    "log1p": (np.log1p, jnp.log1p, np.geomspace(1e-10, 1e5, 20001)),
    "expm1": (np.expm1, jnp.expm1, np.linspace(-5, 20, 20001)),
    "cos": (np.cos, jnp.cos, np.linspace(-100, 100, 20001)),
    "erf": (np.vectorize(math.erf), lax.erf, np.linspace(-4, 4, 20001)),
    "erfc": (np.vectorize(math.erfc), lax.erfc, np.linspace(-4, 3, 20001)),
    "sqrt": (np.sqrt, jnp.sqrt, np.geomspace(1e-30, 1e30, 20001)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lax.rsqrt, np.geomspace(1e-30, 1e30, 20001)),
    "power": (
        lambda x: np.power(x, 2.5),
        lambda x: lax.pow(x, jnp.full_like(x, 2.5)),
        np.geomspace(1e-10, 1e10, 20001),
    ),
}
MAX_ULP = 8


def test_accuracy_of_functions(tmp_path):
    """f32 results are within a few ulp of f64, over wide ranges."""
    points = {name: grid.astype(np.float32) for name, (_, _, grid) in GRIDS.items()}

    def function(points):
        return {name: GRIDS[name][1](x) for name, x in points.items()}

    results = Lowered(function, (points,), tmp_path)(points)
    for name, (reference, _, _) in GRIDS.items():
        exact = reference(points[name].astype(np.float64))
        ulp = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
        error = np.abs(results[name].astype(np.float64) - exact) / ulp
        # Near a zero of cos the error is absolute.
        if name == "cos":
            error = np.abs(results[name].astype(np.float64) - exact) * 2**24
        assert error.max() <= MAX_ULP, (name, error.max(), points[name][error.argmax()])


def test_unsupported_op_is_named(tmp_path):
    from linalg_harness import to_linalg

    text = jax.jit(jnp.linalg.qr).lower(normal(4, 4)).as_text(debug_info=True)
    with pytest.raises(RuntimeError, match="'@lapack_sgeqrf_ffi'") as failure:
        to_linalg(text)
    assert str(failure.value).count("error:") == 1


def test_rematerialisation_stays(tmp_path):
    """What a checkpoint computes again in backward is not kept instead."""

    @jax.checkpoint
    def layer(w, x):
        return jnp.tanh(jnp.tanh(x @ w) @ w)

    def loss(w, x):
        return layer(w, layer(w, x)).sum()

    lowered = check(tmp_path, jax.grad(loss), normal(4, 4), normal(3, 4))
    # Without it: 2 products in each layer's forward, and in its backward 2 for
    # w and 2 for x, but for the first layer's input.
    assert lowered.linalg.count("linalg.contract") > 2 * 2 + 2 * 4 - 1
