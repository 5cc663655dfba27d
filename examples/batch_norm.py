"""A convolutional network with batch norm: mean and variance are those of the
global batch, not of a rank's rows; the running ones are state without gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import side_by_side

optimizer = optax.sgd(0.1, momentum=0.9)
CHANNELS, CLASSES = 8, 4


def convolve(x, kernel, stride):
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=layout)


def normalise(weights, running, x):
    mean, variance = x.mean(axis=(0, 1, 2)), x.var(axis=(0, 1, 2))
    running = {
        "mean": 0.9 * running["mean"] + 0.1 * mean,
        "variance": 0.9 * running["variance"] + 0.1 * variance,
    }
    x = (x - mean) * jax.lax.rsqrt(variance + 1e-5)
    return x * weights["scale"] + weights["bias"], running


def forward(params, running, images):
    x, found = images, []
    for layer, old in zip(params["layers"], running):
        x, new = normalise(layer, old, convolve(x, layer["kernel"], 2))
        x = jax.nn.relu(x)
        found.append(new)
    return x.mean(axis=(1, 2)) @ params["head"], found


def step(params, opt_state, running, images, labels):
    def loss(params):
        logits, found = forward(params, running, images)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return losses.mean(), found

    (value, running), gradients = jax.value_and_grad(loss, has_aux=True)(params)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, running, value


def batch(number, rows=24):
    images = np.random.default_rng(number).standard_normal((rows, 12, 12, 3)).astype(np.float32)
    quarters = images[:, ::6, ::6, 0].reshape(rows, CLASSES)
    return images, quarters.argmax(axis=1).astype(np.int32)


def main(cluster, strategy, steps):
    rng = np.random.default_rng(0)

    def layer(inputs):
        kernel = rng.standard_normal((3, 3, inputs, CHANNELS)).astype(np.float32)
        ones, zeros = np.ones(CHANNELS, "f"), np.zeros(CHANNELS, "f")
        return {"kernel": kernel / (9 * inputs) ** 0.5, "scale": ones, "bias": zeros}

    head = rng.standard_normal((CHANNELS, CLASSES)).astype(np.float32) / 3
    params = {"layers": [layer(3), layer(CHANNELS)], "head": head}
    running = [{"mean": np.zeros(CHANNELS, "f"), "variance": np.ones(CHANNELS, "f")} for _ in range(2)]
    state = (params, optimizer.init(params), running)
    side_by_side.train(step, state, batch, cluster, strategy, steps)


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
