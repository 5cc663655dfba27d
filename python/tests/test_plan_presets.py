"""No preset is faster than the plan that is chosen, by the simulation of both programs:
where a table is longer than the sequence, where the optimizer reads the loss, and
otherwise."""

import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from amsp import export, tools
from test_planner import CLUSTERS, plan

pytestmark = pytest.mark.skipif(
    tools.find("amsp-plan") is None, reason="not built: amsp-plan"
)


def export_gpt(directory):
    config = {
        "model_type": "gpt2", "n_embd": 128, "n_layer": 3, "n_head": 4,
        "vocab_size": 2048, "n_positions": 128,
    }  # fmt: skip
    path = directory / "config.json"
    path.write_text(json.dumps(config))
    export.main(
        ["gpt2", "--config", str(path), "--seq", "64", "--microbatch", "16",
         "-o", str(directory / "step.mlir")]
    )  # fmt: skip


def export_momentum(rate, directory):
    """Steps of `rate` of the loss, of three layers."""
    width = 256
    state = {f"w{i}": np.zeros((width, width), np.float32) for i in range(3)}

    def loss_of(weights, x):
        for weight in weights.values():
            x = jnp.tanh(x @ weight)
        return jnp.mean(x**2)

    def step(weights, sums, x):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x)
        sums = jax.tree.map(lambda s, g: 0.9 * s + g, sums, gradients)
        weights = jax.tree.map(lambda w, s: w - rate(loss) * s, weights, sums)
        return weights, sums, loss

    rows = np.zeros((4096, width), np.float32)
    export.export_step(step, (state, state, rows), (0, 1), (2,), directory)


EXPORTS = {
    "table longer than the sequence": export_gpt,
    "rate by loss": functools.partial(
        export_momentum, lambda loss: 0.1 * jnp.minimum(1.0, 1 / (loss + 1e-3))
    ),
    "fixed rate": functools.partial(export_momentum, lambda loss: 0.1),
}


@pytest.fixture(scope="module", params=EXPORTS)
def step(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("step")
    EXPORTS[request.param](directory)
    return directory / "step.mlir"


@pytest.mark.parametrize("cluster", ["a800-80gb-800g", "h100-80gb-400g"])
def test_no_preset_is_faster_than_the_plan(step, cluster):
    options = (CLUSTERS / f"{cluster}.yaml", "--levels", "8x2", "--top", "1")
    best = plan(step, *options)["plan"]["seconds"]
    for preset in ("ddp", "zero1", "zero3", "mics:8", "hpz:8"):
        # Simulated without its memory.
        shown = ("--finalists", "0", "--list-collectives", "--strategy", preset)
        assert best <= plan(step, *options, *shown)["plan"]["seconds"] * 1.01, preset
