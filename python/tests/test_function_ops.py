"""Functions of all floating-point types, within a few ulp of exact values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from jax import lax

from linalg_harness import Lowered, check, normal

OPEN = np.linspace(-1, 1, 4001)[1:-1]
FUNCTIONS = {
    "acos": (np.arccos, lax.acos, OPEN),
    "acosh": (np.arccosh, lax.acosh, np.geomspace(1.001, 1e6, 4001)),
    "asin": (np.arcsin, lax.asin, OPEN),
    "asinh": (np.arcsinh, lax.asinh, np.linspace(-50, 50, 4001)),
    "atan": (np.arctan, lax.atan, np.linspace(-50, 50, 4001)),
    "atanh": (np.arctanh, lax.atanh, OPEN),
    "cosh": (np.cosh, lax.cosh, np.linspace(-20, 20, 4001)),
    "sinh": (np.sinh, lax.sinh, np.linspace(-20, 20, 4001)),
    "tan": (np.tan, lax.tan, np.linspace(-1.5, 1.5, 4001)),
    "cbrt": (np.cbrt, lax.cbrt, np.linspace(-50, 50, 4001)),
    "erf": (scipy.special.erf, lax.erf, np.linspace(-4, 4, 4001)),
    "erfc": (scipy.special.erfc, lax.erfc, np.linspace(-4, 3, 4001)),
    "erf_inv": (scipy.special.erfinv, lax.erf_inv, OPEN),
    "lgamma": (scipy.special.gammaln, lax.lgamma, np.linspace(2.5, 90, 4001)),
    "digamma": (scipy.special.digamma, lax.digamma, np.linspace(2.0, 90, 4001)),
    # Near 0, in the middle, where one series ends, and far out.
    "bessel_i1e": (
        scipy.special.i1e,
        lax.bessel_i1e,
        np.concatenate([np.geomspace(1e-6, 1e6, 4001), -np.linspace(7, 9, 101)]),
    ),
    "polygamma": (
        lambda x: scipy.special.polygamma(1, x),
        lambda x: lax.polygamma(jnp.ones_like(x), x),
        np.linspace(0.5, 30, 4001),
    ),
    "zeta": (
        lambda x: scipy.special.zeta(x, 2.5),
        lambda x: lax.zeta(x, jnp.full_like(x, 2.5)),
        np.linspace(1.5, 9, 4001),
    ),
    "exp2": (np.exp2, lax.exp2, np.linspace(-20, 20, 4001)),
}
# In ulp; formulas of several terms lose digits in each, as they do in XLA.
MAX_ULP, TIMES_XLA = 8, 1.5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_accuracy(tmp_path, dtype):
    with jax.enable_x64(True):
        points = {name: grid.astype(dtype) for name, (_, _, grid) in FUNCTIONS.items()}

        def function(points):
            return {name: FUNCTIONS[name][1](x) for name, x in points.items()}

        results = Lowered(function, (points,), tmp_path)(points)
        theirs = jax.jit(function)(points)
    worst = {}
    for name, (exact, _, _) in FUNCTIONS.items():
        want = exact(points[name].astype(np.float64))
        ulp = np.spacing(np.abs(want).astype(dtype)).astype(np.float64)
        error = np.abs(results[name].astype(np.float64) - want) / ulp
        other = np.abs(np.asarray(theirs[name], np.float64) - want) / ulp
        if not error.max() <= max(MAX_ULP, TIMES_XLA * other.max()):
            worst[name] = (error.max(), other.max())
    assert not worst


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_special_values(tmp_path, dtype):
    names = "acos acosh asin asinh atan atanh bessel_i1e cosh sinh erf erf_inv lgamma".split()

    def function(x, y):
        results = {name: FUNCTIONS[name][1](x) for name in (*names, "digamma")}
        results["next"] = lax.nextafter(x[:, None] + 0 * y, y + 0 * x[:, None])
        return jax.tree.map(lambda r: r.astype(jnp.float32), results)

    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, -2.0, -2.5, 3.0, np.inf, -np.inf, np.nan]
    x = np.array(values, jnp.dtype(dtype))
    rtol = {"float32": 1e-5, "bfloat16": 1e-2, "float16": 2e-3}[dtype]
    check(tmp_path, function, x, x[::-1].copy(), rtol=rtol, atol=rtol)


def test_reduce_precision(tmp_path):
    formats = [(8, 7), (5, 10), (5, 2), (4, 3), (8, 23), (3, 30), (2, 1)]

    def function(x):
        return {f"{f}": lax.reduce_precision(x, *f) for f in formats}

    special = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 1e-38, 65504, 65520, 3e38, 0.1]
    x = np.concatenate([normal(200) * 10 ** normal(200), np.array(special, "f")])
    check(tmp_path, function, x, rtol=0, atol=0)


def test_bits(tmp_path):
    def function(x, i, b):
        return {
            "halves": lax.bitcast_convert_type(x, jnp.uint16),
            "bytes": lax.bitcast_convert_type(i, jnp.int8),
            "joined": lax.bitcast_convert_type(i.astype(jnp.uint16), jnp.uint32),
            "floats": lax.bitcast_convert_type(i, jnp.float32),
            "bf16": lax.bitcast_convert_type(b, jnp.int16),
            "joined_bf16": lax.bitcast_convert_type(b, jnp.float32),
            "next": jnp.nextafter(x, -x),
        }

    x, i = normal(4, 6), np.arange(24, dtype=np.int32).reshape(12, 2) * 77777
    check(tmp_path, function, x, i, np.asarray(normal(5, 2), jnp.bfloat16), rtol=0, atol=0)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def test_integer_types(tmp_path):
    """Arithmetic and conversions of every width, signed and not."""

    def function(operands, x):
        results = {}
        for name, (a, b) in operands.items():
            results[name] = {
                "arithmetic": (a + b, a - b, a * b, lax.div(a, b), lax.rem(a, b)),
                "order": (jnp.maximum(a, b), jnp.minimum(a, b), a < b, jnp.sort(a)),
                "bits": (a & b, a | b, a ^ b, ~a, lax.population_count(a), lax.clz(a)),
                "shifts": (lax.shift_right_logical(a, b), lax.shift_left(a, b)),
                "sign": (lax.shift_right_arithmetic(a, b), lax.sign(a), abs(a)),
                "sums": (jnp.sum(a, dtype=a.dtype), jnp.cumsum(a, dtype=a.dtype)),
                "powers": lax.integer_pow(a, 3),
                "converted": [a.astype(other) for other in INTEGERS],
                "floats": [a.astype(f).astype("f") for f in ("f", "d", jnp.bfloat16)],
                "from_floats": (x.astype(a.dtype), x.astype("d").astype(a.dtype)),
            }
        return results

    rng = np.random.default_rng(1)
    operands = {}
    for name in INTEGERS:
        limits = np.iinfo(name)
        ends = [limits.min, limits.max, 0, 1, limits.max // 2]
        values = rng.integers(limits.min, limits.max, 7, name, endpoint=True)
        a = np.concatenate([np.array(ends, name), values])
        operands[name] = (a, np.roll(a, 1))
    x = np.array([0.5, -1.5, 300.7, -300.7, 3e9, -3e9, 1e20, np.inf, np.nan], "f")
    with jax.enable_x64(True):
        check(tmp_path, function, operands, x)
