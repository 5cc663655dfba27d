"""A perceptron trained by SGD with momentum; its state is saved, and loaded on
another number of ranks."""

import pathlib
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

import amsp

optimizer = optax.sgd(0.05, momentum=0.9)


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["w0"] + params["b0"])
    return jnp.square(hidden @ params["w1"] + params["b1"] - y).mean()


def step(params, opt_state, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def init(rng):
    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / shape[0] ** 0.5

    zeros = np.zeros
    return {"w0": normal(7, 33), "b0": zeros(33, "f"), "w1": normal(33, 3), "b1": zeros(3, "f")}


def batch(number, rows=24):
    x = np.random.default_rng(number).standard_normal((rows, 7)).astype(np.float32)
    return x, np.stack([x.sum(1), x.prod(1), np.abs(x).max(1)], 1)


def main(cluster, strategy, steps):
    params = init(np.random.default_rng(0))
    state = (params, optimizer.init(params))
    run = side_by_side.train(step, state, batch, cluster, strategy, steps)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "checkpoint"
        run.save(path)
        other = amsp.compile(
            step, (*state, *batch(0)), batch_argnums=(2, 3), cluster="levels=3", strategy="zero1"
        )
        params, opt_state = other.load(path)
        *_, value = other(params, opt_state, *batch(steps))
        print(f"step {other.steps} on three ranks, from the checkpoint: {float(value):.6f}")


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
