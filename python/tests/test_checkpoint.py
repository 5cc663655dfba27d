"""amsp-run --save and --load, on a step written by hand; what is saved is read
back by the safetensors package, and by amsp.checkpoint."""

import json
import random
import shutil
import signal
import subprocess
import time

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file

from amsp import checkpoint
from test_run import STEP, TOOL, amsp_run, make_inputs, reference, run_files

INDEX = checkpoint.INDEX
W, M = "params.w", "opt.m"  # the state of the step


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "in.npz", **make_inputs())
    return tmp_path


def run_ok(files, *options, **kwargs):
    result = run_files(files, *options, **kwargs)
    assert result.returncode == 0, result.stderr
    return result


def tensors_of(directory):
    """As any reader of safetensors finds them."""
    index = json.loads((directory / INDEX).read_text())
    loaded = {}
    for name in set(index["weight_map"].values()):
        loaded |= load_file(directory / name)
    assert set(loaded) == set(index["weight_map"])
    return loaded, index["metadata"]


def same(left, right):
    bits = [{n: v.tobytes() for n, v in tensors.items()} for tensors in (left, right)]
    return bits[0] == bits[1]


def test_the_state_is_what_the_outputs_say(files):
    run_ok(files, "--steps", 3, "--save", files / "ck")
    out = np.load(files / "out.npz")
    tensors, metadata = tensors_of(files / "ck")
    # w and m, of 5 elements in 4 pieces of 2: padding is not saved.
    assert {name: value.tobytes() for name, value in tensors.items()} == {
        W: out["out0"].tobytes(),
        M: out["out1"].tobytes(),
    }
    assert metadata["steps"] == 3 and metadata["batches"] == 0
    assert metadata["total_size"] == 40


def test_a_run_goes_on_where_another_was_saved(files):
    run_ok(files, "--steps", 7)
    expected = np.load(files / "out.npz")
    run_ok(files, "--steps", 4, "--save", files / "ck")
    # The batch comes from the inputs; their state does not count any more.
    inputs = make_inputs()
    np.savez(files / "in.npz", **{name: inputs[name] for name in ("arg2", "arg3")})
    log = files / "log.jsonl"
    run_ok(files, "--steps", 3, "--load", files / "ck", "--save", files / "ck", "--log", log)
    out = np.load(files / "out.npz")
    for name in expected.files:
        assert out[name].tobytes() == expected[name].tobytes()
    assert [json.loads(line)["step"] for line in log.read_text().splitlines()] == [5, 6, 7]
    assert tensors_of(files / "ck")[1]["steps"] == 7
    # Of the first checkpoint nothing is left.
    assert len(list((files / "ck").iterdir())) == 2


@pytest.fixture
def batches(files):
    directory = files / "batches"
    directory.mkdir()
    for step in range(6):
        inputs = make_inputs(seed=step)
        np.savez(directory / f"{step}.npz", arg2=inputs["arg2"], arg3=inputs["arg3"])
    return directory


def test_the_data_position_is_saved(files, batches):
    run_ok(files, "--batches", batches, "--save", files / "all")
    expected, _ = tensors_of(files / "all")
    run_ok(files, "--batches", batches, "--steps", 4, "--save", files / "ck")
    run = ("--load", files / "ck", "--save", files / "ck", "--batches", batches)
    # Neither inputs nor outputs are needed.
    result = amsp_run(STEP, *run)
    assert result.returncode == 0, result.stderr
    found, metadata = tensors_of(files / "ck")
    assert metadata["steps"] == metadata["batches"] == 6
    assert same(found, expected)
    result = amsp_run(STEP, *run)
    assert result.returncode == 1
    assert "has consumed 6 batches, all 6 of" in result.stderr


def test_every_few_steps(files):
    result = run_files(files, "--steps", 5, "--every", 2, "--save", files / "ck",
                       "--inject-fault", "1,reduce.w,delay")  # fmt: skip
    assert result.returncode == 0, result.stderr
    _, metadata = tensors_of(files / "ck")
    assert metadata["steps"] == 5 and metadata["generation"] == 3


def held_generation(files):
    index = files / "ck" / INDEX
    return json.loads(index.read_text())["metadata"]["generation"] if index.exists() else 0


def test_a_killed_run_leaves_a_whole_checkpoint(files):
    """SIGKILL at any moment, also between two files and in the first save."""
    random.seed(1)
    inputs = make_inputs()
    generation, seen = 0, set()
    for _ in range(10):
        command = [TOOL, STEP, "--inputs", files / "in.npz", "--quiet", "--steps", "100000"]
        command += ["--save", files / "ck", "--every", "1"]
        with subprocess.Popen(command) as process:
            while process.poll() is None and held_generation(files) == generation:
                time.sleep(0.001)
            time.sleep(random.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
        tensors, metadata = tensors_of(files / "ck")
        steps, generation = metadata["steps"], metadata["generation"]
        seen.add(generation)
        batch = [(inputs["arg2"], inputs["arg3"])]
        w, m, _, _ = reference(inputs["arg0"], inputs["arg1"], batch * steps)
        np.testing.assert_allclose(tensors[W], w, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(tensors[M], m, rtol=1e-4, atol=1e-5)
    assert len(seen) == 10
    # And a later save clears what was left over.
    run_ok(files, "--save", files / "ck")
    assert len(list((files / "ck").glob("state-*"))) == 1


def test_what_a_killed_first_save_left_is_cleared(files):
    (files / "ck").mkdir()
    for name in (f"{INDEX}.a1b2c3.tmp", "state-g1-00001-of-00002.safetensors"):
        (files / "ck" / name).write_bytes(b"{")
    run_ok(files, "--save", files / "ck")
    assert len(list((files / "ck").iterdir())) == 2


def test_a_full_disk_keeps_the_last_checkpoint(files):
    run_ok(files, "--steps", 2, "--save", files / "ck")
    before = {path.name: path.read_bytes() for path in (files / "ck").iterdir()}
    command = [TOOL, STEP, "--inputs", files / "in.npz", "--save", files / "ck", "--quiet"]
    limited = "trap '' XFSZ; ulimit -f 0; exec \"$@\""
    result = subprocess.run(
        ["bash", "-c", limited, "bash", *command], capture_output=True, text=True
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("error: ")
    assert "state-g2-00001-of-00001.safetensors: cannot be written: " in result.stderr
    assert before == {path.name: path.read_bytes() for path in (files / "ck").iterdir()}


def damage_missing(directory):
    next(directory.glob("state-*")).unlink()
    return "state-g1-00001-of-00001.safetensors: No such file"


def damage_short(directory):
    path = next(directory.glob("state-*"))
    path.write_bytes(path.read_bytes()[:-1])
    return "is cut short: "


def damage_header(directory):
    path = next(directory.glob("state-*"))
    path.write_bytes(path.read_bytes()[:20])
    return "is no safetensors file, or is cut short"


def damage_foreign(directory):
    path = next(directory.glob("state-*"))
    path.write_bytes(path.read_bytes().replace(b'"generation":"1"', b'"generation":"7"'))
    return "belongs to another checkpoint"


def damage_index(directory):
    (directory / INDEX).write_text('{"weight_map": {}, "metadata": {"format": "pt"}}')
    return INDEX


def damage_no_index(directory):
    (directory / INDEX).unlink()
    return "is no checkpoint"


def damage_shape(directory):
    path = next(directory.glob("state-*"))
    path.write_bytes(path.read_bytes().replace(b'"shape":[5]', b'"shape":[4]'))
    return "does not describe tensor"


def damage_name(directory):
    path = next(directory.glob("state-*"))
    path.write_bytes(path.read_bytes().replace(b'"params.w":', b'"params.v":'))
    return f"has no tensor '{W}'"


DAMAGE = [value for name, value in sorted(globals().items()) if name.startswith("damage_")]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__[7:])
def test_a_damaged_checkpoint_is_one_clear_error(files, damage):
    run_ok(files, "--save", files / "ck")
    (files / "out.npz").unlink()
    expected = damage(files / "ck")
    result = run_files(files, "--load", files / "ck")
    assert result.returncode == 1
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert str(files / "ck") in result.stderr and expected in result.stderr
    assert not (files / "out.npz").exists()
    with pytest.raises(checkpoint.CheckpointError, match=str(files / "ck")):
        reader = checkpoint.Reader(files / "ck")
        reader.open(checkpoint.Tensor(W, (5,), np.dtype(np.float32)))


@pytest.mark.parametrize("shape", [(6,), (5, 1)])
def test_a_checkpoint_of_another_model_is_refused(files, shape):
    tensors = [checkpoint.Tensor(name, shape, np.dtype(np.float32)) for name in (W, M)]
    checkpoint.Writer(files / "ck", tensors, 0, 0).finish()
    result = run_files(files, "--load", files / "ck")
    assert result.returncode == 1
    assert f"ck: '{W}' is f32 of shape (" in result.stderr
    assert "the step takes f32 of shape (5,)" in result.stderr


def test_options_that_cannot_be_meant(files):
    (files / "mine").mkdir()
    (files / "mine" / "thesis.tex").write_text("")
    for options, message in [
        (("--every", 2), "--every 2: needs --save DIR"),
        (("--save", files / "ck", "--every", 0), "--every 0: expected a positive number"),
        (("--save", files / "mine"), "holds other files than a checkpoint's"),
        (("--save", files / "no" / "ck"), "there is no directory"),
        (("--save", files / "in.npz"), "is no directory"),
        (("--load", files / "mine"), "is no checkpoint"),
    ]:
        result = run_files(files, *options)
        assert result.returncode == 1 and result.stderr.count("\n") == 1
        assert message in result.stderr
        assert not (files / "out.npz").exists()
    run_ok(files, "--save", files / "ck")
    result = amsp_run(STEP, "--load", files / "ck", "--save", files / "ck")
    assert "--inputs IN.npz is missing: checkpoints do not hold arg2" in result.stderr


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun in PATH")
def test_mpi_saves_and_loads_the_same_bits(files):
    run_ok(files, "--steps", 3, "--save", files / "threads")
    run_ok(files, "--steps", 2, "--save", files / "mpi", "--transport", "mpi")
    run_ok(files, "--steps", 1, "--load", files / "mpi", "--save", files / "mpi",
           "--transport", "mpi")  # fmt: skip
    expected, _ = tensors_of(files / "threads")
    found, metadata = tensors_of(files / "mpi")
    assert metadata["steps"] == 3
    assert same(found, expected)


def test_the_python_writer_makes_the_same_file(files):
    run_ok(files, "--steps", 3, "--save", files / "ck")
    tensors, _ = tensors_of(files / "ck")
    written = [checkpoint.Tensor(n, tensors[n].shape, tensors[n].dtype) for n in (W, M)]
    writer = checkpoint.Writer(files / "py", written, 3, 0)
    for tensor in written:
        writer.open(tensor)[...] = tensors[tensor.name]
    writer.finish()
    assert same(tensors_of(files / "py")[0], tensors)
    run_ok(files, "--load", files / "py", "--save", files / "py")
    run_ok(files, "--load", files / "ck", "--save", files / "ck")
    assert same(tensors_of(files / "py")[0], tensors_of(files / "ck")[0])


def test_files_are_split_by_size_and_hold_every_type(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "MAX_FILE_BYTES", 64)
    values = {
        f"t{i}": np.arange(i, dtype=np.float64).astype(dtype)
        for i, dtype in enumerate(checkpoint.DTYPE_NAMES.values())
    }
    values["scalar"] = np.array(3, np.int32)
    values["empty"] = np.zeros((0, 4), ml_dtypes.bfloat16)
    tensors = [checkpoint.Tensor(n, v.shape, v.dtype) for n, v in values.items()]
    writer = checkpoint.Writer(tmp_path / "ck", tensors, 1, 2)
    for tensor in tensors:
        writer.open(tensor)[...] = values[tensor.name]
    writer.finish()
    assert len(list((tmp_path / "ck").glob("state-*"))) > 3
    reader = checkpoint.Reader(tmp_path / "ck")
    assert (reader.steps, reader.batches) == (1, 2)
    loaded, _ = tensors_of(tmp_path / "ck")
    for tensor in tensors:
        assert reader.open(tensor).tobytes() == values[tensor.name].tobytes()
        assert loaded[tensor.name].tobytes() == values[tensor.name].tobytes()
        assert loaded[tensor.name].shape == values[tensor.name].shape
