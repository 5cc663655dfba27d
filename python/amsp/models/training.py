"""What the training steps of all models share: the sum over microbatches and
AdamW with float32 masters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax


def microbatches_of(rows, count: int):
    """Rows that lie next to each other go to different microbatches, so that a
    contiguous share of the batch is a contiguous share of every microbatch."""
    return rows.reshape(-1, count, *rows.shape[1:]).swapaxes(0, 1)


def accumulated(value_and_grad: Callable, params, batch: tuple, count: int):
    """Mean value and gradients over `count` microbatches, one at a time. They
    are summed in the types that value_and_grad returns."""
    if count == 1:
        return value_and_grad(params, *batch)

    def one(total, microbatch):
        result = value_and_grad(params, *microbatch)
        return jax.tree.map(jnp.add, total, result), None

    scanned = tuple(microbatches_of(rows, count) for rows in batch)
    first = tuple(jax.ShapeDtypeStruct(s.shape[1:], s.dtype) for s in scanned)
    result = jax.eval_shape(value_and_grad, params, *first)
    zeros = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), result)
    total, _ = jax.lax.scan(one, zeros, scanned)
    return jax.tree.map(lambda t: t / count, total)


def widened(x):
    """In float32 at least."""
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def mean_cross_entropy(logits, targets):
    """The mean over all tokens."""
    return optax.softmax_cross_entropy_with_integer_labels(
        widened(logits), targets
    ).mean()


@dataclasses.dataclass(frozen=True)
class AdamW:
    """Hyperparameters; `matrices` tells which parameters decay."""

    learning_rate: float = 3e-4
    warmup: int = 2000
    decay: int = 500_000
    b1: float = 0.9
    b2: float = 0.95
    weight_decay: float = 0.1
    clip: float = 1.0  # of the gradients' global norm; 0: none

    def transformation(self, matrices) -> optax.GradientTransformation:
        rate = optax.warmup_cosine_decay_schedule(
            0.0, self.learning_rate, self.warmup, self.decay, self.learning_rate / 10
        )
        adamw = optax.adamw(
            rate, self.b1, self.b2, weight_decay=self.weight_decay, mask=matrices
        )
        if not self.clip:
            return adamw
        return optax.chain(optax.clip_by_global_norm(self.clip), adamw)


@dataclasses.dataclass(frozen=True)
class Training:
    """How a model is trained. Parameters of 16 bits have float32 masters among
    the optimizer's states: {"master": ..., "adamw": ...}."""

    microbatches: int = 1
    param_dtype: str = "float32"
    grad_dtype: str | None = None  # of the sum over microbatches; default: the same
    adamw: AdamW = AdamW()

    @property
    def has_masters(self) -> bool:
        return self.param_dtype != "float32"

    def initial_state(self, transformation, masters):
        """(params, opt_state) from float32 values; shapes by jax.eval_shape."""
        state = transformation.init(masters)
        if not self.has_masters:
            return masters, state
        # A copy of its own: what the step is given is donated.
        params = jax.tree.map(lambda m: m.astype(self.param_dtype), masters)
        return params, {"master": masters, "adamw": state}

    def step(self, transformation, loss: Callable) -> Callable:
        """step(params, opt_state, tokens, targets) -> (params, opt_state, loss)"""

        def value_and_grad(params, *batch):
            value, gradients = jax.value_and_grad(loss)(params, *batch)
            if self.grad_dtype:
                gradients = jax.tree.map(lambda g: g.astype(self.grad_dtype), gradients)
            return value, gradients

        def step(params, opt_state, tokens, targets):
            value, gradients = accumulated(
                value_and_grad, params, (tokens, targets), self.microbatches
            )
            gradients = jax.tree.map(widened, gradients)
            masters = opt_state["master"] if self.has_masters else params
            state = opt_state["adamw"] if self.has_masters else opt_state
            updates, state = transformation.update(gradients, state, masters)
            masters = optax.apply_updates(masters, updates)
            if not self.has_masters:
                return masters, state, value
            params = jax.tree.map(lambda m: m.astype(self.param_dtype), masters)
            return params, {"master": masters, "adamw": state}, value

        return step


def through_layers(block: Callable, layers, x, remat: bool):
    """x through block(p, x) for each of a list of layers, or by a scan over
    stacked ones; with `remat`, only what flows between layers is kept."""
    if remat:
        block = jax.checkpoint(block)
    if isinstance(layers, list):
        for p in layers:
            x = block(p, x)
        return x
    return jax.lax.scan(lambda x, p: (block(p, x), None), x, layers)[0]
