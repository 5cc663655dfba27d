"""Windows and convolutions through linalg give the numbers that JAX gives."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from linalg_harness import check, normal


def window(x, init, combine, sizes, **options):
    rank = x.ndim
    options = {
        "window_strides": (1,) * rank,
        "padding": [(0, 0)] * rank,
        "base_dilation": (1,) * rank,
        "window_dilation": (1,) * rank,
        **options,
    }
    return lax.reduce_window(x, init, combine, sizes, **options)


def test_reduce_window(tmp_path):
    def argmax(x, size, padding):
        def pick(a, b):
            first = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
            return jnp.where(first, a[0], b[0]), jnp.where(first, a[1], b[1])

        index = lax.broadcasted_iota(jnp.int32, x.shape, 1)
        init = (np.float32(-np.inf), np.int32(-1))
        padding = [(0, 0), padding]
        return lax.reduce_window((x, index), init, pick, (1, size), (1, 1), padding)

    def function(x, i, b):
        return {
            "sum": window(x, 0.0, lax.add, (2, 3)),
            "strided": window(x, 0.0, lax.add, (2, 3), window_strides=(2, 2)),
            "padded": window(x, 0.0, lax.add, (2, 3), padding=[(1, 1), (0, 2)]),
            "cut": window(x, 0.0, lax.add, (2, 1), padding=[(-1, 2), (0, -2)]),
            "dilated": window(
                x, 0.0, lax.add, (2, 3), window_dilation=(2, 2), base_dilation=(2, 3)
            ),
            "init": window(x, 1.5, lax.add, (2, 1)),
            "max": window(x, -np.inf, lax.max, (3, 3), padding="SAME"),
            "min": window(i, np.int32(2**31 - 1), lax.min, (2, 2)),
            "unsigned": window(
                i.astype(jnp.uint8), np.uint8(0), lax.max, (2, 2), padding="SAME"
            ),
            "any": window(b, False, lax.bitwise_or, (1, 4), padding="SAME"),
            "bf16": window(x.astype(jnp.bfloat16), -np.inf, lax.max, (2, 2)).astype("f"),
            "cumsum": jnp.cumsum(x, 1),
            "cumsum_rows": jnp.cumsum(i, 0),
            "cumsum_reversed": lax.cumsum(x, 0, reverse=True),
            "past_the_end": window(x, 0.0, lax.add, (1, 9), padding=[(0, 0), (8, 0)]),
            "of_both": window(x, 0.0, lax.add, (5, 7), padding=[(4, 0), (6, 0)]),
            "argmax": argmax(x, 3, (0, 0)),
            "cumargmax": argmax(x, 7, (6, 0)),
            "cumprod": jnp.cumprod(x, 1),
            "cummax": lax.cummax(x, 1, reverse=True),
            "cumlogsumexp": lax.cumlogsumexp(x, 0),
            "one": window(x, 0.0, lax.add, (1, 1)),
        }

    x = normal(5, 7)
    i = np.arange(35, dtype=np.int32).reshape(5, 7) * 7919 % 300 - 100
    check(tmp_path, function, x, i, i % 3 == 0, interpreted=True)


def test_gradients_of_pooling(tmp_path):
    """Ties go to the first element of a window, padding is never selected."""

    def pool(kind, init, sizes, strides, padding):
        def value(x, weights):
            y = lax.reduce_window(x, init, kind, sizes, strides, padding)
            return (y * weights[: y.shape[0], : y.shape[1]]).sum()

        return jax.grad(value)

    def function(x, ties, w):
        return {
            "max": pool(lax.max, -np.inf, (2, 2), (2, 2), "VALID")(x, w),
            "overlap": pool(lax.max, -np.inf, (3, 3), (1, 2), "SAME")(x, w),
            "min": pool(lax.min, np.inf, (2, 3), (1, 1), "VALID")(x, w),
            "ties": pool(lax.max, -np.inf, (3, 3), (1, 1), "SAME")(ties, w),
            "ties_min": pool(lax.min, np.inf, (3, 2), (2, 1), "SAME")(ties, w),
            "mean": pool(lax.add, 0.0, (2, 3), (2, 1), "SAME")(x, w),
            "transposed": pool(lax.max, -np.inf, (3, 3), (1, 1), "SAME")(ties.T, w.T),
        }

    ties = np.floor(normal(6, 8))
    check(tmp_path, function, normal(6, 8), ties, normal(6, 8), interpreted=True)


CONVOLUTIONS = {
    # dimension numbers, lhs shape, rhs shape, options
    "nhwc": (("NHWC", "HWIO", "NHWC"), (2, 6, 7, 3), (3, 2, 3, 4), {}),
    "nchw": (("NCHW", "OIHW", "NCHW"), (2, 3, 6, 7), (4, 3, 3, 2), {}),
    "mixed": (("HNCW", "IWOH", "CWNH"), (6, 2, 3, 7), (3, 2, 4, 3), {}),
    "strided": (
        ("NHWC", "HWIO", "NHWC"),
        (2, 6, 7, 3),
        (3, 3, 3, 4),
        {"window_strides": (2, 3), "padding": "SAME"},
    ),
    "padded": (
        ("NCHW", "OIHW", "NCHW"),
        (1, 2, 5, 5),
        (3, 2, 2, 2),
        {"padding": [(2, -1), (0, 3)]},
    ),
    "dilated": (
        ("NCHW", "OIHW", "NCHW"),
        (2, 2, 5, 4),
        (3, 2, 2, 2),
        {"lhs_dilation": (2, 3), "rhs_dilation": (3, 2), "padding": [(1, 1), (0, 2)]},
    ),
    "feature_groups": (
        ("NHWC", "HWIO", "NHWC"),
        (2, 5, 5, 6),
        (3, 3, 2, 9),
        {"feature_group_count": 3},
    ),
    "depthwise": (
        ("NHWC", "HWIO", "NHWC"),
        (2, 5, 5, 4),
        (3, 3, 1, 8),
        {"feature_group_count": 4, "window_strides": (2, 1)},
    ),
    "batch_groups": (
        ("NCHW", "OIHW", "NCHW"),
        (6, 2, 5, 5),
        (9, 2, 3, 3),
        {"batch_group_count": 3},
    ),
    "points": (("NWC", "WIO", "NWC"), (3, 5, 4), (1, 4, 6), {}),
    "causal": (("NWC", "WIO", "NWC"), (3, 8, 4), (4, 4, 4), {"padding": [(3, 0)]}),
    "volume": (("NDHWC", "DHWIO", "NDHWC"), (1, 3, 4, 3, 2), (2, 2, 2, 2, 3), {}),
    "no_window": (("NC", "IO", "NC"), (3, 4), (4, 5), {}),
}


def convolve(name, lhs, rhs, **more):
    numbers, _, _, options = CONVOLUTIONS[name]
    spatial = lhs.ndim - 2
    options = {"window_strides": (1,) * spatial, "padding": "VALID", **options, **more}
    return lax.conv_general_dilated(lhs, rhs, dimension_numbers=numbers, **options)


def test_convolution(tmp_path):
    """And its gradients: dilated, with exchanged dimensions, grouped otherwise."""

    def function(operands):
        results = {}
        for name, (lhs, rhs) in operands.items():

            def loss(lhs, rhs):
                y = convolve(name, lhs, rhs)
                return jnp.sum(y * jnp.cos(jnp.arange(y.size).reshape(y.shape)))

            gradients = jax.grad(loss, (0, 1))(lhs, rhs)
            results[name] = (convolve(name, lhs, rhs), *gradients)
        return results

    operands = {
        name: (normal(*lhs), normal(*rhs))
        for name, (_, lhs, rhs, _) in CONVOLUTIONS.items()
    }
    # Where the results' dimensions are not in the order of the operands' it ends.
    unjudged = ("nchw", "mixed", "padded", "dilated", "batch_groups")
    check(tmp_path, function, operands, atol=1e-5, unjudged=unjudged)


def test_types_of_convolutions(tmp_path):
    def function(x, k, i, j, u, v):
        bf16 = convolve("nhwc", x.astype(jnp.bfloat16), k.astype(jnp.bfloat16))
        wide = {"preferred_element_type": jnp.int32}
        return {
            "bf16": jnp.round(bf16.astype(jnp.float32)),
            "integers": convolve("nhwc", i, j),
            "wider": convolve("nhwc", i.astype(jnp.int8), j.astype(jnp.int8), **wide),
            "unsigned": convolve("nhwc", u, v),
        }

    rng = np.random.default_rng(3)
    shapes = [CONVOLUTIONS["nhwc"][1], CONVOLUTIONS["nhwc"][2]]
    floats = [rng.integers(-2, 3, shape).astype(np.float32) for shape in shapes]
    integers = [rng.integers(-9, 9, shape).astype(np.int32) for shape in shapes]
    unsigned = [rng.integers(0, 256, shape).astype(np.uint8) for shape in shapes]
    check(tmp_path, function, *floats, *integers, *unsigned, unjudged=("wider",))
