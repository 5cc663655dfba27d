"""Runs a step under JAX on one device: what the compiled ranks must equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import jax
import numpy as np


def widened(value: np.ndarray) -> np.ndarray:
    value = np.asarray(value)
    is_float = jax.dtypes.issubdtype(value.dtype, np.floating)
    return value.astype(np.float64) if is_float else value


def run(
    step: Callable,
    args: Sequence,
    donate_argnums: Sequence[int],
    batches: Iterable[dict],
    float64: bool = False,
) -> list[list[np.ndarray]]:
    """The flat results of every step.

    `batches` gives one dictionary a step, from argument numbers to the values
    that replace those of `args`. The step's results begin with the new values
    of the donated arguments, in order, which the next step receives.
    """
    cast = widened if float64 else np.asarray
    args = [jax.tree.map(cast, arg) for arg in args]
    history = []
    with jax.enable_x64(float64):
        compiled = jax.jit(step)
        for batch in batches:
            for number, value in batch.items():
                args[number] = jax.tree.map(cast, value)
            results = compiled(*args)
            for number, value in zip(sorted(donate_argnums), results):
                args[number] = value
            history.append([np.asarray(leaf) for leaf in jax.tree.leaves(results)])
    return history
