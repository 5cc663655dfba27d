"""One small training step of each kind that people write with JAX and optax.

Each takes the number of rows in a batch. The matrix, the suite's share of it and
the cases of steps.py all go by this one list; docs/kinds.md says what stands for
what.
"""

from kinds import loops, models, optimizers, precision, states
from kinds.registry import KINDS

__all__ = ["KINDS", "loops", "models", "optimizers", "precision", "states"]
