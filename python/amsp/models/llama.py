"""Models of the Llama family and their loss, in plain JAX: RMS norms, rotary
positions, grouped queries, SwiGLU."""

from __future__ import annotations

import dataclasses
import math
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

from amsp.models import configuration, layout, training
from amsp.models.configuration import Key
from amsp.models.layout import Parameter

KEYS = [
    Key("hidden_size"),
    Key("intermediate_size"),
    Key("num_attention_heads"),
    Key("num_hidden_layers"),
    Key("vocab_size"),
    Key("num_key_value_heads", (int, type(None)), None),
    Key("head_dim", (int, type(None)), None),
    Key("rope_theta", float, 10000.0),
    Key("rope_scaling", (dict, type(None)), None),
    Key("rms_norm_eps", float, 1e-6),
    Key("tie_word_embeddings", bool, False),
    Key("hidden_act", str, "silu", only=("silu",)),
    Key("attention_bias", bool, False, only=(False,)),
    Key("mlp_bias", bool, False, only=(False,)),
    Key("attention_dropout", float, 0.0, only=(0.0,), positive=False),
]

SCALING_KEYS = {
    "linear": [Key("factor", float)],
    "llama3": [
        Key("factor", float),
        Key("low_freq_factor", float),
        Key("high_freq_factor", float),
        Key("original_max_position_embeddings"),
    ],
}


@dataclasses.dataclass(frozen=True)
class Config:
    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_hidden_layers: int
    vocab_size: int
    num_key_value_heads: int
    head_dim: int
    rope_theta: float = 10000.0
    rope_scaling: dict | None = None
    rms_norm_eps: float = 1e-6
    tie_word_embeddings: bool = False

    @staticmethod
    def read(path: str | pathlib.Path) -> Config:
        return Config.from_keys(configuration.read(path, "llama"), str(path))

    @staticmethod
    def from_keys(data: dict, where: str = "config") -> Config:
        values = configuration.take(data, KEYS, where)
        heads, hidden = values["num_attention_heads"], values["hidden_size"]
        values["num_key_value_heads"] = values["num_key_value_heads"] or heads
        if values["head_dim"] is None:
            if hidden % heads:
                raise ValueError(
                    f"{where}: 'hidden_size' {hidden} is no multiple of "
                    f"'num_attention_heads' {heads}"
                )
            values["head_dim"] = hidden // heads
        if values["head_dim"] % 2:
            raise ValueError(f"{where}: heads of odd width {values['head_dim']}")
        if heads % values["num_key_value_heads"]:
            raise ValueError(
                f"{where}: 'num_attention_heads' {heads} is no multiple of "
                f"'num_key_value_heads' {values['num_key_value_heads']}"
            )
        if values["rope_scaling"] is not None:
            values["rope_scaling"] = checked_scaling(values["rope_scaling"], where)
        names = {field.name for field in dataclasses.fields(Config)}
        return Config(**{name: values[name] for name in names})


def checked_scaling(scaling: dict, where: str) -> dict | None:
    where += ": 'rope_scaling'"
    scaling = dict(scaling)
    old_name = scaling.pop("type", "default")
    kind = scaling.pop("rope_type", old_name)
    if kind == "default":
        return None
    if kind not in SCALING_KEYS:
        names = ", ".join(f"'{name}'" for name in ("default", *SCALING_KEYS))
        raise ValueError(f"{where} is of type {kind!r}; implemented are: {names}")
    return {"type": kind, **configuration.take(scaling, SCALING_KEYS[kind], where, set())}


def layer_parameters(config: Config) -> dict:
    hidden, inner, width = config.hidden_size, config.intermediate_size, config.head_dim
    queries = config.num_attention_heads * width
    keys = config.num_key_value_heads * width
    scale = 0.02 / math.sqrt(2 * config.num_hidden_layers)
    return {
        "input_norm": Parameter((hidden,), fill=1.0),
        "q": Parameter((hidden, queries), 0.02),
        "k": Parameter((hidden, keys), 0.02),
        "v": Parameter((hidden, keys), 0.02),
        "o": Parameter((queries, hidden), scale),
        "mlp_norm": Parameter((hidden,), fill=1.0),
        "gate": Parameter((hidden, inner), 0.02),
        "up": Parameter((hidden, inner), 0.02),
        "down": Parameter((inner, hidden), scale),
    }


def parameters(config: Config, sequence: int, scan_layers: bool = False) -> dict:
    layer, count = layer_parameters(config), config.num_hidden_layers
    params = {
        "embedding": Parameter((config.vocab_size, config.hidden_size), 0.02),
        "layers": layout.stack(layer, count) if scan_layers else [layer] * count,
        "norm": Parameter((config.hidden_size,), fill=1.0),
    }
    if not config.tie_word_embeddings:
        params["head"] = Parameter((config.hidden_size, config.vocab_size), 0.02)
    return params


def rms_norm(scale, x, epsilon: float):
    wide = training.widened(x)
    square = jnp.square(wide).mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(square + epsilon)).astype(x.dtype) * scale


def rotary_frequencies(config: Config) -> np.ndarray:
    """Radians per position, for each pair of a head's elements."""
    pairs = np.arange(0, config.head_dim, 2) / config.head_dim
    frequencies = config.rope_theta**-pairs
    scaling = config.rope_scaling
    if scaling is None:
        return frequencies
    if scaling["type"] == "linear":
        return frequencies / scaling["factor"]
    # Llama 3: waves longer than the old context are stretched, short ones kept.
    turns = scaling["original_max_position_embeddings"] * frequencies / (2 * np.pi)
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return frequencies * (kept + (1 - kept) / scaling["factor"])


def rotate(x, cosines, sines):
    """Element i is paired with element i + width / 2, as transformers do."""
    first, second = jnp.split(training.widened(x), 2, axis=-1)
    turned = (first * cosines - second * sines, second * cosines + first * sines)
    return jnp.concatenate(turned, axis=-1).astype(x.dtype)


def attention(config: Config, p, x):
    rows, sequence, _ = x.shape
    heads = lambda w: (x @ w).reshape(rows, sequence, -1, config.head_dim)
    positions = jnp.arange(sequence, dtype=jnp.float32)[:, None, None]
    angles = positions * rotary_frequencies(config).astype(np.float32)
    turn = lambda t: rotate(t, jnp.cos(angles), jnp.sin(angles))
    q, k, v = turn(heads(p["q"])), turn(heads(p["k"])), heads(p["v"])
    mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    return mixed.reshape(rows, sequence, -1) @ p["o"]


def block(config: Config, p, x):
    x = x + attention(config, p, rms_norm(p["input_norm"], x, config.rms_norm_eps))
    y = rms_norm(p["mlp_norm"], x, config.rms_norm_eps)
    return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]


def logits(config: Config, params, tokens, remat: bool = False):
    x = params["embedding"][tokens]
    x = training.through_layers(
        lambda p, x: block(config, p, x), params["layers"], x, remat
    )
    x = rms_norm(params["norm"], x, config.rms_norm_eps)
    return x @ (params["embedding"].T if config.tie_word_embeddings else params["head"])
