"""A contrastive loss with in-batch negatives: every row meets every other row
of the global batch, on all ranks. Averaging per-rank losses would be wrong."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.adam(0.01)


def embed(params, x):
    out = jnp.tanh(x @ params["w0"]) @ params["w1"]
    return out / jnp.linalg.norm(out, axis=1, keepdims=True)


def step(params, opt_state, left, right):
    def loss(params):
        logits = embed(params, left) @ embed(params, right).T * jnp.exp(params["scale"])
        return optax.softmax_cross_entropy_with_integer_labels(
            logits, jnp.arange(len(logits))
        ).mean()

    value, gradients = jax.value_and_grad(loss)(params)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=24):
    rng = np.random.default_rng(number)
    left = rng.standard_normal((rows, 12)).astype(np.float32)
    return left, left + 0.1 * rng.standard_normal(left.shape).astype(np.float32)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)
    params = {
        "w0": rng.standard_normal((12, 20)).astype(np.float32) / 3,
        "w1": rng.standard_normal((20, 9)).astype(np.float32) / 4,
        "scale": np.float32(1),
    }
    side_by_side.train(step, (params, optimizer.init(params)), batch, cluster, strategy, steps)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
