"""What the examples share: a step on ranks, beside the same step on one device."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import jax
import numpy as np

import amsp


def options(
    description: str, cluster="nodes=2,gpus=2", strategy="zero3", parents=()
) -> argparse.Namespace:
    """`parents` are parsers of an example's own options."""
    parser = argparse.ArgumentParser(description=description, parents=parents)
    parser.add_argument("--cluster", default=cluster, help=f"default: {cluster}")
    parser.add_argument("--strategy", default=strategy, help=f"default: {strategy}")
    parser.add_argument("--steps", type=int, default=10)
    return parser.parse_args()


def train(
    step: Callable,
    state: Sequence,
    batches: Callable[[int], Sequence],
    cluster: str,
    strategy: str,
    steps: int,
    frozen: Sequence = (),
    tolerance: float = 1e-4,
):
    """Trains `step(*state, *frozen, *batch) -> (*state, loss)` both ways, prints
    the losses, and fails where they differ. Returns the compiled step."""
    held = len(state) + len(frozen)
    batch = batches(0)
    run = amsp.compile(
        step,
        (*state, *frozen, *batch),
        batch_argnums=range(held, held + len(batch)),
        state_argnums=range(len(state)),
        frozen_argnums=range(len(state), held),
        cluster=cluster,
        strategy=strategy,
    )
    print(run.plan)
    sharded = run.shard(*state, *frozen)
    sharded = sharded if held > 1 else (sharded,)
    reference = jax.jit(step)
    print("step   ranks        one device")
    for number in range(steps):
        batch = batches(number)
        *_, loss = run(*sharded, *batch)
        sharded = run.state() if held > 1 else (run.state(),)
        *state, expected = reference(*state, *frozen, *batch)
        print(f"{number + 1:>4}   {float(loss):.6f}     {float(expected):.6f}")
        if not np.allclose(loss, expected, rtol=tolerance, atol=tolerance):
            raise SystemExit(f"error: the losses of step {number + 1} differ")
    return run
