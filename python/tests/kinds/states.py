"""State of odd shapes and uses."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

from kinds.registry import kind
from step_parts import Step, mlp_loss, mlp_parameters, normal


@kind
def odd_state(rows=24) -> Step:
    """Parameters of rank 0, of one and of no element, one that the step ignores
    and such as it hands on unchanged, a key to draw from among them; a rate between
    the batch's arguments; slices of nothing."""
    optimizer = optax.lamb(0.01)

    def loss(params, frozen, x, y):
        w = frozen["w"] + jax.random.uniform(frozen["key"], (5, 4), jnp.float32)
        h = x @ w + params["one"]
        h = jax.lax.associative_scan(jnp.add, h, axis=1) * params["scalar"]
        h = h @ params["w"] + params["corner"] + params["nothing"].sum()
        return jnp.square(h - y).mean()

    def step(params, state, frozen, x, rate, y):
        value, gradients = jax.value_and_grad(loss)(params, frozen, x, y)
        updates, state = optimizer.update(gradients, state, params)
        updates = jax.tree.map(lambda u: rate * u, updates)
        return optax.apply_updates(params, updates), state, frozen, value

    params = {
        "w": normal(4, 3, seed=1),
        "scalar": np.float32(1.5),
        "one": np.ones(1, np.float32),
        "corner": np.ones((1, 1), np.float32),
        "nothing": np.zeros((0, 4), np.float32),
        "ignored": normal(3, 3, seed=2),
    }
    frozen = {"w": normal(5, 4, seed=3), "key": np.array([1, 2], np.uint32)}
    batch = (normal(rows, 5, seed=4), np.float32(0.5), normal(rows, 3, seed=5))
    return Step(step, (params, optimizer.init(params), frozen, *batch), 3)


@kind
def ema_weights(rows=24) -> Step:
    """An average of the weights, with a rate that a counter warms up; it is
    evaluated on the batch, and the step's metrics are of it."""
    optimizer = optax.adam(0.02)

    def step(params, average, count, state, x, y):
        value, gradients = jax.value_and_grad(mlp_loss)(params, x, y)
        updates, state = optimizer.update(gradients, state, params)
        params = optax.apply_updates(params, updates)
        rate = jnp.minimum(0.9, (1 + count) / (10 + count))
        average = jax.tree.map(lambda a, p: rate * a + (1 - rate) * p, average, params)
        return params, average, count + 1, state, value, mlp_loss(average, x, y)

    params = mlp_parameters()
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    args = (params, params, np.float32(0), optimizer.init(params), *batch)
    return Step(step, args, 4)
