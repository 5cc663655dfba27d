"""What random programs compute with, and the list of their instructions."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from step_parts import normal

ROWS, LENGTH, WIDTH, VOCABULARY = 24, 4, 6, 11


# The batch: floats, some of them equal, tokens, labels, a mask.
def make_batch():
    rng = np.random.default_rng(0)
    x = normal(ROWS, WIDTH, seed=1)
    x[:, 2] = np.round(x[:, 2])
    tokens = rng.integers(0, VOCABULARY, (ROWS, LENGTH)).astype(np.int32)
    labels = rng.integers(0, 3, ROWS).astype(np.int32)
    mask = (rng.random((ROWS, LENGTH)) < 0.7) | (np.arange(LENGTH) == 0)
    return x, tokens, labels, mask


BATCH = make_batch()


class State:
    """What a program computes with: the values so far, and its parameters, which
    come into being when they are asked for first."""

    def __init__(self, params, batch, seed):
        self.params, self.seed = params, seed
        self.creates = params is None
        if self.creates:
            self.params = {}
        self.x, self.tokens, self.labels, self.mask = map(jnp.asarray, batch)
        self.values = [self.x]
        self.penalty = 0.0
        self.number = 0
        self.rng = None

    @property
    def top(self):
        return self.values[-1]

    def push(self, value):
        # Sizes stay near 1: what is compared is no error of rounding.
        self.values.append(value / jnp.sqrt(1 + jnp.square(value).mean(-1, keepdims=True)))

    def parameter(self, *shape, scale=0.5):
        name = f"p{self.number:02}_{len(shape)}_{shape[0] if shape else 0}"
        if self.creates and name not in self.params:
            seed = self.seed * 1000 + self.number
            self.params[name] = normal(*shape, seed=seed, scale=scale)
        return jnp.asarray(self.params[name])

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def earlier(self, accept):
        """A value of the stack, or none."""
        found = [v for v in self.values[:-1] if accept(v)]
        return self.pick(found) if found else None


INSTRUCTIONS: dict[str, Callable[[State], None]] = {}
# The seed from which on random programs have an instruction that came later, so
# that those of smaller seeds stay what they are.
FIRST_SEEDS: dict[str, int] = {}


def instruction(first_seed=0):
    def register(function):
        INSTRUCTIONS[function.__name__] = function
        FIRST_SEEDS[function.__name__] = first_seed
        return function

    return register
