"""amsp-compile --state-of: steps that take, or make, the state of another."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from amsp import arrays, tools
from steps import normal

pytestmark = pytest.mark.needs_tools

optimizer = optax.adamw(0.05)
SIZES = {"w": (5, 7), "b": (7,), "v": (7, 3)}


def loss(params, x, y):
    return jnp.square(jnp.tanh(x @ params["w"] + params["b"]) @ params["v"] - y).mean()


def train(params, opt_state, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def evaluate(p, x, y):
    return loss(p, x, y), x @ p["w"]


def initialise(key):
    keys = jax.random.split(key, len(SIZES))
    params = {n: jax.random.normal(k, s) for k, (n, s) in zip(keys, SIZES.items())}
    return params, optimizer.init(params)


PARAMS = {name: normal(*shape, seed=i) for i, (name, shape) in enumerate(SIZES.items())}
BATCH = (normal(24, 5, seed=4), normal(24, 3, seed=5))


def write(path, function, *args, **options):
    path.write_text(jax.jit(function, **options).lower(*args).as_text(debug_info=True))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    root = tmp_path_factory.mktemp("state_of")
    args = (PARAMS, optimizer.init(PARAMS), *BATCH)
    write(root / "train.mlir", train, *args, donate_argnums=(0, 1))
    leaves = len(jax.tree.leaves(args[:2]))
    tools.compile_step(
        *(root / "train.mlir", root / "train.so", "nodes=2,gpus=2", "p=2,os=all"),
        batch_args=(leaves, leaves + 1),
    )
    return root


def compile_of(root, name, *options):
    output = root / f"{name}.so"
    arguments = (root / f"{name}.mlir", "-o", output, "--cluster", "nodes=2,gpus=2")
    tools.call("amsp-compile", *arguments, "--state-of", root / "train.so", *options)
    return output, tools.manifest(output)


def state_of(manifest, values):
    roles = ("param", "opt_state", "state")
    return [value for value in manifest[values] if value["role"] in roles]


def placed(values):
    return [(v["dtype"], v["shape"], v["placement"], v["local_shape"]) for v in values]


def test_an_evaluation_step_takes_the_trained_parameters(trained, tmp_path):
    """By path, as it calls them otherwise."""
    write(trained / "evaluate.mlir", evaluate, PARAMS, *BATCH)
    step, manifest = compile_of(trained, "evaluate", "--batch-args", "3,4")
    params = [v for v in tools.manifest(trained / "train.so")["arguments"] if v["role"] == "param"]
    assert placed(state_of(manifest, "arguments")) == placed(params)
    assert all("result" not in value for value in manifest["arguments"])
    assert manifest["strategy"] == {"p": [2, 1], "g": [2, 1], "os": [2, 2]}
    leaves = [*jax.tree.leaves(PARAMS), *BATCH]
    arrays.save_arguments(tmp_path / "in.npz", leaves)
    tools.run_step(step, tmp_path / "in.npz", tmp_path / "out.npz", 1)
    out = np.load(tmp_path / "out.npz")
    for name, expected in zip(("out0", "out1"), evaluate(PARAMS, *BATCH)):
        np.testing.assert_allclose(out[name], expected, rtol=2e-5, atol=2e-6)


def test_an_initialisation_step_makes_the_state_in_its_places(trained, tmp_path):
    key = np.asarray(jax.random.PRNGKey(7))
    write(trained / "initialise.mlir", initialise, key)
    step, manifest = compile_of(trained, "initialise")
    training = tools.manifest(trained / "train.so")
    assert placed(state_of(manifest, "results")) == placed(state_of(training, "arguments"))
    assert any(v["placement"]["kind"] == "flat" for v in state_of(manifest, "results"))
    arrays.save_arguments(tmp_path / "in.npz", [key])
    tools.run_step(step, tmp_path / "in.npz", tmp_path / "out.npz", 1)
    out = np.load(tmp_path / "out.npz")
    for i, expected in enumerate(jax.tree.leaves(initialise(key))):
        np.testing.assert_allclose(out[f"out{i}"], expected, rtol=2e-6, atol=2e-7)


def test_initial_values_are_made_in_pieces(tmp_path):
    """No rank ever has a whole parameter, nor its random bits."""
    shape = (64, 96)

    def train(params, x):
        value, gradients = jax.value_and_grad(lambda p: jnp.square(x @ p["w"]).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value

    def initialise(key):
        return {"w": 0.1 * jax.random.normal(key, shape)}

    write(tmp_path / "train.mlir", train, {"w": normal(*shape)}, normal(8, 64), donate_argnums=0)
    cluster = ("--cluster", "nodes=2,gpus=2")
    tools.compile_step(tmp_path / "train.mlir", tmp_path / "train.so", cluster[1], "zero3")
    key = np.asarray(jax.random.PRNGKey(5))
    write(tmp_path / "init.mlir", initialise, key)
    arguments = (tmp_path / "init.mlir", "-o", tmp_path / "init.so", *cluster)
    tools.call("amsp-compile", *arguments, "--state-of", tmp_path / "train.so")
    assert tools.manifest(tmp_path / "init.so")["arena_bytes"] < 4 * np.prod(shape)
    arrays.save_arguments(tmp_path / "in.npz", [key])
    tools.run_step(tmp_path / "init.so", tmp_path / "in.npz", tmp_path / "out.npz", 1)
    expected = initialise(key)["w"]
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["out0"], expected, rtol=2e-6, atol=2e-7)


def test_a_manifest_says_as_much_as_the_library(trained):
    text = tools.call("amsp-run", trained / "train.so", "--manifest").stdout
    (trained / "train.json").write_text(text)
    write(trained / "again.mlir", evaluate, PARAMS, *BATCH)
    _, expected = compile_of(trained, "again", "--batch-args", "3,4")
    arguments = (trained / "again.mlir", "-o", trained / "json.so", "--cluster", "nodes=2,gpus=2")
    tools.call(
        *("amsp-compile", *arguments, "--state-of", trained / "train.json"),
        *("--batch-args", "3,4"),
    )
    found = tools.manifest(trained / "json.so")
    assert found["program_hash"] == expected["program_hash"]


def with_other_width(p, x, y):
    return loss({**p, "w": p["w"][:, :7]}, x, y)


def test_what_does_not_fit_is_named(trained):
    wide = {**PARAMS, "w": normal(5, 8)}

    def shaped(params, x, y):
        return with_other_width(params, x, y)

    write(trained / "wide.mlir", shaped, wide, *BATCH)
    with pytest.raises(tools.ToolError, match=r"params\['w'\]' is 'tensor<5x8xf32>'"):
        compile_of(trained, "wide", "--batch-args", "3,4")
    write(trained / "other.mlir", lambda x: x * 2, BATCH[0])
    with pytest.raises(tools.ToolError, match="neither an evaluation step"):
        compile_of(trained, "other")
    write(trained / "eval.mlir", evaluate, PARAMS, *BATCH)
    with pytest.raises(tools.ToolError, match="gone.so: No such file"):
        arguments = (trained / "eval.mlir", "-o", trained / "x.so", "--cluster", "levels=4")
        tools.call("amsp-compile", *arguments, "--state-of", trained / "gone.so")
    with pytest.raises(tools.ToolError, match="amsp.strategy of argument"):
        arguments = (trained / "eval.mlir", "-o", trained / "x.so", "--cluster", "levels=4")
        tools.call(
            *("amsp-compile", *arguments, "--state-of", trained / "train.so"),
            *("--batch-args", "3,4"),
        )
