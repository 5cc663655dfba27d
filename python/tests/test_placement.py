"""Placements of docs/formats.md, against their definition."""

import numpy as np
import pytest

from amsp import placement as pl

REPLICATED = {"kind": "replicated"}


def flat(digits, piece, keep=0):
    return {"kind": "flat", "keep": keep, "digits": digits, "piece": piece}


def pieces_of(value, placement, world):
    return [pl.shard(value, placement, rank) for rank in range(world)]


def test_index_is_mixed_radix_most_significant_first():
    digits = [[1, 2], [4, 3], [2, 2]]
    # rank = 1*a + 2*b + 4*c has index (a*3 + c)*2 + b.
    for a in range(2):
        for b in range(2):
            for c in range(3):
                rank = a + 2 * b + 4 * c
                assert pl.group_index(digits, rank) == (a * 3 + c) * 2 + b


@pytest.mark.parametrize(
    "placement",
    [
        REPLICATED,
        flat([], 35),
        flat([[1, 4]], 9),
        flat([[2, 2]], 18),
        flat([[2, 2], [1, 2]], 9),
        flat([[1, 4]], 2, keep=1),
        {"kind": "split", "dim": 0, "digits": [[1, 1]]},
    ],
)
def test_round_trip(placement):
    value = np.arange(35, dtype=np.float32).reshape(5, 7)
    locals_ = pieces_of(value, placement, 4)
    assert all(local.shape == pl.local_shape((5, 7), placement) for local in locals_)
    np.testing.assert_array_equal(pl.unshard(locals_, placement, (5, 7)), value)


def test_split_of_an_inner_dimension():
    value = np.arange(24).reshape(2, 6, 2)
    placement = {"kind": "split", "dim": 1, "digits": [[2, 3], [1, 2]]}
    locals_ = pieces_of(value, placement, 6)
    np.testing.assert_array_equal(locals_[3], value[:, 3:4])
    np.testing.assert_array_equal(pl.unshard(locals_, placement, value.shape), value)


def test_fewer_elements_than_ranks():
    value = np.array([3.5], dtype=np.float32)
    locals_ = pieces_of(value, flat([[1, 4]], 1), 4)
    assert locals_[0] == 3.5
    assert all(np.isnan(local).all() for local in locals_[1:])
    np.testing.assert_array_equal(pl.unshard(locals_, flat([[1, 4]], 1), (1,)), value)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.bool_])
def test_padding_is_poisoned_and_never_read(dtype):
    value = np.ones(5, dtype=dtype)
    placement = flat([[1, 4]], 2)
    locals_ = pieces_of(value, placement, 4)
    assert locals_[2][1].tobytes() == np.array(pl.poison(dtype), dtype).tobytes()
    np.testing.assert_array_equal(pl.unshard(locals_, placement, (5,)), value)


def test_pieces_nest():
    """A piece of the larger group lies in the piece that gathering leaves."""
    value = np.arange(8.0)
    for rank in range(4):
        inner = pl.shard(value, flat([[1, 2], [2, 2]], 2), rank)
        outer = pl.shard(value, flat([[1, 2]], 4), rank)
        assert set(inner) <= set(outer)


def test_scalar():
    value = np.float32(2)
    placement = flat([[1, 2]], 1)
    locals_ = pieces_of(value, placement, 2)
    assert pl.unshard(locals_, placement, ()) == value


def test_replicas_that_differ_are_an_error():
    with pytest.raises(ValueError, match="rank 1 differs"):
        pl.unshard([np.zeros(2), np.ones(2)], REPLICATED, (2,))
    with pytest.raises(ValueError, match="rank 2 differs"):
        locals_ = [np.full(1, rank, np.float32) for rank in range(4)]
        pl.unshard(locals_, flat([[1, 2]], 1), (2,))


def test_wrong_sizes_are_errors():
    with pytest.raises(ValueError, match="not divisible by 2"):
        pl.shard(np.zeros((3, 2)), {"kind": "split", "dim": 0, "digits": [[1, 2]]}, 0)
    with pytest.raises(ValueError, match="do not hold"):
        pl.shard(np.zeros(5), flat([[1, 2]], 2), 0)
    with pytest.raises(ValueError, match="rank 0 holds"):
        pl.unshard([np.zeros(3), np.zeros(3)], flat([[1, 2]], 2), (4,))
    with pytest.raises(ValueError, match="unknown placement"):
        pl.shard(np.zeros(5), {"kind": "partial"}, 0)
