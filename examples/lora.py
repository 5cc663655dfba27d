"""Low-rank adapters of a frozen base: only the adapters have gradients and
optimizer states; the base rests in pieces and is gathered where it is used."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.adamw(0.02)
WIDTH, LAYERS, RANK = 48, 3, 4


def forward(adapters, base, x):
    for name, weight in base.items():
        low = adapters[name]
        x = x + jnp.tanh(x @ weight + (x @ low["left"]) @ low["right"])
    return x


def step(adapters, opt_state, base, x, y):
    def loss(adapters):
        return jnp.square(forward(adapters, base, x) - y).mean()

    value, gradients = jax.value_and_grad(loss)(adapters)
    updates, opt_state = optimizer.update(gradients, opt_state, adapters)
    return optax.apply_updates(adapters, updates), opt_state, value


def batch(number, rows=32):
    x = np.random.default_rng(number).standard_normal((rows, WIDTH)).astype(np.float32)
    return x, x[:, ::-1]


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32) / WIDTH**0.5

    base = {f"layer{i}": normal(WIDTH, WIDTH) for i in range(LAYERS)}
    adapters = {
        name: {"left": normal(WIDTH, RANK), "right": np.zeros((RANK, WIDTH), "f")} for name in base
    }
    state = (adapters, optimizer.init(adapters))
    run = side_by_side.train(step, state, batch, cluster, strategy, steps, frozen=(base,))
    for parameter in run.manifest["parameters"]:
        if "base" in parameter["name"]:
            print(
                f"{parameter['name']}: {parameter['elements']} elements, "
                f"{parameter['gathers']} gathered in a step, {parameter['reductions']} reduced"
            )


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
