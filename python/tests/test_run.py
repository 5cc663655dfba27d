"""amsp-run end to end, on a step written by hand (unittests/Runtime/Fixtures).

AMSP_BUILD_DIR names the build directory (default: build); the target
amsp-run-fixtures builds what is used here.
"""

import json
import os
import pathlib
import shutil
import subprocess
import time
import zipfile

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("AMSP_BUILD_DIR", "build")).resolve()
TOOL = BUILD / "bin" / "amsp-run"
STEP = BUILD / "fixtures" / "MomentumStep.so"
OTHER_ABI = BUILD / "fixtures" / "MomentumStepOtherAbi.so"


@pytest.fixture(scope="module", autouse=True)
def built():
    for path in (TOOL, STEP, OTHER_ABI):
        assert path.exists(), f"{path} is missing: build the target amsp-run-fixtures"


def amsp_run(step, *options, timeout=60):
    return subprocess.run(
        [TOOL, step, *map(str, options)], capture_output=True, text=True, timeout=timeout
    )


def make_inputs(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "arg0": rng.standard_normal(5).astype(np.float32),
        "arg1": rng.standard_normal(5).astype(np.float32),
        "arg2": rng.standard_normal((8, 5)).astype(np.float32),
        "arg3": rng.standard_normal(8).astype(np.float32),
    }


def reference(w, m, batches):
    """The step of MomentumStep.c in float64; losses, then the last residual."""
    w, m = w.astype(np.float64), m.astype(np.float64)
    losses = []
    for x, y in batches:
        residual = x.astype(np.float64) @ w - y
        losses.append(np.mean(residual**2))
        m = 0.9 * m + 2 / 8 * x.T.astype(np.float64) @ residual
        w = w - 0.1 * m
    return w, m, losses, residual


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "in.npz", **make_inputs())
    return tmp_path


def run_files(files, *options, step=STEP, **kwargs):
    return amsp_run(
        step, "--inputs", files / "in.npz", "--outputs", files / "out.npz", *options, **kwargs
    )


def expect_error(files, result, *texts):
    """One clear line, a non-zero status, and no output file."""
    assert result.returncode == 1, result
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("error: "), result.stderr
    for text in texts:
        assert text in result.stderr, result.stderr
    left = {path.name for path in files.iterdir()} - {"in.npz", "batches", "bad.so"}
    assert not left, left


@pytest.mark.parametrize("options", [(), ("--poison",)])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_three_steps_equal_numpy(tmp_path, save, options):
    inputs = make_inputs()
    save(tmp_path / "in.npz", **inputs)
    result = run_files(tmp_path, "--steps", 3, "--log", tmp_path / "log.jsonl", *options)
    assert result.returncode == 0, result.stderr
    out = np.load(tmp_path / "out.npz")
    w, m, losses, residual = reference(
        inputs["arg0"], inputs["arg1"], [(inputs["arg2"], inputs["arg3"])] * 3
    )
    assert sorted(out.files) == ["out0", "out1", "out2", "out3"]
    for name, expected in zip(("out0", "out1", "out2", "out3"), (w, m, losses[-1], residual)):
        assert out[name].dtype == np.float32
        assert out[name].shape == np.shape(expected)
        np.testing.assert_allclose(out[name], expected, rtol=2e-5, atol=2e-6)
    lines = result.stdout.splitlines()
    for step, loss in enumerate(losses, 1):
        assert lines[step - 1].startswith(f"step {step}  out2 = "), lines
        assert float(lines[step - 1].split()[4]) == pytest.approx(loss, rel=1e-5)
    assert lines[3:4] == ["ranks: 4, peak arena 128 bytes, state 16 bytes per rank"]
    assert lines[4].startswith("steps: 3, mean ")
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [entry["step"] for entry in log] == [1, 2, 3]
    assert [entry["outputs"]["out2"] for entry in log] == pytest.approx(losses, rel=1e-5)
    assert all(entry["seconds"] > 0 for entry in log)


def test_two_runs_give_the_same_file(files):
    contents = []
    for fault in ([], ["--inject-fault", "1,reduce.w,delay"]):
        assert run_files(files, "--steps", 5, *fault).returncode == 0
        contents.append((files / "out.npz").read_bytes())
    assert contents[0] == contents[1]


def test_batches_stream_in_name_order(files):
    inputs = make_inputs()
    np.savez(files / "in.npz", arg0=inputs["arg0"], arg1=inputs["arg1"])
    (files / "batches").mkdir()
    batches = []
    for step in range(3):
        batch = make_inputs(seed=10 + step)
        batches.append((batch["arg2"], batch["arg3"]))
        np.savez(files / "batches" / f"step{step}.npz", arg2=batch["arg2"], arg3=batch["arg3"])
    result = run_files(files, "--batches", files / "batches")
    assert result.returncode == 0, result.stderr
    w, m, losses, residual = reference(inputs["arg0"], inputs["arg1"], batches)
    out = np.load(files / "out.npz")
    np.testing.assert_allclose(out["out0"], w, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(out["out2"], losses[-1], rtol=2e-5)
    np.testing.assert_allclose(out["out3"], residual, rtol=2e-5, atol=2e-6)

    assert run_files(files, "--batches", files / "batches", "--steps", 2).returncode == 0
    np.testing.assert_allclose(np.load(files / "out.npz")["out2"], losses[1], rtol=2e-5)
    (files / "out.npz").unlink()
    result = run_files(files, "--batches", files / "batches", "--steps", 4)
    expect_error(files, result, "--steps 4", "batches for 3 steps")

    np.savez(files / "batches" / "step1.npz", arg0=inputs["arg0"], arg2=batch["arg2"], arg3=batch["arg3"])
    expect_error(files, run_files(files, "--batches", files / "batches"), "step1.npz", "'arg0'")


def test_trace_is_json_of_all_ranks(files):
    assert run_files(files, "--steps", 2, "--trace", files / "t.json").returncode == 0
    events = json.loads((files / "t.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {0, 1, 2, 3}
    transfers = [event for event in events if event["cat"] == "transfer"]
    # Two steps of three collectives on four ranks, and the hash comparison.
    assert len(transfers) == 2 * 3 * 4 + 4
    gathers = [event["args"] for event in transfers if event["name"] == "gather.w"]
    expected = {"id": 0, "bytes": 32, "channel": "gather", "level": 1, "unit": "all"}
    assert gathers == [expected] * 8
    assert {event["cat"] for event in events} == {"step", "start", "await", "transfer", "gemm"}


def test_trace_sums_up_communication(files):
    links = ("--slow-links", "bandwidth=1e6,latency=1e-3;bandwidth=1e6,latency=5e-3")
    result = run_files(files, "--steps", 3, "--trace", files / "t.json", *links)
    assert result.returncode == 0, result.stderr
    trace = json.loads((files / "t.json").read_text())
    summary = trace["summary"]
    assert (summary["ranks"], summary["steps"]) == (4, 3)
    assert summary["bytes"] == 32 + 32 + 4
    events = [e for e in trace["traceEvents"] if e.get("args", {}).get("id", -1) >= 0]

    def seconds(category, **fields):
        return sum(
            event["dur"]
            for event in events
            if event["cat"] == category and event["args"].items() >= fields.items()
        ) / (4 * 3 * 1e6)

    # Two hops inside the nodes and one between them; the tree for the loss.
    ring, tree = 2e-3 + 5e-3, 2 * 1e-3 + 2 * 5e-3
    sent = (32 + 32 + 2 * 4) * 0.75 * 1e-6
    assert seconds("transfer") >= 2 * ring + tree + sent
    assert summary["exposed_seconds"] == pytest.approx(seconds("await"))
    assert summary["transfer_seconds"] == pytest.approx(seconds("transfer"))
    assert [level["level"] for level in summary["levels"]] == [1]
    assert [(u["unit"], u["channel"]) for u in summary["units"]] == [
        ("all", "gather"),
        ("all", "reduce"),
    ]
    for unit in summary["units"]:
        assert unit["exposed_seconds"] == pytest.approx(
            seconds("await", channel=unit["channel"])
        )
    assert "ms exposed of" in result.stdout


@pytest.mark.parametrize("steps", [1, 5])
def test_slowed_links_change_no_bit(files, steps):
    contents = []
    for links in ([], ["--slow-links", "bandwidth=1e6,latency=1e-4;shared"]):
        result = run_files(files, "--steps", steps, *links)
        assert result.returncode == 0, result.stderr
        contents.append((files / "out.npz").read_bytes())
    assert contents[0] == contents[1]


def test_slowed_links_from_the_environment(files, monkeypatch):
    monkeypatch.setenv("AMSP_SLOW_LINKS", "bandwidth=0")
    expect_error(files, run_files(files), "--slow-links bandwidth=0: bandwidth '0'")


def test_manifest(files):
    result = amsp_run(STEP, "--manifest")
    assert result.returncode == 0
    assert json.loads(result.stdout)["world"] == 4


def test_quiet(files):
    result = run_files(files, "--quiet")
    assert result.returncode == 0
    assert "out2" not in result.stdout


def change(**arrays):
    def apply(inputs):
        for name, array in arrays.items():
            if array is None:
                del inputs[name]
            else:
                inputs[name] = array

    return apply


@pytest.mark.parametrize(
    "edit, texts",
    [
        (change(arg1=None), ["arg1 ('opt.m') is missing", "float32 of shape (5,)"]),
        (change(arg9=np.zeros(1)), ["the step takes no 'arg9'"]),
        (change(arg0=np.zeros(6, np.float32)), ["arg0 ('params.w')", "(6,)", "(5,)"]),
        (change(arg0=np.zeros(5)), ["arg0 ('params.w')", "float64", "float32"]),
        (change(arg2=np.zeros((8, 5), np.float32, order="F")), ["arg2", "Fortran order"]),
        (change(arg3=np.zeros(8, ">f4")), ["arg3", "big-endian"]),
    ],
)
def test_wrong_arrays(files, edit, texts):
    inputs = make_inputs()
    edit(inputs)
    np.savez(files / "in.npz", **inputs)
    expect_error(files, run_files(files), "in.npz", *texts)


def test_arrays_shorter_or_longer_than_their_shape(files):
    for data, text in ((b"\0" * 19, "ends too early"), (b"\0" * 21, "more data")):
        np.savez(files / "in.npz", **{k: v for k, v in make_inputs().items() if k != "arg0"})
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }\n"
        npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data
        with zipfile.ZipFile(files / "in.npz", "a") as archive:
            archive.writestr("arg0.npy", npy)
        expect_error(files, run_files(files), "arg0", text)


def test_damaged_input_files(files):
    content = (files / "in.npz").read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"hello"):
        (files / "in.npz").write_bytes(damaged)
        expect_error(files, run_files(files), "in.npz")
    (files / "in.npz").unlink()
    expect_error(files, run_files(files), "in.npz", "No such file")


def test_files_that_are_no_step(files):
    bad = files / "bad.so"
    content = STEP.read_bytes()
    for size in (0, 10, 64, 1000, len(content) // 2, len(content) - 1):
        bad.write_bytes(content[:size])
        expect_error(files, run_files(files, step=bad), "bad.so")
    bad.write_text("not a library\n")
    expect_error(files, run_files(files, step=bad), "not a compiled step")
    shutil.copy(BUILD / "lib" / "libamsp_runtime.so", bad)
    expect_error(files, run_files(files, step=bad), "no symbol amsp_step_v1")
    expect_error(files, run_files(files, step=OTHER_ABI), "compiled for ABI version")
    expect_error(files, run_files(files, step=files / "none.so"), "none.so", "No such file")


def test_a_failing_rank_is_named(files):
    result = run_files(files, "--steps", 3, "--inject-fault", "2,reduce.w,fail")
    expect_error(files, result, "rank 2", "'reduce.w' (id 1)", "step 1", "injected failure")


def test_a_stalled_rank_is_named(files):
    begin = time.monotonic()
    result = run_files(
        files, "--steps", 3, "--inject-fault", "3,gather.w,stall", "--stall-limit", 0.5
    )
    expect_error(files, result, "rank 3", "'gather.w' (id 0)", "waited 0.5 s")
    assert time.monotonic() - begin < 5


def test_a_stalled_rank_ends_within_ten_seconds_by_default(files):
    begin = time.monotonic()
    expect_error(files, run_files(files, "--inject-fault", "0,2,stall"), "rank 0", "'reduce.loss'")
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize(
    "options, texts",
    [
        (["--inject-fault", "2,nothing,fail"], ["no collective 'nothing'"]),
        (["--inject-fault", "4,0,fail"], ["4 ranks"]),
        (["--inject-fault", "1,0"], ["RANK,COLLECTIVE,KIND"]),
        (["--transport", "nccl"], ["--transport nccl", "not available in this build"]),
        (["--transport", "carrier-pigeon"], ["unknown"]),
        (["--steps", "0"], ["--steps 0"]),
        (["--slow-links="], ["--slow-links: expected bandwidth=B,latency=L"]),
        (["--slow-links", "bandwidth=0"], ["bandwidth '0' is not between 1 and 1e15 bytes/s"]),
        (["--slow-links", "bandwidth=-1e9"], ["bandwidth '-1e9' is not between"]),
        (["--slow-links", "bandwidth=1,latency=1e9"], ["latency '1e9' is not between"]),
        (["--slow-links", "bandwidth=1;bandwidth=1;bandwidth=1"], ["3 levels, the step has 2"]),
        (["--slow-links", "bandwidth=1"], ["'gather.w'", "longer than the stall limit of 8 s"]),
        (["--steps", "many"], ["--steps many"]),
        (["--stall-limit", "-1"], ["--stall-limit -1"]),
        (["--nonsense"], ["--nonsense"]),
        (["--trace", "no/such/directory/t.json"], ["no/such/directory"]),
        (["--batches", "no-such-directory"], ["no-such-directory"]),
    ],
)
def test_wrong_options(files, options, texts):
    expect_error(files, run_files(files, *options), *texts)


def test_missing_options(files):
    expect_error(files, amsp_run(STEP, "--inputs", files / "in.npz"), "--outputs")
    expect_error(files, amsp_run(STEP, "--outputs", files / "out.npz"), "--inputs")


def test_outputs_that_cannot_be_written(files):
    result = amsp_run(
        STEP, "--inputs", files / "in.npz", "--outputs", files / "none" / "out.npz"
    )
    expect_error(files, result, "there is no directory")
