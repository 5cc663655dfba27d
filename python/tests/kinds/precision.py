"""Narrow types, masters, loss scales."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

from kinds.registry import kind
from step_parts import Step, half, mlp_parameters, normal


@kind
def bf16_masters(rows=24) -> Step:
    """Parameters in bfloat16 beside float32 masters, which are updated."""
    optimizer = optax.adam(0.02)

    def loss(params, x, y):
        x = x.astype(half())
        hidden = jax.nn.gelu(x @ params["w0"] + params["b0"])
        error = hidden @ params["w1"] + params["b1"]
        return jnp.square(error.astype(jnp.float32) - y).mean()

    def narrow(masters):
        return jax.tree.map(lambda p: p.astype(half()), masters)

    def step(params, masters, state, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        gradients = jax.tree.map(lambda g, p: g.astype(p.dtype), gradients, masters)
        updates, state = optimizer.update(gradients, state, masters)
        masters = optax.apply_updates(masters, updates)
        return narrow(masters), masters, state, value

    masters = mlp_parameters()
    params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), masters)
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (params, masters, optimizer.init(masters), *batch), 3)


@kind
def loss_scaling(rows=24, infinite=False) -> Step:
    """The scale halves, and nothing else changes, while a gradient times the
    scale is too large for float16: for two steps, or for ever if a row has an
    infinite element."""

    def loss(params, x, y):
        return jnp.square(x @ params["w"] + params["b"] - y).mean()

    def step(params, moments, scale, x, y):
        def scaled(params):
            return loss(params, x, y) * scale

        gradients = jax.grad(scaled)(params)
        narrow = jax.tree.map(lambda g: g.astype(jnp.float16), gradients)
        finite = jnp.array([jnp.isfinite(g).all() for g in jax.tree.leaves(narrow)]).all()
        gradients = jax.tree.map(lambda g: g / scale, gradients)

        def keep(new, old):
            return jax.tree.map(lambda n, o: jnp.where(finite, n, o), new, old)

        new_moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradients)
        new_params = jax.tree.map(lambda p, m: p - 0.05 * m, params, new_moments)
        scale = jnp.where(finite, scale, scale / 2)
        return keep(new_params, params), keep(new_moments, moments), scale, finite

    params = {"w": normal(5, 3, seed=1), "b": normal(3, seed=2)}
    x, y = normal(rows, 5, seed=3), normal(rows, 3, seed=4)
    x[rows - 1, 2] = np.inf if infinite else 40.0
    gradient = jax.grad(loss)(params, x, y)
    largest = max(float(jnp.abs(g).max()) for g in jax.tree.leaves(gradient))
    # Twice the largest scale that fits, and twice that.
    scale = 1024.0 if infinite else 2 ** np.floor(np.log2(65504 / largest)) * 4
    moments = jax.tree.map(np.zeros_like, params)
    return Step(step, (params, moments, np.float32(scale), x, y), 3, steps=4)


@kind
def infinite_row(rows=24) -> Step:
    """Each step is skipped for the sake of one row."""
    return loss_scaling(rows, infinite=True)


@kind
def f16_parameters(rows=24) -> Step:
    """Parameters, gradients and momentum in float16."""

    def loss(params, x, y):
        hidden = jnp.tanh(x @ params["w0"] + params["b0"])
        error = (hidden @ params["w1"] + params["b1"]).astype(jnp.float32) - y
        return jnp.square(error).mean()

    def step(params, momentum, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x.astype(half("float16")), y)
        momentum = jax.tree.map(lambda m, g: 0.5 * m + g, momentum, gradients)
        params = jax.tree.map(lambda p, m: p - 0.125 * m, params, momentum)
        return params, momentum, value

    params = jax.tree.map(lambda p: p.astype(np.float16), mlp_parameters())
    momentum = jax.tree.map(np.zeros_like, params)
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return Step(step, (params, momentum, *batch), 2)
