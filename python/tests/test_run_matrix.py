"""scripts/matrix.sh itself."""

import pytest

import run_matrix
from run_matrix import Combination


def test_what_runs_together_has_one_kind_and_grid():
    chosen = run_matrix.combinations(["lion", "lamb"], [4, 6])[::7]
    together = run_matrix.groups(chosen)
    assert [one for group in together for one in group] == chosen
    keys = [{(one.kind, one.grid) for one in group} for group in together]
    assert len(keys) < len(chosen) and all(len(key) == 1 for key in keys)


@pytest.mark.needs_tools
def test_a_strategy_that_fails_leaves_the_others(tmp_path):
    group = [Combination("sgd_momentum", 2, (2,), name) for name in ("p=3", "zero1")]
    runner = run_matrix.Runner(tmp_path, 2, ("threads", "xla"))
    failed, passed = runner.run(0, group)
    assert passed == ["", ""]
    assert all(fault.startswith("error: ") for fault in failed)
