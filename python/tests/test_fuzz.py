"""Random training steps by fixed seed, and those that failed before."""

import pytest

import fuzz

pytestmark = pytest.mark.needs_tools

# Reduced by scripts/fuzz.sh from what it found.
REGRESSIONS = [
    # A branch hands on a view of a value that is read later.
    fuzz.Trial(
        (
            fuzz.Program(
                5205, (("cut", 74715), ("branch", 88094), ("join", 46340)), "square", "sgd", "none"
            ),
        ),
        *((2,), "zero3", "so"),
    ),
    # Branches and random bits.
    *fuzz.trials(200, 20),
    # What is less usual.
    *fuzz.trials(220, 20),
    # Attention among rows of microbatches that ranks do not divide.
    fuzz.Trial(
        (
            fuzz.Program(
                83, (("dense", 39076), ("contrast", 91895)), "square", "sgd", "blocks"
            ),
        ),
        *((2, 4), "p=1x4,g=1x4,os=2x4", "so"),
    ),
    # Indices of 8 bits beside indices of other types.
    *(
        fuzz.Trial((fuzz.Program(seed, (("narrow_indices", seed),), *rest),), *how)
        for seed, rest, how in [
            (240, ("square", "sgd", "none"), ((4,), "zero3", "so")),
            (241, ("square", "sgd", "none"), ((2, 2), "ddp", "stablehlo")),
        ]
    ),
]

TRIALS = fuzz.trials(0, 200)


@pytest.mark.parametrize("job", REGRESSIONS + TRIALS, ids=str)
def test_ranks_equal_one_device(finished):
    assert finished == []
