"""Sorting and random bits through linalg give what JAX gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from linalg_harness import Lowered, assert_same, check, normal


def test_sort(tmp_path):
    def function(x, i, key, u):
        lexicographic = lax.sort((key, i, x), dimension=1, num_keys=2)
        return {
            "rows": jnp.sort(x, axis=1),
            "columns": jnp.sort(x, axis=0),
            "down": jnp.sort(x, axis=1, descending=True),
            "positions": jnp.argsort(x, axis=1),
            "stable": jnp.argsort(key, axis=1),
            "stable_down": jnp.argsort(key, axis=0, descending=True),
            "lexicographic": lexicographic,
            "integers": jnp.sort(i, axis=None),
            "unsigned": jnp.sort(u),
            "bf16": jnp.sort(x.astype(jnp.bfloat16), axis=1).astype(jnp.float32),
            "median": jnp.median(x, axis=1),
            "one": jnp.sort(x[:, :1], axis=1),
            "none": jnp.sort(x[:, :0], axis=1),
            "long": jnp.argsort(jnp.tile(u, 300)),
            "gradient": jax.grad(lambda x: (jnp.sort(x, axis=0) * i).sum())(x),
            "permuted": jax.random.permutation(jax.random.PRNGKey(1), i, axis=0),
        }

    rng = np.random.default_rng(5)
    x = normal(5, 13)
    x[1, 2:6] = [np.nan, -0.0, 0.0, -np.inf]
    key = rng.integers(0, 3, (5, 13)).astype(np.int32)
    i = rng.integers(-9, 9, (5, 13)).astype(np.int32)
    u = np.array([3, 2**32 - 1, 0, 2**31, 7, 7, 1], np.uint32)
    # It puts no NaN in order.
    unjudged = ("rows", "columns", "down", "positions", "bf16", "gradient")
    check(tmp_path, function, x, i, key, u, unjudged=unjudged)


def test_top_k(tmp_path):
    def function(x, ties, i):
        return {
            "x": lax.top_k(x, 3),
            "ties": lax.top_k(ties, 4),
            "integers": lax.top_k(i, 2),
            "all": lax.top_k(x, 6),
            "none": lax.top_k(x, 0),
            "gradient": jax.grad(lambda x: (lax.top_k(x, 2)[0] ** 2).sum())(x),
        }

    x, ties = normal(3, 4, 6), np.floor(normal(3, 4, 6))
    x[0, 0, 2] = np.nan
    i = np.arange(12, dtype=np.int32).reshape(2, 6) % 5
    check(tmp_path, function, x, ties, i, unjudged=("x", "all", "gradient"))


SHAPES = [(), (1,), (7,), (8,), (3, 5), (3, 4), (5, 3, 2)]
TYPES = [np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("algorithm", ["RNG_THREE_FRY", "RNG_PHILOX", "RNG_DEFAULT"])
def test_random_bits(tmp_path, algorithm):
    """Bit for bit, and the next state, whose counter carries."""
    algorithm = getattr(lax.RandomAlgorithm, algorithm)

    def function(key):
        return {
            f"{np.dtype(dtype)}{shape}": lax.rng_bit_generator(
                key, shape, dtype, algorithm
            )
            for shape in SHAPES
            for dtype in TYPES
        }

    key = np.array([2**63 + 12345, 2**64 - 2], np.uint64)
    with jax.enable_x64(True):
        check(tmp_path, function, key)


def test_random_bits_of_a_wide_counter(tmp_path):
    """A counter of 128 bits in the state, which JAX does not write but StableHLO
    has: draws as of the key that it begins at, and it carries."""

    def two(key):
        return lax.rng_bit_generator(key, (9,), np.uint32, lax.RandomAlgorithm.RNG_PHILOX)

    def widen(text):
        return text.replace("tensor<2xui64>", "tensor<3xui64>")

    with jax.enable_x64(True):
        key = np.array([5, 2**64 - 1], np.uint64)
        narrow = Lowered(two, (key,), tmp_path)
        wide = Lowered(two, (key,), tmp_path, "wide", edit=widen)
        wide.results[0] = np.zeros(3, np.uint64)
        for high in (5, 7, 2**64 - 1):
            state, bits = wide(np.append(key, np.uint64(high)))
            np.testing.assert_array_equal(state, np.array([5, 2, (high + 1) % 2**64], np.uint64))
            same = np.array_equal(bits, narrow(key)[1])
            assert same == (high == 5)
    # XLA's, of the state (5, 2**64 - 1, 7).
    assert wide(np.array([5, 2**64 - 1, 7], np.uint64))[1].tolist() == [
        *(408654879, 156914071, 4246078289, 2550873154, 1414544935),
        *(1163734151, 4062483226, 1747046443, 4281969229),
    ]


def test_distributions(tmp_path):
    def function(seed):
        keys = iter(jax.random.split(jax.random.key(seed), 10))
        rbg = jax.random.key(seed, impl="rbg")
        return {
            "uniform": jax.random.uniform(next(keys), (3, 5)),
            "normal": jax.random.normal(next(keys), (7,)),
            "truncated": jax.random.truncated_normal(next(keys), -2, 1, (9,)),
            "bernoulli": jax.random.bernoulli(next(keys), 0.3, (20,)),
            "categorical": jax.random.categorical(next(keys), jnp.arange(5.0), shape=(9,)),
            "gumbel": jax.random.gumbel(next(keys), (4,)),
            "integers": jax.random.randint(next(keys), (8,), -3, 90),
            "choice": jax.random.choice(next(keys), 10, (4,), replace=False),
            "folded": jax.random.bits(jax.random.fold_in(next(keys), 3), (3,)),
            "gamma": jax.random.gamma(next(keys), 2.5, (3,)),
            "rbg": jax.random.normal(rbg, (5,)),
        }

    lowered = Lowered(function, (np.int32(0),), tmp_path)
    for seed in (0, 7):
        arguments = (np.int32(seed),)
        assert_same(lowered(*arguments), jax.jit(function)(*arguments), 1e-5, 1e-6)
