"""A block as Llama has it: rotary positions, grouped queries, RMS norms and a
gated MLP, each block recomputed in the backward pass."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

WIDTH, HEADS, GROUPS, SIZE, LAYERS = 32, 4, 2, 8, 2
VOCABULARY, LENGTH = 61, 12
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.01))


def norm(x, scale):
    return x * jax.lax.rsqrt(jnp.square(x).mean(axis=-1, keepdims=True) + 1e-6) * scale


def rotate(x):
    frequencies = 10000.0 ** (-jnp.arange(0, SIZE, 2) / SIZE)
    angles = jnp.arange(LENGTH)[:, None, None] * frequencies
    left, right = jnp.split(x, 2, axis=-1)
    cosine, sine = jnp.cos(angles), jnp.sin(angles)
    return jnp.concatenate([left * cosine - right * sine, right * cosine + left * sine], axis=-1)


@jax.checkpoint
def block(weights, x):
    y = norm(x, weights["norm1"])
    q, k, v = ((y @ weights[n]).reshape(*y.shape[:2], -1, SIZE) for n in "qkv")
    y = jax.nn.dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
    x = x + y.reshape(*x.shape[:2], -1) @ weights["o"]
    y = norm(x, weights["norm2"])
    return x + (jax.nn.silu(y @ weights["gate"]) * (y @ weights["up"])) @ weights["down"]


def loss(params, tokens):
    x = params["table"][tokens[:, :-1]]
    for weights in params["blocks"]:
        x = block(weights, x)
    logits = norm(x, params["norm"]) @ params["table"].T
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


def step(params, opt_state, tokens):
    value, gradients = jax.value_and_grad(loss)(params, tokens)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=16):
    starts = np.random.default_rng(number).integers(0, VOCABULARY, (rows, 1))
    return (((starts + 3 * np.arange(LENGTH + 1)) % VOCABULARY).astype(np.int32),)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / shape[-2] ** 0.5

    sizes = {"q": HEADS * SIZE, "k": GROUPS * SIZE, "v": GROUPS * SIZE, "gate": 48, "up": 48}
    blocks = [
        {name: normal(WIDTH, size) for name, size in sizes.items()}
        | {"o": normal(HEADS * SIZE, WIDTH), "down": normal(48, WIDTH)}
        | {"norm1": np.ones(WIDTH, "f"), "norm2": np.ones(WIDTH, "f")}
        for _ in range(LAYERS)
    ]
    params = {"table": normal(VOCABULARY, WIDTH), "blocks": blocks, "norm": np.ones(WIDTH, "f")}
    side_by_side.train(step, (params, optimizer.init(params)), batch, cluster, strategy, steps)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
