"""An encoder and a decoder with cross attention: padded sources, causal targets,
one table for sources, targets and logits."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

WIDTH, HEADS, VOCABULARY, SOURCE, TARGET = 24, 3, 29, 7, 5
optimizer = optax.adam(0.005)


def attend(weights, x, memory, mask):
    def heads(t):
        return t.reshape(*t.shape[:2], HEADS, WIDTH // HEADS)

    q, k, v = heads(x @ weights["q"]), heads(memory @ weights["k"]), heads(memory @ weights["v"])
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (WIDTH // HEADS) ** -0.5
    scores = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(x.shape) @ weights["o"]


def loss(params, source, lengths, target):
    table = params["table"]
    there = (jnp.arange(SOURCE) < lengths[:, None])[:, None, None, :]
    memory = attend(params["encoder"], table[source], table[source], there)
    x = table[target[:, :-1]] + params["position"]
    x = attend(params["decoder"], x, x, jnp.tril(jnp.ones((TARGET, TARGET), bool)))
    x = attend(params["cross"], x, memory, there)
    losses = optax.softmax_cross_entropy_with_integer_labels(x @ table.T, target[:, 1:])
    return losses.mean()


def step(params, opt_state, source, lengths, target):
    value, gradients = jax.value_and_grad(loss)(params, source, lengths, target)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=24):
    rng = np.random.default_rng(number)
    source = rng.integers(1, VOCABULARY, (rows, SOURCE)).astype(np.int32)
    lengths = rng.integers(TARGET, SOURCE + 1, rows).astype(np.int32)
    start = np.zeros((rows, 1), np.int32)
    return source, lengths, np.concatenate([start, source[:, TARGET - 1 :: -1]], axis=1)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / WIDTH**0.5

    params = {name: {w: normal(WIDTH, WIDTH) for w in "qkvo"} for name in ("encoder", "decoder", "cross")}
    params |= {"table": normal(VOCABULARY, WIDTH), "position": normal(TARGET, WIDTH)}
    state = (params, optimizer.init(params))
    side_by_side.train(step, state, batch, cluster, strategy, steps)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
