"""Optimizers, and what decides over an update."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib

from kinds.registry import kind
from step_parts import (
    Step,
    matrices_only,
    mlp,
    mlp_loss,
    mlp_parameters,
    normal,
    with_optimizer,
)


@kind
def adamw_schedule(rows=24) -> Step:
    """Warm-up, cosine decay, decay of matrices only, clipping by the global norm."""
    rate = optax.warmup_cosine_decay_schedule(0.0, 0.05, 2, 8)
    optimizer = optax.chain(
        optax.clip_by_global_norm(0.5),
        optax.adamw(rate, weight_decay=0.1, mask=matrices_only),
    )
    return mlp(optimizer, steps=4, rows=rows)


@kind
def sgd_momentum(rows=24) -> Step:
    return mlp(optax.sgd(0.1, momentum=0.9, nesterov=True), rows=rows)


@kind
def lion(rows=24) -> Step:
    """Its update is the sign of what it read: errors near 0 flip it, so the
    gradients are kept away from 0."""

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["w0"] + params["b0"])
        return (hidden * params["w1"]).mean() * 9 + (params["b1"] * y).sum(1).mean()

    params = {
        "w0": normal(5, 7, seed=1, scale=0.1),
        "b0": np.zeros(7, np.float32),
        "w1": 1 + np.abs(normal(7, seed=3)),
        "b1": normal(3, seed=4),
    }
    batch = (1 + np.abs(normal(rows, 5, seed=5)), 2 + np.abs(normal(rows, 3, seed=6)))
    return with_optimizer(loss, optax.lion(0.01, weight_decay=0.1), params, batch)


@kind
def lamb(rows=24) -> Step:
    return mlp(optax.lamb(0.05), rows=rows)


@kind
def adan(rows=24) -> Step:
    """Its state is the last gradient, which the update reads beside the new one."""
    return mlp(optax.adan(0.05), rows=rows)


@kind
def prev_loss(rows=24) -> Step:
    """The rate goes by the loss of the step before, which is state."""

    def step(params, last, x, y):
        value, gradients = jax.value_and_grad(mlp_loss)(params, x, y)
        rate = jnp.where(value < last, 0.1, 0.05)
        params = jax.tree.map(lambda p, g: p - rate * g, params, gradients)
        return params, value, jnp.where(last < value, 0.0, 1.0)

    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (mlp_parameters(), np.float32(9), *batch), 2)


@kind
def adafactor(rows=24) -> Step:
    optimizer = optax.adafactor(0.05, min_dim_size_to_factor=4, momentum=0.9)
    return mlp(optimizer, rows=rows)


@kind
def muon(rows=24) -> Step:
    return mlp(optax.contrib.muon(0.05), rows=rows)


@kind
def multi_steps(rows=24) -> Step:
    """Two calls make one update; the accumulator, always in float32, is state."""
    inner = optax.MultiSteps(optax.adam(0.05), every_k_schedule=2)

    def single(tree):
        return jax.tree.map(lambda t: t.astype(jnp.float32), tree)

    def update(gradients, state, params):
        state = state._replace(acc_grads=single(state.acc_grads))
        return inner.update(single(gradients), state, params)

    optimizer = optax.GradientTransformation(inner.init, update)
    return mlp(optimizer, steps=5, rows=rows)


@kind
def skipped_infinite(rows=24) -> Step:
    """A branch makes the update, clipped; in the second step the loss is infinite,
    and another branch hands the states on."""
    inner = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.05))
    optimizer = optax.apply_if_finite(inner, max_consecutive_errors=3)

    def loss(params, tick, x, y):
        error = jnp.square(jnp.tanh(x @ params["w0"] + params["b0"]) @ params["w1"] - y)
        return (error * jnp.where(tick == 1, jnp.inf, 1.0)).mean()

    def step(params, state, tick, x, y):
        gradients = jax.grad(loss)(params, tick, x, y)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, tick + 1

    params = {name: value for name, value in mlp_parameters().items() if name != "b1"}
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    args = (params, optimizer.init(params), np.int32(0), *batch)
    return Step(step, args, 3, steps=4)


@kind
def line_search(rows=24) -> Step:
    """Optax's backtracking: the rate and the value it ended with are state; the loop
    begins with the loss, which it reads again and the step returns."""
    search = optax.scale_by_backtracking_linesearch(max_backtracking_steps=5)
    optimizer = optax.chain(optax.sgd(2.0), search)

    def loss(params, x, y):
        return jnp.square(x @ params["w"] + params["b"] - y).mean()

    def step(params, state, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        updates, state = optimizer.update(
            gradients, state, params, value=value, grad=gradients, value_fn=lambda p: loss(p, x, y)
        )
        return optax.apply_updates(params, updates), state, value

    params = {"w": normal(5, 3, seed=1), "b": normal(3, seed=2)}
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (params, optimizer.init(params), *batch), 2)
