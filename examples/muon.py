"""Muon for the matrices, AdamW for the rest, by one optimizer of optax. A matrix
is orthogonalised whole, so momenta are gathered for it, and cut again."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib
import side_by_side

optimizer = optax.contrib.muon(0.02, adam_b2=0.99)


def loss(params, x, y):
    hidden = jax.nn.silu(x @ params["in"] + params["bias"])
    hidden = hidden + jax.nn.silu(hidden @ params["middle"]) * params["scale"]
    return jnp.square(hidden @ params["out"] - y).mean()


def step(params, opt_state, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=24):
    x = np.random.default_rng(number).standard_normal((rows, 12)).astype(np.float32)
    return x, np.abs(x[:, :4])


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / shape[0] ** 0.5

    params = {
        "in": normal(12, 32),
        "bias": np.zeros(32, "f"),
        "middle": normal(32, 32),
        "scale": np.ones(32, "f"),
        "out": normal(32, 4),
    }
    state = (params, optimizer.init(params))
    side_by_side.train(step, state, batch, cluster, strategy, steps, tolerance=1e-3)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
