"""A byte-level GPT and its training step, in plain JAX."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax

from amsp.models import layout
from amsp.models.layout import Parameter
from amsp.models.training import accumulated

MASKED = -1e9  # Finite, so that a masked score has a gradient of exactly zero.


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int = 4
    width: int = 128
    heads: int = 4
    sequence: int = 64
    batch: int = 32
    microbatches: int = 1
    vocabulary: int = 256
    hidden: int | None = None  # of the MLP; 4 times the width by default
    tied: bool = False  # the output projection is the embedding's transpose

    learning_rate: float = 1e-3
    warmup: int = 10
    decay: int = 1000
    weight_decay: float = 0.1
    clip: float = 1.0

    def __post_init__(self):
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of {self.heads} heads")
        if self.batch % self.microbatches:
            raise ValueError(
                f"batch {self.batch} is no multiple of {self.microbatches} microbatches"
            )

    @property
    def mlp_width(self) -> int:
        return self.hidden or 4 * self.width


def parameters(config: Config) -> dict:
    width = config.width
    residual_scale = 0.02 / np.sqrt(2 * config.layers)
    layer = {
        "norm1": layout.norm(width),
        "qkv": layout.dense(width, 3 * width),
        "out": layout.dense(width, width, residual_scale),
        "norm2": layout.norm(width),
        "up": layout.dense(width, config.mlp_width),
        "down": layout.dense(config.mlp_width, width, residual_scale),
    }
    params = {
        "embedding": Parameter((config.vocabulary, width), 0.02),
        "position": Parameter((config.sequence, width), 0.02),
        "layers": [layer] * config.layers,
        "norm": layout.norm(width),
    }
    if not config.tied:
        params["head"] = Parameter((width, config.vocabulary), 0.02)
    return params


def init(config: Config, seed: int = 0) -> dict:
    """Parameters as numpy arrays, the same on every machine."""
    return layout.initial(parameters(config), seed)


def argument_shapes(config: Config) -> tuple:
    """The arguments of the training step as shapes; no weights are made."""
    params = layout.shapes(parameters(config))
    tokens = jax.ShapeDtypeStruct((config.batch, config.sequence), np.int32)
    opt_state = jax.eval_shape(optimizer(config).init, params)
    return params, opt_state, tokens, tokens


def layer_norm(p, x):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def dense(p, x):
    return x @ p["w"] + p["b"]


def attention(p, x, heads: int):
    batch, sequence, width = x.shape
    split = lambda t: t.reshape(batch, sequence, heads, -1).transpose(0, 2, 1, 3)
    q, k, v = map(split, jnp.split(dense(p["qkv"], x), 3, axis=-1))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // heads)
    causal = jnp.tril(jnp.ones((sequence, sequence), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, MASKED), axis=-1)
    merged = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, sequence, width)
    return dense(p["out"], merged)


def block(p, x, heads: int):
    x = x + attention(p, layer_norm(p["norm1"], x), heads)
    return x + dense(p["down"], jax.nn.gelu(dense(p["up"], layer_norm(p["norm2"], x))))


def logits(config: Config, params, tokens):
    x = params["embedding"][tokens] + params["position"]
    for p in params["layers"]:
        x = block(p, x, config.heads)
    x = layer_norm(params["norm"], x)
    return x @ (params["embedding"].T if config.tied else params["head"])


def loss(config: Config, params, tokens, targets):
    """The mean over tokens of the cross-entropy."""
    log_probabilities = jax.nn.log_softmax(logits(config, params, tokens))
    picked = jnp.take_along_axis(log_probabilities, targets[..., None], axis=-1)
    return -picked.mean()


def optimizer(config: Config) -> optax.GradientTransformation:
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, config.learning_rate, config.warmup, config.decay, config.learning_rate / 10
    )
    return optax.chain(
        optax.clip_by_global_norm(config.clip),
        optax.adamw(schedule, weight_decay=config.weight_decay),
    )


def train_step(config: Config) -> Callable:
    """step(params, opt_state, tokens, targets) -> (params, opt_state, loss)"""
    update = optimizer(config).update
    value_and_grad = jax.value_and_grad(functools.partial(loss, config))

    def step(params, opt_state, tokens, targets):
        value, gradients = accumulated(
            value_and_grad, params, (tokens, targets), config.microbatches
        )
        updates, opt_state = update(gradients, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value

    return step


def batches(config: Config, text: bytes, count: int, seed: int = 0):
    """`count` batches (tokens, targets) of sequences cut at random places."""
    data = np.frombuffer(text, np.uint8).astype(np.int32)
    if len(data) <= config.sequence:
        raise ValueError(f"the text has {len(data)} bytes, too few for a sequence")
    rng = np.random.default_rng(seed)
    span = np.arange(config.sequence)
    for _ in range(count):
        starts = rng.integers(0, len(data) - config.sequence, config.batch)
        at = starts[:, None] + span
        yield data[at], data[at + 1]
