"""Rows of different lengths: the loss is divided by the tokens of the global
batch. The vocabulary, and with it a bias, is of a size that no group divides."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

VOCABULARY, WIDTH, LENGTH = 101, 16, 9
optimizer = optax.adamw(0.01)


def loss(params, tokens, lengths):
    x = params["table"][tokens[:, :-1]]
    x = jnp.cumsum(x, axis=1) / jnp.arange(1, LENGTH)[:, None]
    logits = jnp.tanh(x @ params["w"]) @ params["head"] + params["bias"]
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
    mask = jnp.arange(1, LENGTH) < lengths[:, None]
    return jnp.where(mask, losses, 0).sum() / mask.sum()


def step(params, opt_state, tokens, lengths):
    value, gradients = jax.value_and_grad(loss)(params, tokens, lengths)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=24):
    rng = np.random.default_rng(number)
    lengths = np.sort(rng.integers(2, LENGTH + 1, rows)).astype(np.int32)  # short rows on rank 0
    tokens = rng.integers(0, VOCABULARY, (rows, 1)) + np.arange(LENGTH)
    return (tokens % VOCABULARY).astype(np.int32), lengths


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / WIDTH**0.5

    params = {
        "table": normal(VOCABULARY, WIDTH),
        "w": normal(WIDTH, WIDTH),
        "head": normal(WIDTH, VOCABULARY),
        "bias": np.zeros(VOCABULARY, "f"),
    }
    side_by_side.train(step, (params, optimizer.init(params)), batch, cluster, strategy, steps)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
