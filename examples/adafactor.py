"""Adafactor: second moments of a matrix are kept as one row and one column. What
it needs of other ranks is gathered; parameters and momentum stay in pieces."""

import jax
import numpy as np
import optax
import side_by_side

optimizer = optax.adafactor(0.02, min_dim_size_to_factor=16, momentum=0.9)


def loss(params, tokens, targets):
    x = params["table"][tokens].mean(axis=1)
    x = x + jax.nn.gelu(x @ params["up"]) @ params["down"]
    logits = x @ params["table"].T
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


def step(params, opt_state, tokens, targets):
    value, gradients = jax.value_and_grad(loss)(params, tokens, targets)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=32):
    tokens = np.random.default_rng(number).integers(0, 64, (rows, 5)).astype(np.int32)
    return tokens, tokens.max(axis=1)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / shape[-1] ** 0.5

    params = {"table": normal(64, 24), "up": normal(24, 96), "down": normal(96, 24)}
    state = (params, optimizer.init(params))
    run = side_by_side.train(step, state, batch, cluster, strategy, steps, tolerance=1e-3)
    for argument in run.manifest["arguments"]:
        if argument["role"] == "opt_state" and len(argument["shape"]) > 0:
            print(f"{argument['name']}: {argument['shape']}, {argument['placement']['kind']}")


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
