"""optax.MultiSteps: every second call makes an update, from the mean of two
batches' gradients. The accumulator is state, in pieces like the moments."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.MultiSteps(optax.adamw(0.02), every_k_schedule=2)


def loss(params, x, y):
    logits = jnp.tanh(x @ params["w0"]) @ params["w1"] + params["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def step(params, opt_state, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=24):
    x = np.random.default_rng(number).standard_normal((rows, 10)).astype(np.float32)
    return x, x[:, :3].argmax(axis=1).astype(np.int32)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)
    params = {
        "w0": rng.standard_normal((10, 32)).astype(np.float32) / 3,
        "w1": rng.standard_normal((32, 3)).astype(np.float32) / 6,
        "b": np.zeros(3, "f"),
    }
    state = (params, optimizer.init(params))
    run = side_by_side.train(step, state, batch, cluster, strategy, steps)
    print("updates:", int(np.asarray(run.state()[1].gradient_step)), "of", run.steps, "steps")


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
