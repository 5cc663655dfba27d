"""Random training steps by fixed seed, and those that failed before."""

import pytest

import fuzz

pytestmark = pytest.mark.needs_tools

# Reduced by scripts/fuzz.sh from what it found.
REGRESSIONS: list[fuzz.Trial] = []

TRIALS = fuzz.trials(0, 200)


@pytest.mark.parametrize("job", REGRESSIONS + TRIALS, ids=str)
def test_ranks_equal_one_device(finished):
    assert finished == []
