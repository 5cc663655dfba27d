"""What the small training steps share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax

from amsp.models import gpt


@dataclasses.dataclass(frozen=True)
class Step:
    """step(*args), of which the first `donated` arguments are state, the next
    `frozen` ones are read only, and the others, but for scalars, are cut along
    their rows."""

    step: Callable
    args: tuple
    donated: int
    steps: int = 3
    frozen: int = 0

    @property
    def batch(self) -> tuple[int, ...]:
        first = self.donated + self.frozen
        return tuple(i for i in range(first, len(self.args)) if np.ndim(self.args[i]))


def normal(*shape, seed=0, scale=1.0):
    return np.random.default_rng(seed).normal(size=shape, scale=scale).astype("f")


def sgd(loss, rate=0.1):
    """step(params, batch...) -> (params, loss)"""

    def step(params, *batch):
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        return jax.tree.map(lambda p, g: p - rate * g, params, gradients), value

    return step


def with_optimizer(loss, optimizer, params, batch, microbatches=1, steps=3):
    value_and_grad = jax.value_and_grad(loss)

    def step(params, state, *batch):
        value, gradients = gpt.accumulated(value_and_grad, params, batch, microbatches)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value

    return Step(step, (params, optimizer.init(params), *batch), 2, steps)


def mlp_loss(params, x, y):
    hidden = jnp.tanh(x @ params["w0"] + params["b0"])
    return jnp.square(hidden @ params["w1"] + params["b1"] - y).mean()


def mlp_parameters():
    return {
        "w0": normal(5, 7, seed=1, scale=0.4),
        "b0": normal(7, seed=2),
        "w1": normal(7, 3, seed=3, scale=0.4),
        "b1": normal(3, seed=4),
    }


def mlp(optimizer, steps=3, rows=24):
    batch = (normal(rows, 5, seed=5), normal(rows, 3, seed=6))
    return with_optimizer(mlp_loss, optimizer, mlp_parameters(), batch, steps=steps)


def half(name="bfloat16"):
    """The narrow type of a step; exact where the reference is computed."""
    return jnp.float64 if jax.config.jax_enable_x64 else jnp.dtype(name)


def labels_of(rows, classes, seed=0):
    return np.random.default_rng(seed).integers(0, classes, rows).astype(np.int32)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


def matrices_only(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)
