"""Two of eight experts for each token, and a loss that balances them over the
global batch: each rank's tokens count in it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

EXPERTS, CHOSEN, WIDTH = 8, 2, 16
optimizer = optax.adamw(0.01)


def mixture(params, x):
    gates = jax.nn.softmax(x @ params["router"])
    weights, experts = jax.lax.top_k(gates, CHOSEN)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    routes = jax.nn.one_hot(experts, EXPERTS)  # row, place, expert
    hidden = jax.nn.gelu(jnp.einsum("td,edh->teh", x, params["up"]))
    out = jnp.einsum("teh,ehd->ted", hidden, params["down"])
    out = jnp.einsum("ted,tke,tk->td", out, routes, weights)
    share = routes.sum(axis=1).mean(axis=0) / CHOSEN
    return out, EXPERTS * (share * gates.mean(axis=0)).sum()


def step(params, opt_state, x, y):
    def loss(params):
        out, balance = mixture(params, x)
        return jnp.square(x + out - y).mean() + 0.01 * balance

    value, gradients = jax.value_and_grad(loss)(params)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def batch(number, rows=48):
    x = np.random.default_rng(number).standard_normal((rows, WIDTH)).astype(np.float32)
    return x, np.where(x[:, :1] > 0, x[:, ::-1], -x)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / shape[-2] ** 0.5

    params = {
        "router": normal(WIDTH, EXPERTS),
        "up": normal(EXPERTS, WIDTH, 2 * WIDTH),
        "down": normal(EXPERTS, 2 * WIDTH, WIDTH),
    }
    state = (params, optimizer.init(params))
    side_by_side.train(step, state, batch, cluster, strategy, steps)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
