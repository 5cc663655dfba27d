"""The files of an exported step, and the references made from it."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from amsp import export, reference, xla_executor
from amsp.models import gpt, training

SMALL = gpt.Config(layers=1, width=8, heads=2, sequence=6, batch=4, microbatches=2)
TEXT = bytes(range(256)) * 4


def momentum(w, m, x):
    m = 0.9 * m + x.sum(0)
    return w - m, m, (w * x).sum()


def test_gpt_files(tmp_path):
    case = export.export_gpt(SMALL, tmp_path, TEXT)
    text = (tmp_path / "step.mlir").read_text()
    assert "loc(\"params['embedding']\")" in text
    assert "loc(\"tokens\")" in text
    written = json.loads((tmp_path / "case.json").read_text())
    count = written["state_args"]
    assert export.aliases(text) == {i: i for i in range(count)}
    assert written["batch_args"] == [count, count + 1]
    with np.load(tmp_path / "inputs.npz") as inputs:
        assert len(inputs.files) == len(case.args) == count + 2
        for i, arg in enumerate(written["args"]):
            assert inputs[f"arg{i}"].shape == tuple(arg["shape"])
            assert str(inputs[f"arg{i}"].dtype) == arg["dtype"]


def test_a_typed_key_is_written_as_its_words(tmp_path):
    def step(w, key, x):
        key, drawn = jax.random.split(key)
        return w - jax.random.normal(drawn, w.shape) * x.mean(), key

    key = jax.random.key(3)
    args = (np.ones(4, np.float32), key, np.ones((2, 4), np.float32))
    case = export.export_step(step, args, (0, 1), (2,), tmp_path)
    assert case.args[1] == {"name": "[1]", "shape": [2], "dtype": "uint32"}
    assert case.state == [(0, 0), (1, 1)]
    with np.load(tmp_path / "inputs.npz") as inputs:
        np.testing.assert_array_equal(inputs["arg1"], jax.random.key_data(key))


def test_a_split_of_the_batch_is_a_split_of_each_microbatch():
    rows = np.arange(12).reshape(12, 1)
    whole = np.asarray(training.microbatches_of(rows, 3))
    halves = [np.asarray(training.microbatches_of(half, 3)) for half in np.split(rows, 2)]
    np.testing.assert_array_equal(whole, np.concatenate(halves, axis=1))


@pytest.mark.parametrize("tied", [False, True])
def test_accumulation_does_not_change_the_step(tied):
    whole = dataclasses.replace(SMALL, microbatches=1, tied=tied)
    parts = dataclasses.replace(SMALL, microbatches=4, tied=tied)
    params = gpt.init(whole)
    args = (params, gpt.optimizer(whole).init(params))
    batches = [dict(enumerate(b, 2)) for b in gpt.batches(whole, TEXT, 3)]
    args = (*args, *batches[0].values())
    one = reference.run(gpt.train_step(whole), args, (0, 1), batches, float64=True)
    two = reference.run(gpt.train_step(parts), args, (0, 1), batches, float64=True)
    for a, b in zip(one[-1], two[-1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_the_loss_falls():
    config = dataclasses.replace(SMALL, learning_rate=1e-2)
    params = gpt.init(config)
    batch = next(gpt.batches(config, TEXT, 1))
    args = (params, gpt.optimizer(config).init(params), *batch)
    history = reference.run(gpt.train_step(config), args, (0, 1), [{}] * 30)
    assert history[-1][-1] < 0.8 * history[0][-1]


def test_an_unused_argument_stays(tmp_path):
    def step(w, unused, x):
        return w + x.sum(0), unused

    args = (np.ones(3, np.float32), np.ones(2, np.float32), np.ones((4, 3), np.float32))
    export.export_step(step, args, (0, 1), (2,), tmp_path)
    assert "%arg2: tensor<4x3xf32>" in (tmp_path / "step.mlir").read_text()


def test_results_that_are_not_the_state_are_refused(tmp_path):
    args = (np.ones(3, np.float32), np.ones((4, 3), np.float32))
    with pytest.raises(ValueError, match="result 0 is not that of argument 0"):
        export.export_step(lambda w, x: x.sum(), args, (0,), (1,), tmp_path)
    assert not list(tmp_path.iterdir())


def test_state_behind_the_batch(tmp_path):
    def step(x, w):
        return w + x.sum(0), (w * w).sum()

    args = (np.ones((4, 3), np.float32), np.ones(3, np.float32))
    case = export.export_step(step, args, (1,), (0,), tmp_path)
    assert case.state == [(1, 0)] and case.batch_args == [0]
    assert case.to_json()["state_args"] is None


def test_reference_feeds_state_and_batches():
    w, m = np.zeros(2), np.zeros(2)
    xs = [np.full((1, 2), float(i)) for i in (1, 2)]
    history = reference.run(
        momentum, (w, m, xs[0]), (0, 1), [{2: x} for x in xs], float64=True
    )
    np.testing.assert_allclose(history[0][0], -1.0)
    np.testing.assert_allclose(history[1][1], 2.9)
    assert history[1][2].dtype == np.float64
    np.testing.assert_allclose(history[1][2], 2 * 2 * -1.0)


def test_float64_is_left_off_afterwards():
    reference.run(lambda w: (w,), (np.ones(1, np.float32),), (0,), [{}], float64=True)
    assert jnp.asarray(np.ones(1)).dtype == jnp.float32
    assert not jax.config.jax_enable_x64


def test_one_rank_of_the_exported_text_is_the_step(tmp_path):
    """The executor on the unpartitioned module, as a check of the executor."""
    args = tuple(np.ones(s, np.float32) for s in ((2,), (2,), (4, 2)))
    export.export_step(momentum, args, (0, 1), (2,), tmp_path)
    program = xla_executor.ReplicatedProgram((tmp_path / "step.mlir").read_text(), 1)
    got = [shards[0] for shards in program([[a] for a in args])]
    want = reference.run(momentum, args, (0, 1), [{}])[-1]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
