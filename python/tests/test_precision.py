"""Sums of 16-bit values, over rows and over ranks, and steps in float64."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest

import amsp
from step_parts import mlp_loss, mlp_parameters, normal

pytestmark = pytest.mark.needs_tools


def narrow_gradient(w, x):
    """The gradient of a float32 parameter that is used in the rows' type."""
    gradient = jax.grad(lambda w: (w.astype(x.dtype) * x).sum())(w)
    return w - gradient / 4, gradient


def gradient_on(ranks, x, strategy, *options, dtype=np.float32):
    w = np.zeros(x.shape[1], dtype)
    run = amsp.compile(
        narrow_gradient,
        (w, x),
        batch_argnums=1,
        cluster=f"levels={ranks}",
        strategy=strategy,
        options=options,
    )
    new, gradient = run(w, x)
    np.testing.assert_array_equal(np.asarray(new), -gradient / 4)
    return gradient, {c["dtype"] for c in run.manifest["collectives"]}


@pytest.mark.parametrize("strategy", ["ddp", "zero3"])
def test_the_type_of_a_sum_over_ranks_is_explicit(strategy):
    """Each rank's sum fits into float16, that of both does not."""
    x = np.full((2, 3), 60000, np.float16)
    gradient, sums = gradient_on(2, x, strategy)
    assert sums == {"f32"} and (gradient == 120000).all()
    gradient, sums = gradient_on(2, x, strategy, "--reduce-type", "graph")
    assert sums == {"f16"} and np.isposinf(gradient).all()


def test_a_sum_that_its_own_type_cannot_hold_is_infinite():
    x = np.full((2, 3), 60000, np.float16)
    gradient, sums = gradient_on(2, x, "zero3", dtype=np.float16)
    assert sums == {"f32"} and gradient.dtype == np.float16 and np.isposinf(gradient).all()


@pytest.mark.parametrize("ranks", [1, 8])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_small_addends_do_not_vanish(ranks, dtype):
    """A sum of 1024 rows in bfloat16 stops growing at the 256th."""
    x = np.full((1024, 3), 1e-7, dtype)
    gradient, _ = gradient_on(ranks, x, "zero3")
    np.testing.assert_allclose(gradient, 1024 * float(x[0, 0]), rtol=2**-8)


@pytest.mark.parametrize("ranks", [1, 4])
def test_equal_tokens_do_not_vanish(ranks):
    """The gradient of an embedding in bfloat16: 8192 rows meet in one."""

    def step(table, ids):
        gradient = jax.grad(lambda table: table[ids].sum())(table)
        return table - gradient / 8192, gradient

    run = amsp.compile(
        *(step, (jnp.zeros((5, 8), jnp.bfloat16), np.full(8192, 3, np.int32))),
        batch_argnums=1, cluster=f"levels={ranks}", strategy="zero3",
    )  # fmt: skip
    _, gradient = run(jnp.zeros((5, 8), jnp.bfloat16), np.full(8192, 3, np.int32))
    expected = np.zeros((5, 8), np.float32)
    expected[3] = 8192
    np.testing.assert_array_equal(np.asarray(gradient, np.float32), expected)


@pytest.mark.parametrize("strategy", ["zero1", "zero3"])
def test_a_step_in_float64(strategy):
    with jax.enable_x64(True):
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.05))

        def step(params, state, x, y):
            value, gradients = jax.value_and_grad(mlp_loss)(params, x, y)
            updates, state = optimizer.update(gradients, state, params)
            return optax.apply_updates(params, updates), state, value

        wide = lambda tree: jax.tree.map(np.float64, tree)
        params = wide(mlp_parameters())
        state = optimizer.init(params)
        batch = wide((normal(24, 5, seed=5), normal(24, 3, seed=6)))
        run = amsp.compile(
            step, (params, state, *batch), batch_argnums=(2, 3), cluster="levels=3",
            strategy=strategy,
        )  # fmt: skip
        found, expected = run.shard(params, state), (params, state)
        for _ in range(3):
            *found, value = run(*found, *batch)
            *expected, expected_value = jax.jit(step)(*expected, *batch)
        got = jax.tree.leaves(run.gather((found, value)))
        want = jax.tree.leaves((expected, expected_value))
        assert {c["dtype"] for c in run.manifest["collectives"]} == {"f64"}
        for a, b in zip(got, want, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14)
