"""Dropout whose key is state: each step splits it. The masks are those of one
device, whatever the number of ranks."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.lion(1e-3)
RATE = 0.25


def loss(params, key, x, y):
    hidden = jax.nn.gelu(x @ params["w0"])
    kept = jax.random.bernoulli(key, 1 - RATE, hidden.shape)
    hidden = jnp.where(kept, hidden / (1 - RATE), 0)
    return jnp.square(hidden @ params["w1"] - y).mean()


def step(params, opt_state, key, x, y):
    key, used = jax.random.split(key)
    value, gradients = jax.value_and_grad(loss)(params, used, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, key, value


def batch(number, rows=24):
    x = np.random.default_rng(number).standard_normal((rows, 16)).astype(np.float32)
    return x, np.sin(x[:, :2])


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)
    params = {
        "w0": rng.standard_normal((16, 40)).astype(np.float32) / 4,
        "w1": rng.standard_normal((40, 2)).astype(np.float32) / 6,
    }
    state = (params, optimizer.init(params), np.asarray(jax.random.PRNGKey(0)))
    side_by_side.train(step, state, batch, cluster, strategy, steps)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
