"""CPU code generation on per-rank programs written by hand."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from amsp import tools

pytestmark = pytest.mark.needs_tools

PROGRAMS = pathlib.Path(__file__).parent / "per_rank"


def compiled(name, directory):
    output = directory / f"{name}.so"
    tools.call("amsp-compile", PROGRAMS / f"{name}.mlir", "-o", output)
    return output


def run(step, directory, arguments, steps, *options):
    inputs, outputs = directory / "in.npz", directory / "out.npz"
    np.savez(inputs, **{f"arg{i}": value for i, value in enumerate(arguments)})
    tools.run_step(step, inputs, outputs, steps, *options, timeout=60)
    with np.load(outputs) as results:
        return [results[f"out{i}"] for i in range(len(results.files))]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def mlp_step(w, m, x):
    t = np.tanh(x @ w)
    gradient = x.T @ (2 * t * (1 - t * t))
    m = 0.5 * m + gradient
    return w - 0.01 * m, m, np.sum(t * t)


def test_sharded_mlp(tmp_path):
    w, m, x = normal(4, 3, seed=1), normal(4, 3, seed=2), normal(10, 4, seed=3)
    outputs = run(compiled("mlp", tmp_path), tmp_path, [w, m, x], steps=3)
    w, m, x = (value.astype(np.float64) for value in (w, m, x))
    for _ in range(3):
        w, m, loss = mlp_step(w, m, x)
    for output, expected in zip(outputs, (w, m, loss), strict=True):
        np.testing.assert_allclose(output, expected, rtol=2e-5, atol=1e-6)


def test_collectives_of_several_tensors(tmp_path):
    w, v, s = normal(3, 5, seed=1), normal(4, 3, seed=2), normal(2, 5, seed=3)
    x = normal(2, seed=4)
    step = compiled("variadic", tmp_path)
    outputs = run(step, tmp_path, [w, v, s, x], steps=2)
    x = x.astype(np.float64)
    factor = (1 - x.sum()) ** 2
    expected = (w * factor, v * factor, s * factor, x.sum(), (x * x).sum())
    for output, value in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(output, value, rtol=1e-5, atol=1e-6)

    manifest = tools.manifest(step)
    gather, scatter, reduce = manifest["collectives"]
    assert [c["tensors"] for c in (gather, scatter, reduce)] == [3, 3, 2]
    assert gather["parameters"] == scatter["parameters"] == [0, 1, 2]
    assert reduce["parameters"] == [] and gather["parameter"] is None
    assert gather["bytes"] == 4 * (16 + 12 + 12)
    traffic = [(p["gathers"], p["reductions"]) for p in manifest["parameters"]]
    assert traffic == [(16, 16), (12, 12), (12, 12)]


ASYNC_RUNS = [
    ("--poison",),
    ("--inject-fault", "0,0,delay"),
    ("--inject-fault", "1,1,delay", "--inject-fault", "0,2,delay", "--poison"),
    ("--inject-fault", "1,3,delay", "--inject-fault", "0,4,delay"),
    ("--transport", "mpi"),
    ("--transport", "mpi", "--inject-fault", "1,0,delay", "--inject-fault", "0,2,delay"),
]


def test_collectives_in_flight(tmp_path):
    """What a collective reads and writes is left alone until its await."""
    w, v, x = normal(3, 5, seed=1), normal(3, 5, seed=2), normal(2, seed=3)
    step = compiled("async", tmp_path)
    outputs = run(step, tmp_path, [w, v, x], steps=2)
    total = x.sum(dtype=np.float64)
    # The last v is of the first step's w, doubled once.
    carry = x.astype(np.float64)
    for _ in range(3):
        carry = carry.sum() + 2 * carry
    expected = (4 * w, 2 * w * total, 2 * (w * total), total + carry.sum())
    for output, value in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(output, value, rtol=1e-5, atol=1e-6)
    for options in ASYNC_RUNS:
        if "mpi" in options and shutil.which("mpirun") is None:
            continue
        again = run(step, tmp_path, [w, v, x], 2, *options)
        for output, value in zip(again, outputs, strict=True):
            np.testing.assert_array_equal(output, value, err_msg=str(options))


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_states_trade_places(tmp_path, steps):
    a, b, c, e, x = (normal(9, seed=seed) for seed in range(5))
    d, n = normal(3, 3, seed=9), np.int32(7)
    outputs = run(
        compiled("states", tmp_path), tmp_path, [a, b, c, d, e, n, x], steps
    )
    for _ in range(steps):
        old_b, old_c = b, c
        a, b, c, d = b, a, c + x, e.reshape(3, 3)
        e = e + x + x + x
        n = n + 1
    expected = (a, b, c, d, e, n, old_c * c, c.max(), old_b)
    for output, value in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(output, value)


def test_manifest(tmp_path):
    manifest = tools.manifest(compiled("mlp", tmp_path))
    assert manifest["world"] == 2
    assert [entry["kind"] for entry in manifest["collectives"]] == [
        "all_reduce",
        "reduce_scatter",
        "all_gather",
    ]
    assert manifest["state_bytes"] == 4 * (12 + 6)
    (parameter,) = manifest["parameters"]
    assert parameter["gathers"] == parameter["reductions"] == 12
    assert parameter["sent_elements"] == 12
    assert manifest["arguments"][1]["placement"] == {
        "kind": "flat",
        "keep": 0,
        "piece": 6,
        "digits": [[1, 2]],
    }
    assert manifest["arena_bytes"] > 0


def test_exports_one_symbol(tmp_path):
    library = compiled("mlp", tmp_path)
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", library],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[-1] for line in listing.stdout.splitlines()] == [
        "amsp_step_v1"
    ]


def test_two_compilations_are_equal(tmp_path):
    texts = []
    for name in ("first.ll", "second.ll"):
        output = tmp_path / name
        program = PROGRAMS / "states.mlir"
        tools.call("amsp-compile", program, "-o", output, "--emit", "llvm")
        texts.append(output.read_text())
    assert texts[0] == texts[1]
