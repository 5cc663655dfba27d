"""The small steps themselves, before anything is compiled: each can be
exported, and its error in float32 is small enough to show a fault."""

import numpy as np
import pytest

import steps
from amsp import check


# In which nothing is updated is checked bit by bit (test_kinds.py).
UPDATED = [name for name in steps.CASES if name != "infinite_row"]


@pytest.mark.parametrize("name", UPDATED)
def test_a_step_can_be_exported_and_checked(name, job_pool):
    ready = steps.prepared(name, job_pool.directory)
    expected, *exact = check.references(ready.directory)
    comparison = check.check_case(ready.directory, ready.directory / "expected.npz")
    assert not comparison.faults and comparison.worst <= 0.5
    inputs = check.read(ready.directory / "inputs.npz")
    assert not np.array_equal(expected["out0"], inputs["arg0"])
    # An update that is lost or doubled is far outside what is allowed.
    lost = dict(expected, out0=inputs["arg0"])
    doubled = dict(expected, out0=2 * expected["out0"] - inputs["arg0"])
    for wrong in (lost, doubled):
        assert check.compare(wrong, expected, *exact).faults
