"""The parts of the quickstart, and all of it with a few steps."""

import numpy as np
import pytest

from amsp import quickstart
from amsp.models import gpt


def test_the_text_is_large_enough_for_fresh_batches():
    text = quickstart.debian_text()
    assert len(text) > 100_000
    batches = list(gpt.batches(quickstart.CONFIG, text, 3))
    assert len({tokens.tobytes() for tokens, _ in batches}) == 3
    for tokens, targets in batches:
        np.testing.assert_array_equal(tokens[:, 1:], targets[:, :-1])


def collective(kind, digits, count, size):
    return {
        "kind": kind,
        "digits": digits,
        "dtype": "f32",
        "count": count,
        "bytes": size,
        "sent_bytes": size // 2,
    }


def test_collectives_of_a_kind_and_group_are_added():
    manifest = {
        "collectives": [
            collective("all_gather", [[1, 2]], 1, 100),
            collective("all_gather", [[1, 2]], 2, 10),
            collective("all_gather", [[2, 2], [1, 2]], 1, 8),
        ]
    }
    rows = [line.split() for line in quickstart.collectives_table(manifest)[1:]]
    assert rows == [
        ["all_gather", "0,1", "f32", "3", "120", "60"],
        ["all_gather", "0,1,2,3", "f32", "1", "8", "4"],
    ]


def test_the_largest_difference(capsys):
    assert quickstart.print_losses([2.0, 1.0], [2.0, 1.25]) == 0.25
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.needs_tools
def test_three_steps_equal_jax(tmp_path, capsys):
    assert quickstart.quickstart(tmp_path, steps=3) == 0
    out = capsys.readouterr().out
    assert "largest difference of a loss" in out
    assert "reduce_scatter" in out and "peak" in out
