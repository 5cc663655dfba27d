"""LAMB for large batches: the ratio of a layer's norms scales its update. States
are in pieces; of each layer two scalars are summed over the ranks."""

import jax
import numpy as np
import optax
import side_by_side

optimizer = optax.lamb(optax.linear_schedule(0.0, 0.02, 3), weight_decay=0.01)


def loss(params, x, y):
    for layer in params["hidden"]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return optax.sigmoid_binary_cross_entropy(x @ params["out"], y).mean()


def step(params, opt_state, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=256):
    x = np.random.default_rng(number).standard_normal((rows, 16)).astype(np.float32)
    return x, (x[:, :2] * x[:, 2:4] > 0).astype(np.float32)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def dense(rows, columns):
        w = rng.standard_normal((rows, columns)).astype(np.float32) * (2 / rows) ** 0.5
        return {"w": w, "b": np.zeros(columns, "f")}

    params = {"hidden": [dense(16, 48), dense(48, 48)], "out": dense(48, 2)["w"]}
    state = (params, optimizer.init(params))
    run = side_by_side.train(step, state, batch, cluster, strategy, steps)
    sums = [c for c in run.manifest["collectives"] if c["kind"] == "all_reduce"]
    print("bytes of all-reduces:", sum(c["bytes"] for c in sums))


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
