"""A moving average of the weights, which is evaluated: the average rests in
pieces like the weights, and an evaluation step reads it where it lies."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

import amsp

optimizer = optax.adam(0.02)
DECAY = 0.9


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["w0"] + params["b0"])
    return jnp.square(hidden @ params["w1"] - y).mean()


def step(params, average, opt_state, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    params = optax.apply_updates(params, updates)
    average = optax.incremental_update(params, average, 1 - DECAY)
    return params, average, opt_state, value


def evaluate(average, x, y):
    return loss(average, x, y)


def batch(number, rows=24):
    x = np.random.default_rng(number).standard_normal((rows, 8)).astype(np.float32)
    return x, np.maximum(x[:, :2], x[:, 2:4])


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)
    params = {
        "w0": rng.standard_normal((8, 40)).astype(np.float32) / 3,
        "b0": np.zeros(40, "f"),
        "w1": rng.standard_normal((40, 2)).astype(np.float32) / 6,
    }
    state = (params, params, optimizer.init(params))
    run = side_by_side.train(step, state, batch, cluster, strategy, steps)
    average = run.state()[1]
    held_out = batch(10_000)
    evaluation = amsp.compile(
        evaluate, (average, *held_out), batch_argnums=(1, 2), state_of=run
    )
    value = float(evaluation(average, *held_out))
    expected = float(evaluate(run.gather(average), *held_out))
    print(f"of the average on held-out rows: {value:.6f}, on one device {expected:.6f}")
    if not np.isclose(value, expected, rtol=1e-4):
        raise SystemExit("error: the evaluations differ")


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
