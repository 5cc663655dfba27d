"""Functions whose exports use the ops, forward and backward."""

import jax
import jax.numpy as jnp
from jax import lax

import judge

F32 = jnp.zeros((4, 6), jnp.float32)
BF16 = jnp.zeros((4, 6), jnp.bfloat16)
I32 = jnp.zeros((4,), jnp.int32)
TABLE = jnp.zeros((10, 6), jnp.float32)
KEY = jnp.zeros((2,), jnp.uint32)


def grad(f):
    return jax.grad(lambda *args: jnp.sum(f(*args)))


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    scores = jnp.where(mask, scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def scanned(x):
    return lax.scan(lambda c, row: (c * row + 1, c), x[0], x)[0]


def branches(i, x):
    return lax.switch(i, [jnp.sin, jnp.cos, lambda y: y + 1], x)


def scaled(x, *, factor):
    return x * factor


def convolve(x, kernel):
    groups = x.shape[3] // kernel.shape[2]
    return lax.conv_general_dilated(
        x,
        kernel,
        (2, 1),
        "SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )


IMAGES = jnp.zeros((2, 6, 6, 3), jnp.float32)
KERNEL = jnp.zeros((3, 3, 3, 6), jnp.float32)
HEADS = jnp.zeros((2, 5, 3, 4), jnp.float32)
FUNCTIONS = {
    "tanh": (grad(jnp.tanh), F32),
    "logistic": (grad(jax.nn.sigmoid), F32),
    "silu": (grad(jax.nn.silu), BF16),
    "gelu": (grad(jax.nn.gelu), F32),
    "exp": (grad(lambda x: jnp.expm1(jnp.exp(x)) + jnp.log1p(x)), F32),
    "powers": (grad(lambda x: x**3 + jnp.sqrt(x) + lax.rsqrt(x) + jnp.cbrt(x)), F32),
    "power": (grad(jnp.power), F32, F32),
    "trigonometry": (grad(lambda x: jnp.sin(x) * jnp.cos(x) + jnp.tan(x)), F32),
    "atan2": (grad(jnp.arctan2), F32, F32),
    "rounding": (lambda x: (jnp.round(x), jnp.floor(x), jnp.ceil(x)), F32),
    "clip": (grad(lambda x: jnp.clip(x, -1, 1)), F32),
    "finite": (lambda x: jnp.where(jnp.isfinite(x), x, 0), F32),
    "integers": (lambda i: ((i << 2) ^ (i >> 1)) | ~i & (i % 3), I32),
    "complex": (lambda x: jnp.abs(lax.complex(x, x)) + jnp.real(1j * x), F32),
    "bits": (lambda x: lax.bitcast_convert_type(x, jnp.uint32), F32),
    "precision": (lambda x: lax.reduce_precision(x, 8, 7), F32),
    "max": (grad(lambda x: jnp.max(x, axis=1)), F32),
    "argmax": (lambda x: jnp.argmax(x, axis=1), F32),
    "any": (lambda x: jnp.any(x > 0, axis=0), F32),
    "product": (lambda x: jnp.prod(x, axis=0), F32),
    "logsumexp": (grad(lambda x: jax.nn.logsumexp(x, axis=-1)), F32),
    "matmul": (grad(lambda x, y: x @ y.T), F32, TABLE),
    "mixed": (
        lambda x, y: lax.dot_general(
            x, y, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32
        ),
        BF16,
        BF16,
    ),
    "highest": (lambda x: jnp.dot(x, x.T, precision="highest"), F32),
    "algorithm": (lambda x: jnp.dot(x, x.T, precision="F32_F32_F32"), F32),
    "attention": (jax.grad(lambda *a: attention(*a).sum(), (0, 1, 2)), *[HEADS] * 3),
    "embedding": (grad(lambda t, i: t[i]), TABLE, I32),
    "take_along": (
        grad(lambda x, i: jnp.take_along_axis(x, i[:, None], axis=1)),
        F32,
        I32,
    ),
    "scatter": (lambda x, i: x.at[i].max(1.0).at[0, i].mul(2.0), TABLE, I32),
    "dynamic": (grad(lambda x, i: lax.dynamic_slice(x, (i[0], 0), (2, 3))), F32, I32),
    "update": (lambda x, i: lax.dynamic_update_slice(x, x[:2], (i[0], 0)), F32, I32),
    "slices": (grad(lambda x: x[::2, 1:4]), F32),
    "pad": (grad(lambda x: jnp.pad(x, ((1, 2), (0, 3)))), F32),
    "reverse": (lambda x: jnp.concatenate([x[::-1], x.T.reshape(4, 6)]), F32),
    "sort": (lambda x: jnp.sort(x, axis=0), F32),
    "argsort": (jnp.argsort, F32),
    "top_k_sort": (lambda x, i: lax.sort((i, x[:, 0]), num_keys=2), F32, I32),
    "scan": (grad(scanned), F32),
    "while": (
        lambda x: lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x)
        ),
        F32,
    ),
    "fori": (lambda x: lax.fori_loop(0, 5, lambda i, c: c * i, x), F32),
    "switch": (branches, 1, F32),
    "cond": (grad(lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x)), F32),
    "barrier": (lambda x: lax.optimization_barrier((x, x + 1)), F32),
    "checkpoint": (grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))), F32),
    "random_bits": (lambda k: lax.rng_bit_generator(jnp.concatenate([k, k]), (8,)), KEY),
    "dropout": (lambda k, x: jax.random.bernoulli(k, 0.5, x.shape) * x, KEY, F32),
    "normal_bits": (lambda k: jax.random.uniform(k, (3, 5)), KEY),
    "rbg": (lambda: jax.random.normal(jax.random.key(0, impl="rbg"), (4,)),),
    "normal": (lambda k: jax.random.normal(k, (4,)), KEY),
    "truncated": (lambda k: jax.random.truncated_normal(k, -2, 2, (4,)), KEY),
    "gamma": (lambda k: jax.random.gamma(k, 2.0, (4,)), KEY),
    "choice": (lambda k: jax.random.choice(k, 6, (3,), replace=False), KEY),
    "inverse_functions": (
        grad(lambda x: lax.asin(x) + lax.acos(x) + lax.atan(x) + lax.erf_inv(x)),
        F32,
    ),
    "hyperbolic": (
        grad(lambda x: lax.sinh(x) + lax.cosh(x) + lax.asinh(x) + lax.acosh(x)),
        F32,
    ),
    "atanh": (grad(lax.atanh), F32),
    "gamma_functions": (
        lambda x: (lax.lgamma(x), lax.digamma(x), lax.polygamma(x, x), lax.zeta(x, x)),
        F32,
    ),
    "bessel": (lambda x: (lax.bessel_i0e(x), lax.bessel_i1e(x)), F32),
    "next_after": (lax.nextafter, F32, F32),
    "top_k": (grad(lambda x: lax.top_k(x, 2)[0]), F32),
    "cumulative": (
        grad(lambda x: jnp.cumsum(x, 1) + lax.cummax(x, 0) + lax.cumlogsumexp(x, 1)),
        F32,
    ),
    "max_pool": (
        grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "SAME")),
        F32,
    ),
    "mean_pool": (
        grad(lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), "SAME")),
        F32,
    ),
    "convolution": (grad(convolve), IMAGES, KERNEL),
    "depthwise": (grad(convolve), IMAGES, KERNEL[:, :, :1]),
    "custom_calls": (lambda x: (jnp.linalg.qr(x), jnp.linalg.svd(x)), F32),
    "composite": (lambda x: lax.composite(scaled, "my.scaled")(x, factor=2.0), F32),
    "constants": (lambda x: x + jnp.arange(24.0).reshape(4, 6), F32),
}

for name, (function, *args) in FUNCTIONS.items():
    lowered = jax.jit(function).lower(*args)
    judge.check_roundtrip(name, lowered.as_text(debug_info=True))
donated = jax.jit(lambda x: x + 1, donate_argnums=0).lower(F32)
judge.check_roundtrip("donated", donated.as_text(debug_info=True))
print(len(FUNCTIONS) + 1, "functions are the same")
