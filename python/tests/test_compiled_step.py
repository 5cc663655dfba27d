"""amsp.compile: steps, state and checkpoints from Python."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import traceback
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import amsp
import amsp.export
from amsp import checkpoint, runtime, tools
from steps import normal

pytestmark = pytest.mark.needs_tools

optimizer = optax.adamw(0.05)


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["w"] + params["b"])
    return jnp.square(hidden @ params["v"] - y).mean()


def train_step(params, opt_state, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, {"loss": value, "rows": x[:, 0]}


def make_args():
    # Sizes that neither 3 nor 4 ranks divide, and a bias smaller than 8.
    params = {"w": normal(5, 7, seed=1), "b": normal(7, seed=2), "v": normal(7, 3, seed=3)}
    return params, optimizer.init(params), normal(24, 5, seed=4), normal(24, 3, seed=5)


def compiled(cluster="nodes=2,gpus=2", strategy="p=1,g=2x1,os=2x2", args=None, **options):
    args = args or make_args()
    return amsp.compile(
        train_step, args, batch_argnums=(2, 3), cluster=cluster, strategy=strategy, **options
    )


@pytest.fixture(scope="module")
def four_ranks():
    return compiled()


def assert_near(found, expected):
    for left, right in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(left), right, rtol=2e-5, atol=2e-6)


def assert_same_bits(left, right):
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_steps_equal_one_device(four_ranks):
    params, state, x, y = make_args()
    expected = (params, state)
    held = four_ranks.shard(params, state)
    assert_same_bits(held, expected)
    for _ in range(5):
        *held, outputs = four_ranks(*held, x, y)
        *expected, wanted = jax.jit(train_step)(*expected, x, y)
        assert_near(outputs, wanted)
    assert_near(four_ranks.gather(tuple(held)), tuple(expected))
    assert four_ranks.steps == 5
    # What the caller gave is as it was.
    assert_same_bits(make_args(), (params, state, x, y))


def test_state_lives_in_pieces(four_ranks):
    params, state = four_ranks.shard(*make_args()[:2])
    weight = params["w"]
    assert weight.shape == (5, 7) and weight.dtype == np.float32
    assert weight.placement["kind"] == "flat"
    assert weight.local(3).shape == (9,)
    np.testing.assert_array_equal(weight.local(1), np.asarray(make_args()[0]["w"]).ravel()[18:27])
    plan = four_ranks.plan
    assert plan.strategy["os"] == [2, 2] and "g=2x1" in str(plan)
    assert plan.state_bytes == four_ranks.manifest["state_bytes"]


def test_arrays_of_jax_and_of_files_are_taken_as_they_are(four_ranks, tmp_path):
    params, state, x, y = make_args()
    held = four_ranks.shard(params, state)
    expected = four_ranks(*held, x, y)[2]["loss"]
    held = four_ranks.shard(*jax.tree.map(jnp.asarray, (params, state)))
    mapped = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", x.dtype, x.shape)
    mapped[...] = x
    assert four_ranks(*held, mapped, jnp.asarray(y))[2]["loss"] == expected
    # State may also be given whole, at any time.
    assert four_ranks(params, state, x, y)[2]["loss"] == expected


class Rows:
    """A batch that is made where it is asked for."""

    def __init__(self, whole):
        self.whole, self.asked = whole, []
        self.shape, self.dtype = whole.shape, whole.dtype

    def __getitem__(self, rows):
        self.asked.append((rows.start, rows.stop))
        return self.whole[rows]


def test_each_rank_asks_for_its_own_rows(four_ranks):
    params, state, x, y = make_args()
    rows = Rows(x)
    outputs = four_ranks(params, state, rows, y)[2]
    assert sorted(rows.asked) == [(0, 6), (6, 12), (12, 18), (18, 24)]
    np.testing.assert_array_equal(outputs["rows"], x[:, 0])


@pytest.mark.parametrize(
    "cluster, strategy", [("nodes=1,gpus=3", "zero3"), ("levels=2x2x2", "p=2,os=2x1x2")]
)
def test_a_checkpoint_goes_to_another_world(four_ranks, tmp_path, cluster, strategy):
    """Padding never gets into it, whatever the sizes (failures, class 26)."""
    params, state, x, y = make_args()
    held = four_ranks.shard(params, state)
    for _ in range(3):
        *held, _ = four_ranks(*held, x, y)
    four_ranks.save(tmp_path / "ck")
    other = compiled(cluster, strategy)
    loaded = other.load(tmp_path / "ck")
    assert_same_bits(loaded, tuple(held))
    assert (other.steps, other.batches) == (3, 3)
    other.save(tmp_path / "back")
    before = checkpoint.Reader(tmp_path / "ck")
    after = checkpoint.Reader(tmp_path / "back")
    for name, tensor in before.tensors.items():
        assert before.open(tensor).tobytes() == after.open(tensor).tobytes(), name
    # Both go on alike.
    *held, outputs = four_ranks(*held, x, y)
    *loaded, others = other(*loaded, x, y)
    assert_near(outputs, others)
    assert_near(tuple(loaded), tuple(held))


def test_amsp_run_reads_what_python_saved(four_ranks, tmp_path):
    params, state, x, y = make_args()
    held = four_ranks.shard(params, state)
    four_ranks.save(tmp_path / "ck")
    text = amsp.export.lower(train_step, (params, state, x, y), (0, 1))
    (tmp_path / "step.mlir").write_text(text)
    leaves = len(jax.tree.leaves((params, state)))
    tools.compile_step(
        *(tmp_path / "step.mlir", tmp_path / "step.so", "nodes=1,gpus=2", "zero1"),
        batch_args=(leaves, leaves + 1),
    )
    np.savez(tmp_path / "in.npz", **{f"arg{leaves}": x, f"arg{leaves + 1}": y})
    run = ("--inputs", tmp_path / "in.npz", "--load", tmp_path / "ck", "--save", tmp_path / "ck")
    tools.call("amsp-run", tmp_path / "step.so", *run)
    *held, _ = four_ranks(*held, x, y)
    expected = four_ranks.gather(tuple(held))
    assert_near(four_ranks.load(tmp_path / "ck"), expected)
    assert four_ranks.steps == 1


def test_a_checkpoint_that_does_not_fit_changes_nothing(four_ranks, tmp_path):
    params, state, x, y = make_args()
    held = four_ranks.shard(params, state)
    before = four_ranks.gather(held)
    tensors = [tensor for tensor, _ in four_ranks.named_state()][:-1]
    checkpoint.Writer(tmp_path / "ck", tensors, 0, 0).finish()
    with pytest.raises(checkpoint.CheckpointError, match="has no 'opt_state"):
        four_ranks.load(tmp_path / "ck")
    assert_same_bits(four_ranks.gather(held), before)


def test_replaced_state_is_refused(four_ranks):
    params, state, x, y = make_args()
    old = four_ranks.shard(params, state)
    four_ranks(*old, x, y)
    with pytest.raises(ValueError, match="which has replaced it by its result"):
        four_ranks(*old, x, y)
    with pytest.raises(ValueError, match="which has replaced it"):
        np.asarray(old[0]["w"])


@pytest.mark.parametrize(
    "given, message",
    [
        (({"mode": "train"}, 1.0), r"argument 0\['mode'\] is 'train', no array"),
        ((1.0, np.tanh), r"argument 1 is <ufunc 'tanh'>, no array"),
    ],
    ids=["string", "function"],
)
def test_what_is_no_array_is_named(given, message):
    with pytest.raises(TypeError, match=message):
        amsp.compile(lambda *args: args, given, cluster="levels=2")


def test_wrong_arguments_are_named(four_ranks):
    params, state, x, y = make_args()
    with pytest.raises(ValueError, match=r"arg\d+ \('x'\) is float32 of shape \(23, 5\)"):
        four_ranks(params, state, x[1:], y)
    with pytest.raises(ValueError, match=r"\('x'\) is float64 of shape"):
        four_ranks(params, state, x.astype(np.float64), y)
    with pytest.raises(ValueError, match="argument 0 has structure"):
        four_ranks({"w": params["w"]}, state, x, y)
    with pytest.raises(TypeError, match="takes 4 arguments, got 3"):
        four_ranks(params, state, x)
    with pytest.raises(ValueError, match="shard takes 2 values"):
        four_ranks.shard(params)


def test_what_cannot_be_compiled_says_why():
    args = make_args()
    with pytest.raises(tools.ToolError, match="strategy"):
        compiled(strategy="zero4")
    with pytest.raises(ValueError, match="there is no argument 7"):
        amsp.compile(train_step, args, batch_argnums=7, cluster="nodes=1,gpus=2")
    with pytest.raises(ValueError, match="no argument is state"):
        amsp.compile(loss, (args[0], *args[2:]), batch_argnums=(1, 2), cluster="levels=2")


def test_a_rate_is_no_state(tmp_path):
    """A trailing learning rate looks as the loss does."""

    def step(params, opt_state, x, y, rate):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        updates, opt_state = optimizer.update(gradients, opt_state, params)
        params = jax.tree.map(lambda p, u: p + rate * u, params, updates)
        return params, opt_state, value

    params, state, x, y = make_args()
    rate = np.float32(0.5)
    with pytest.warns(UserWarning, match="argument 4 is given at each call"):
        run = amsp.compile(
            *(step, (params, state, x, y, rate)), batch_argnums=(2, 3), cluster="levels=2", strategy="zero3"
        )
    assert [v.role for v in run.arguments if v.name == "rate"] == ["constant"]
    held, expected, losses = run.shard(params, state), (params, state), []
    for rate in np.float32([0.5, 0.25]):
        *held, value = run(*held, x, y, rate)
        *expected, wanted = step(*expected, x, y, rate)
        losses.append((value, wanted))
    for value, wanted in losses:
        assert isinstance(value, np.ndarray)
        assert_near(value, wanted)
    assert_near(tuple(held), tuple(expected))
    run.save(tmp_path / "ck")
    assert "rate" not in checkpoint.Reader(tmp_path / "ck").tensors


def test_a_float_that_is_updated_is_state():
    def step(params, scale, rate, x):
        value, gradient = jax.value_and_grad(lambda p: jnp.square(x @ p).mean())(params)
        scale = jnp.where(value > 1, scale * 2, scale)
        return params - rate * gradient, scale, value

    params, x = normal(5, seed=1), normal(12, 5, seed=2)
    one = np.float32(1)
    with pytest.warns(UserWarning, match="argument 2 is given at each call"):
        run = amsp.compile(
            *(step, (params, one, one, x)), batch_argnums=3, cluster="levels=2", strategy="ddp"
        )
    assert run.held_argnums == (0, 1)
    assert [v.role for v in run.arguments] == ["param", "state", "constant", "batch"]


def test_metrics_are_no_new_values_of_the_weights_that_have_their_names():
    def step(params, x, y, weights):
        def total(params):
            parts = {"fit": jnp.square(x @ params - y).mean(), "size": jnp.square(params).mean()}
            return weights["fit"] * parts["fit"] + weights["size"] * parts["size"], parts

        gradient, parts = jax.grad(total, has_aux=True)(params)
        return params - 0.1 * gradient, parts

    params, x, y = normal(5, seed=1), normal(12, 5, seed=2), normal(12, seed=3)
    weights = {"fit": np.float32(1), "size": np.float32(0.1)}
    with pytest.warns(UserWarning, match="argument 3 is given at each call: .* state_argnums") as told:
        run = amsp.compile(
            *(step, (params, x, y, weights)), batch_argnums=(1, 2), cluster="levels=2", strategy="zero3"
        )
    assert [warning.filename for warning in told] == [__file__]
    assert run.held_argnums == (0,)
    held, expected = run.shard(params), params
    for _ in range(3):
        held, parts = run(held, x, y, weights)
        expected, wanted = jax.jit(step)(expected, x, y, weights)
    assert_near((held, parts), (expected, wanted))


def test_a_scalar_that_is_state_is_a_number():
    def step(count, scale, x):
        return count + 1, scale * 0.5, x.sum()

    run = amsp.compile(
        *(step, (np.int32(2), np.float32(3), normal(4))), batch_argnums=2, cluster="levels=2", strategy="ddp"
    )
    count, scale = run.shard(np.int32(2), np.float32(3))
    assert int(count) == count.item() == 2 and isinstance(count.item(), int)
    count, scale, _ = run(count, scale, normal(4))
    assert (int(count), float(scale), scale.item()) == (3, 1.5, 1.5)


def test_typed_keys():
    """As state and as a constant: JAX writes constraints on them."""

    def step(params, key, other, x):
        key, drawn = jax.random.split(key)
        kept = jax.random.bernoulli(jax.random.fold_in(other, jax.random.bits(drawn)), 0.7, x.shape)
        value, gradient = jax.value_and_grad(lambda p: jnp.square(jnp.where(kept, x, 0) @ p).mean())(params)
        return params - 0.1 * gradient, key, value

    params, x = normal(5, seed=1), normal(12, 5, seed=2)
    key, other = jax.random.key(1), jax.random.key(2)
    run = amsp.compile(
        *(step, (params, key, other, x)), batch_argnums=3, cluster="levels=2", strategy="zero3"
    )
    held, expected = run.shard(params, key), (params, key)
    for _ in range(2):
        *held, value = run(*held, other, x)
        *expected, wanted = step(*expected, other, x)
        assert_near(value, wanted)
    assert_near(held[0], expected[0])
    assert_same_bits(held[1], jax.random.key_data(expected[1]))


def test_frozen_arguments_are_held():
    def step(adapter, base, x, y):
        value, gradient = jax.value_and_grad(
            lambda a: jnp.square(x @ (base + jnp.outer(a["l"], a["r"])) - y).mean()
        )(adapter)
        return jax.tree.map(lambda a, g: a - 0.1 * g, adapter, gradient), value

    adapter = {"l": normal(5, seed=1), "r": normal(3, seed=2)}
    base, x, y = normal(5, 3, seed=3), normal(12, 5, seed=4), normal(12, 3, seed=5)
    run = amsp.compile(
        *(step, (adapter, base, x, y)),
        batch_argnums=(2, 3), frozen_argnums=1, cluster="levels=2x2", strategy="zero3",
    )  # fmt: skip
    held, frozen = run.shard(adapter, base)
    for _ in range(3):
        held, value = run(held, frozen, x, y)
        frozen = run.state()[1]
        adapter, expected = step(adapter, base, x, y)
        assert_near(value, expected)
    assert_near(held, adapter)
    assert_same_bits(frozen, base)


def test_evaluation_and_initialisation_share_the_state(four_ranks):
    params, state, x, y = make_args()

    def evaluate(weights, x, y):
        return loss(weights, x, y)

    def initialise(seed):
        keys = jax.random.split(jax.random.PRNGKey(seed), 3)
        made = {
            name: jax.random.normal(key, params[name].shape)
            for key, name in zip(keys, sorted(params))
        }
        return made, optimizer.init(made)

    evaluation = amsp.compile(
        evaluate, (params, x, y), batch_argnums=(1, 2), state_of=four_ranks
    )
    start = amsp.compile(initialise, (np.int32(0),), state_of=four_ranks)
    held = start(np.int32(3))
    expected = initialise(3)
    assert_near(four_ranks.gather(held), expected)
    assert_near(evaluation(held[0], x, y), loss(expected[0], x, y))
    *held, outputs = four_ranks(*held, x, y)
    assert_near(evaluation(held[0], x, y), loss(jax.jit(train_step)(*expected, x, y)[0], x, y))
    with pytest.raises(ValueError, match="which has replaced it"):
        evaluation(start(np.int32(3))[0], x, y) and four_ranks.gather(held)
    with pytest.raises(ValueError, match="either a cluster or state_of"):
        amsp.compile(evaluate, (params, x, y), batch_argnums=(1, 2))


def test_a_step_that_fails_ends_with_the_rank(tmp_path):
    run = compiled(stall_limit=0.5)
    params, state, x, y = make_args()
    world = run.world
    world.close()
    with pytest.raises(runtime.RunError, match="failed in an earlier step"):
        run(params, state, x, y)
    del run, world
    gc.collect()


def test_reading_files_does_not_load_jax():
    code = "import amsp, amsp.placement, sys; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def kill_at(moment, function):
    """Runs a function in a child, which ends by SIGKILL at the moment-th operation
    on files; whether it did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The child uses no thread.
        child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, -signal.SIGKILL)
        return status != 0
    seen = 0

    def count(event, _):
        nonlocal seen
        if event in ("open", "os.rename", "os.remove"):
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    status = 1
    try:
        sys.addaudithook(count)
        function()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def test_a_process_killed_in_save_leaves_a_whole_checkpoint(four_ranks, tmp_path):
    """At every operation on files: the last one is there, or the new one is; and
    the next save clears what was left over."""
    saved, (x, y) = tmp_path / "saved", make_args()[2:]
    four_ranks(*four_ranks.shard(*make_args()[:2]), x, y)
    four_ranks.save(saved)
    state = {1: four_ranks.gather(four_ranks.state())}
    four_ranks(*four_ranks.state(), x, y)
    state[2] = four_ranks.gather(four_ranks.state())
    found = []
    moment = 1
    while True:
        directory = tmp_path / f"killed{moment}"
        shutil.copytree(saved, directory)
        killed = kill_at(moment, lambda: four_ranks.save(directory))
        loaded = four_ranks.load(directory)
        assert_same_bits(loaded, state[four_ranks.steps])
        found.append(four_ranks.steps)
        if not killed:
            break
        # The state is what it was before the load.
        four_ranks.shard(*state[2])
        four_ranks.steps = four_ranks.batches = 2
        four_ranks.save(directory)
        assert len(list(directory.iterdir())) == 2
        moment += 1
    assert found == sorted(found) and found.count(1) > 10 and found.count(2) > 1


def test_a_process_killed_in_its_first_save_can_save_again(four_ranks, tmp_path):
    four_ranks.shard(*make_args()[:2])
    for moment in range(1, 100):
        directory = tmp_path / f"killed{moment}"
        killed = kill_at(moment, lambda: four_ranks.save(directory))
        four_ranks.save(directory)
        assert len(list(directory.iterdir())) == 2
        if not killed:
            break
    assert 10 < moment < 99
