"""Models of the GPT-2 family and their loss, in plain JAX, without dropout."""

from __future__ import annotations

import dataclasses
import math
import pathlib

import jax
import jax.numpy as jnp

from amsp.models import configuration, layout, training
from amsp.models.configuration import Key
from amsp.models.layout import Parameter

KEYS = [
    Key("n_embd"),
    Key("n_head"),
    Key("n_layer"),
    Key("n_positions"),
    Key("vocab_size"),
    Key("n_inner", (int, type(None)), None),
    Key("layer_norm_epsilon", float, 1e-5),
    Key("tie_word_embeddings", bool, True),
    Key("activation_function", str, "gelu_new", only=("gelu_new",)),
    Key("scale_attn_weights", bool, True, only=(True,)),
    Key("scale_attn_by_inverse_layer_idx", bool, False, only=(False,)),
    Key("add_cross_attention", bool, False, only=(False,)),
]

IGNORED = configuration.IGNORED | {
    "attn_pdrop",
    "embd_pdrop",
    "n_ctx",
    "reorder_and_upcast_attn",
    "resid_pdrop",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
}


@dataclasses.dataclass(frozen=True)
class Config:
    n_embd: int
    n_head: int
    n_layer: int
    n_positions: int
    vocab_size: int
    n_inner: int
    layer_norm_epsilon: float = 1e-5
    tie_word_embeddings: bool = True

    @staticmethod
    def read(path: str | pathlib.Path) -> Config:
        return Config.from_keys(configuration.read(path, "gpt2"), str(path))

    @staticmethod
    def from_keys(data: dict, where: str = "config") -> Config:
        values = configuration.take(data, KEYS, where, IGNORED)
        width, heads = values["n_embd"], values["n_head"]
        if width % heads:
            raise ValueError(
                f"{where}: 'n_embd' {width} is no multiple of 'n_head' {heads}"
            )
        values["n_inner"] = values["n_inner"] or 4 * width
        names = {field.name for field in dataclasses.fields(Config)}
        return Config(**{name: values[name] for name in names})


def layer_parameters(config: Config) -> dict:
    width = config.n_embd
    scale = 0.02 / math.sqrt(2 * config.n_layer)
    return {
        "norm1": layout.norm(width),
        "qkv": layout.dense(width, 3 * width),
        "out": layout.dense(width, width, scale),
        "norm2": layout.norm(width),
        "up": layout.dense(width, config.n_inner),
        "down": layout.dense(config.n_inner, width, scale),
    }


def parameters(config: Config, sequence: int, scan_layers: bool = False) -> dict:
    if sequence > config.n_positions:
        raise ValueError(
            f"sequences of {sequence} tokens, and 'n_positions' is {config.n_positions}"
        )
    layer, count = layer_parameters(config), config.n_layer
    params = {
        "embedding": Parameter((config.vocab_size, config.n_embd), 0.02),
        "position": Parameter((config.n_positions, config.n_embd), 0.01),
        "layers": layout.stack(layer, count) if scan_layers else [layer] * count,
        "norm": layout.norm(config.n_embd),
    }
    if not config.tie_word_embeddings:
        params["head"] = Parameter((config.n_embd, config.vocab_size), 0.02)
    return params


def layer_norm(p, x, epsilon: float):
    wide = training.widened(x)
    centred = wide - wide.mean(-1, keepdims=True)
    variance = jnp.square(centred).mean(-1, keepdims=True)
    normal = (centred * jax.lax.rsqrt(variance + epsilon)).astype(x.dtype)
    return normal * p["scale"] + p["bias"]


def dense(p, x):
    return x @ p["w"] + p["b"]


def attention(config: Config, p, x):
    rows, sequence, width = x.shape
    heads = lambda t: t.reshape(rows, sequence, config.n_head, -1)
    q, k, v = map(heads, jnp.split(dense(p["qkv"], x), 3, axis=-1))
    mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    return dense(p["out"], mixed.reshape(rows, sequence, width))


def block(config: Config, p, x):
    epsilon = config.layer_norm_epsilon
    x = x + attention(config, p, layer_norm(p["norm1"], x, epsilon))
    y = layer_norm(p["norm2"], x, epsilon)
    return x + dense(p["down"], jax.nn.gelu(dense(p["up"], y), approximate=True))


def logits(config: Config, params, tokens, remat: bool = False):
    x = params["embedding"][tokens] + params["position"][: tokens.shape[1]]
    x = training.through_layers(
        lambda p, x: block(config, p, x), params["layers"], x, remat
    )
    x = layer_norm(params["norm"], x, config.layer_norm_epsilon)
    return x @ (params["embedding"].T if config.tie_word_embeddings else params["head"])
