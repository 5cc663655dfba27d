"""The process that interprets random steps."""

import jax
import jax.numpy as jnp
import numpy as np

import interpreter
from amsp import arrays, check


def interpreted(directory, step, arguments, steps, state):
    program = directory / "step.mlir"
    program.write_text(jax.jit(step, keep_unused=True).lower(*arguments).as_text())
    arrays.save_arguments(directory / "in.npz", arguments)
    files = program, directory / "in.npz", directory / "out.npz"
    return interpreter.run_apart([files], steps, state), files[-1]


def test_state_is_fed_back(tmp_path):
    def step(w, n, x, unused):
        error = jax.scipy.special.erfc(x @ w)  # Of chlo.
        return w - x.T @ error / 4, n + 1, jnp.where(error > 0.5, error, 0)

    w, x = np.full(3, 0.5, "f"), np.arange(12, dtype="f").reshape(4, 3) / 12
    arguments = w, np.uint32(7), x, np.array([True, False])
    judged, path = interpreted(tmp_path, step, arguments, 3, 2)
    assert judged
    for _ in range(3):
        arguments = *(results := step(*arguments))[:2], *arguments[2:]
    found = check.read(path)
    assert len(found) == 3 and found["out1"].dtype == np.uint32 and found["out1"] == 10
    for number in (0, 2):
        np.testing.assert_allclose(found[f"out{number}"], results[number], rtol=1e-5)


def test_scatters_leave_their_operand(tmp_path):
    def step(table, rows):
        return table.at[rows].add(1.0), table

    table, rows = np.arange(6, dtype="f").reshape(3, 2), np.array([2, 0, 2], np.int32)
    step = jax.jit(step)
    judged, path = interpreted(tmp_path, step, (table, rows), 1, 0)
    assert judged
    for number, expected in enumerate(step(table, rows)):
        np.testing.assert_array_equal(check.read(path)[f"out{number}"], expected)


def test_what_it_cannot_judge_is_told_apart(tmp_path):
    judged, path = interpreted(
        tmp_path, lambda n, m: (n // m,), (np.int32(3), np.int32(0)), 1, 0
    )
    assert not judged and not path.exists()
