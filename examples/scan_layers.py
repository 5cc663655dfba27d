"""Layers stacked in one parameter, scanned over with recomputation: each
layer's slice is gathered by itself, in the iteration that uses it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-3))
LAYERS, WIDTH = 6, 24


@jax.checkpoint
def layer(x, weights):
    normed = x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * weights["scale"]
    return x + jax.nn.silu(normed @ weights["up"]) @ weights["down"]


def step(params, opt_state, x, y):
    def loss(params):
        out, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), x, params)
        return jnp.square(out - y).mean()

    value, gradients = jax.value_and_grad(loss)(params)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=24):
    x = np.random.default_rng(number).standard_normal((rows, WIDTH)).astype(np.float32)
    return x, np.tanh(np.roll(x, 1, axis=1))


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)
    params = {
        "scale": np.ones((LAYERS, WIDTH), "f"),
        "up": rng.standard_normal((LAYERS, WIDTH, 50)).astype(np.float32) / 5,
        "down": rng.standard_normal((LAYERS, 50, WIDTH)).astype(np.float32) / 14,
    }
    run = side_by_side.train(
        step, (params, optimizer.init(params)), batch, cluster, strategy, steps
    )
    largest = max(entry["bytes"] for entry in run.manifest["collectives"])
    print(f"largest collective: {largest} bytes; a stack: {params['up'].nbytes}")


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
