"""Gradients accumulated by a scan over microbatches, in both usual layouts: blocks
of rows, or every k-th row (`--rows every`). The result is the same."""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.01))
MICROBATCHES = 4


def blocks(t):
    return t.reshape(MICROBATCHES, -1, *t.shape[1:])


def every(t):
    return t.reshape(-1, MICROBATCHES, *t.shape[1:]).swapaxes(0, 1)


LAYOUTS = {"blocks": blocks, "every": every}


def loss(params, x, y):
    hidden = jax.nn.gelu(x @ params["w0"] + params["b0"])
    return jnp.square(hidden @ params["w1"] - y).mean()


def step(layout, params, opt_state, x, y):
    def add(total, microbatch):
        found = jax.value_and_grad(loss)(params, *microbatch)
        return jax.tree.map(jnp.add, total, found), None

    zeros = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, params))
    total, _ = jax.lax.scan(add, zeros, (layout(x), layout(y)))
    value, gradients = jax.tree.map(lambda t: t / MICROBATCHES, total)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=32):
    x = np.random.default_rng(number).standard_normal((rows, 12)).astype(np.float32)
    return x, np.cos(x[:, :3])


def main(cluster, strategy, steps, rows):
    rng = np.random.default_rng(0)
    params = {
        "w0": rng.standard_normal((12, 36)).astype(np.float32) / 4,
        "b0": np.zeros(36, "f"),
        "w1": rng.standard_normal((36, 3)).astype(np.float32) / 6,
    }
    state = (params, optimizer.init(params))
    of_layout = functools.partial(step, LAYOUTS[rows])
    side_by_side.train(of_layout, state, batch, cluster, strategy, steps)


if __name__ == "__main__":
    rows = argparse.ArgumentParser(add_help=False)
    rows.add_argument("--rows", choices=LAYOUTS, default="blocks", help="of a microbatch")
    main(**vars(side_by_side.options(__doc__, strategy="p=1,g=2x1,os=2x2", parents=(rows,))))
