"""The training step of a language model from a transformers configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp

from amsp.models import gpt2, layout, llama
from amsp.models.training import Training, mean_cross_entropy

FAMILIES = {"llama": llama, "gpt2": gpt2}


@dataclasses.dataclass(frozen=True)
class LanguageModel:
    """A model with its training. The batch is `rows` sequences, of all ranks and
    microbatches together."""

    family: str
    config: llama.Config | gpt2.Config
    sequence: int
    rows: int
    training: Training = Training()
    scan_layers: bool = False
    remat: bool = False

    def __post_init__(self):
        if self.rows % self.training.microbatches:
            raise ValueError(
                f"{self.rows} sequences are no multiple of "
                f"{self.training.microbatches} microbatches"
            )

    @property
    def parameters(self):
        """The layout of the parameters."""
        return FAMILIES[self.family].parameters(
            self.config, self.sequence, self.scan_layers
        )

    @property
    def transformation(self):
        matrices = layout.map_layout(lambda p: p.is_matrix, self.parameters)
        return self.training.adamw.transformation(matrices)

    def loss(self, params, tokens, targets):
        logits = FAMILIES[self.family].logits(self.config, params, tokens, self.remat)
        return mean_cross_entropy(logits, targets)

    @property
    def step(self) -> Callable:
        """step(params, opt_state, tokens, targets) -> (params, opt_state, loss)"""
        return self.training.step(self.transformation, self.loss)

    def initial_state(self, seed: int = 0):
        """(params, opt_state), with numbers."""
        masters = jax.tree.map(jnp.asarray, layout.initial(self.parameters, seed))
        return self.training.initial_state(self.transformation, masters)

    @property
    def argument_shapes(self) -> tuple:
        """The arguments of the step as shapes; no weights are made."""
        masters = layout.shapes(self.parameters)
        initial = lambda m: self.training.initial_state(self.transformation, m)
        tokens = jax.ShapeDtypeStruct((self.rows, self.sequence), jnp.int32)
        return (*jax.eval_shape(initial, masters), tokens, tokens)
