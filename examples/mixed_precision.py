"""bfloat16 parameters with float32 masters, and a loss scale that halves when a
gradient overflows: then all ranks skip the step."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.adamw(0.01)


def step(masters, opt_state, scale, x, y):
    params = jax.tree.map(lambda w: w.astype(jnp.bfloat16), masters)

    def loss(params):
        hidden = jnp.tanh(x.astype(jnp.bfloat16) @ params["w0"])
        error = (hidden @ params["w1"]).astype(jnp.float32) - y
        value = jnp.square(error).mean()
        return value * scale, value

    (_, value), gradients = jax.value_and_grad(loss, has_aux=True)(params)
    gradients = jax.tree.map(lambda g: g.astype(jnp.float32) / scale, gradients)
    finite = jnp.isfinite(optax.global_norm(gradients))
    updates, new_state = optimizer.update(gradients, opt_state, masters)
    new_masters = optax.apply_updates(masters, updates)

    def keep(new, old):
        return jax.tree.map(lambda a, b: jnp.where(finite, a, b), new, old)

    scale = jnp.where(finite, scale, scale / 2)
    return keep(new_masters, masters), keep(new_state, opt_state), scale, value


def batch(number, rows=24):
    x = np.random.default_rng(number).standard_normal((rows, 16)).astype(np.float32)
    y = x[:, :3].copy()
    if number == 2:
        y[5, 0] = np.inf  # in the rows of one rank
    return x, y


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)
    masters = {
        "w0": rng.standard_normal((16, 40)).astype(np.float32) / 4,
        "w1": rng.standard_normal((40, 3)).astype(np.float32) / 6,
    }
    state = (masters, optimizer.init(masters), np.float32(1024))
    run = side_by_side.train(step, state, batch, cluster, strategy, steps, tolerance=1e-2)
    print("loss scale:", float(np.asarray(run.state()[2])))


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
