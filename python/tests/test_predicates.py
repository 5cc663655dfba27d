"""Control flow that rows of the batch decide: all ranks take the way of one device."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import amsp
from step_parts import normal

pytestmark = pytest.mark.needs_tools


def gradient(w, x):
    return jax.grad(lambda w: jnp.square(x @ w).mean())(w)


def by_one_row(w, x):
    """Row 0 is with one rank; all take its branch."""
    found = gradient(w, x)
    new = jax.lax.cond(x[0, 0] > 0, lambda: w - found, lambda: w + found)
    return new, (x @ w).sum()


def by_each_row(w, x):
    """A branch per row, in a loop over the rows of all ranks."""

    def visit(total, row):
        take = jax.lax.cond(row[0] > 0, lambda: row.sum(), lambda: row[1] - 1)
        return total + take, None

    total, _ = jax.lax.scan(visit, 0.0, x)
    return w - 0.1 * total * gradient(w, x), total


def loop_of_each_row(w, x):
    grow = lambda row: jax.lax.while_loop(lambda r: r.sum() < 3, lambda r: r + 1, row)
    rows = jax.lax.map(grow, x)
    return w - 0.01 * gradient(w, rows), rows


def selected_in_each_row(w, x):
    """vmap makes a select of it, which stays with the rows."""
    pick = lambda row: jax.lax.cond(row[0] > 0, jnp.sin, lambda r: 2 * r, row)
    rows = jax.vmap(pick)(x)
    return w - gradient(w, rows), rows


def until_all_rows_end(w, x):
    """vmap makes one loop of it, which runs until no row goes on."""
    grow = lambda row: jax.lax.while_loop(lambda r: r.sum() < 3, lambda r: r + 1, row)
    return w - gradient(w, jax.vmap(grow)(x)), x.sum()


def compiled(step):
    w, x = normal(5, seed=1), normal(8, 5, seed=2)
    options = {"batch_argnums": 1, "cluster": "levels=2x2", "strategy": "zero3"}
    return amsp.compile(step, (w, x), **options), w, x


@pytest.mark.parametrize(
    "step",
    [
        by_one_row,
        by_each_row,
        loop_of_each_row,
        selected_in_each_row,
        until_all_rows_end,
    ],
)
def test_all_ranks_take_the_way_of_one_device(step):
    run, w, x = compiled(step)
    for rows in (x, -x):
        found, expected = run.gather(run(w, rows)), jax.jit(step)(w, rows)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
