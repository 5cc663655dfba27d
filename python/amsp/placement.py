"""Cuts global arrays into the local buffers of the ranks, and joins them again.

A placement is the JSON object of a manifest (docs/formats.md): how the buffer
of a rank relates to the global value. Digits are `[stride, size]`, most
significant first.
"""

from __future__ import annotations

import math

import numpy as np

Placement = dict


def group_size(digits: list[list[int]]) -> int:
    return math.prod(size for _, size in digits)


def group_index(digits: list[list[int]], rank: int) -> int:
    """The mixed-radix number that orders the pieces of a group's members."""
    index = 0
    for stride, size in digits:
        index = index * size + rank // stride % size
    return index


def local_shape(shape: tuple[int, ...], placement: Placement) -> tuple[int, ...]:
    kind = placement["kind"]
    if kind == "replicated":
        return tuple(shape)
    if kind == "split":
        dim, members = placement["dim"], group_size(placement["digits"])
        if shape[dim] % members:
            raise ValueError(
                f"dimension {dim} of {tuple(shape)} is not divisible by {members}"
            )
        return (*shape[:dim], shape[dim] // members, *shape[dim + 1 :])
    if kind == "flat":
        return (*shape[: placement["keep"]], placement["piece"])
    raise ValueError(f"unknown placement kind {kind!r}")


def poison(dtype: np.dtype):
    """A value that shows in any result that depends on it."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return True
    if np.issubdtype(dtype, np.integer):
        return np.iinfo(dtype).max
    return np.array(np.nan, dtype=dtype)


def shard(value: np.ndarray, placement: Placement, rank: int, fill=None) -> np.ndarray:
    """The local buffer of `rank`. Padding, which is undefined content, is
    filled with `fill`, by default with a value that poisons any use."""
    value = np.asarray(value)
    kind = placement["kind"]
    if kind == "replicated":
        return value
    digits = placement.get("digits", [])
    index = group_index(digits, rank)
    if kind == "split":
        dim = placement["dim"]
        rows = local_shape(value.shape, placement)[dim]
        return value.take(np.arange(index * rows, (index + 1) * rows), axis=dim)
    if kind == "flat":
        kept, piece = value.shape[: placement["keep"]], placement["piece"]
        flat = value.reshape((*kept, -1))
        if piece * group_size(digits) < flat.shape[-1]:
            raise ValueError(
                f"{group_size(digits)} pieces of {piece} do not hold "
                f"{flat.shape[-1]} elements"
            )
        fill = poison(value.dtype) if fill is None else fill
        local = np.full((*kept, piece), fill, dtype=value.dtype)
        owned = flat[..., index * piece : (index + 1) * piece]
        local[..., : owned.shape[-1]] = owned
        return local
    raise ValueError(f"unknown placement kind {kind!r}")


def owners(placement: Placement, world: int) -> list[int]:
    """The lowest ranks that hold each piece, in the order of the index."""
    digits = placement.get("digits", [])
    ranks: dict[int, int] = {}
    for rank in range(world):
        ranks.setdefault(group_index(digits, rank), rank)
    return [ranks[index] for index in sorted(ranks)]


def paste(whole: np.ndarray, local: np.ndarray, placement: Placement, rank: int) -> None:
    """Puts the rank's piece in its place in the global value, which must be
    contiguous."""
    kind = placement["kind"]
    if kind == "replicated":
        whole[...] = local
        return
    index = group_index(placement.get("digits", []), rank)
    if kind == "split":
        dim, rows = placement["dim"], local.shape[placement["dim"]]
        whole[(slice(None),) * dim + (slice(index * rows, (index + 1) * rows),)] = local
    elif kind == "flat":
        keep, piece = placement["keep"], placement["piece"]
        flat = whole.reshape((*whole.shape[:keep], math.prod(whole.shape[keep:])))
        owned = flat[..., index * piece : (index + 1) * piece]
        owned[...] = local[..., : owned.shape[-1]]
    else:
        raise ValueError(f"unknown placement kind {kind!r}")


def unshard(
    locals_: list[np.ndarray], placement: Placement, shape: tuple[int, ...]
) -> np.ndarray:
    """The global value, from the local buffers of all ranks in order. Ranks
    that hold the same piece must hold the same bits."""
    locals_ = [np.asarray(local) for local in locals_]
    shape = tuple(shape)
    want = local_shape(shape, placement)
    digits = placement.get("digits", [])
    pieces: dict[int, np.ndarray] = {}
    for rank, local in enumerate(locals_):
        if local.shape != want:
            raise ValueError(f"rank {rank} holds {local.shape}, expected {want}")
        index = group_index(digits, rank)
        if index not in pieces:
            pieces[index] = local
        elif not same_content(pieces[index], local, index, placement, shape):
            raise ValueError(f"rank {rank} differs from the ranks of its piece")
    ordered = [pieces[index] for index in range(group_size(digits))]
    kind = placement["kind"]
    if kind == "replicated":
        return ordered[0]
    if kind == "split":
        return np.concatenate(ordered, axis=placement["dim"])
    keep = placement["keep"]
    flat = np.concatenate(ordered, axis=keep)
    return flat[..., : math.prod(shape[keep:])].reshape(shape)


def same_content(
    first: np.ndarray,
    second: np.ndarray,
    index: int,
    placement: Placement,
    shape: tuple[int, ...],
) -> bool:
    """Bits are compared, and padding is not."""
    if placement["kind"] == "flat":
        elements = math.prod(shape[placement["keep"] :])
        owned = max(0, elements - index * placement["piece"])
        first, second = first[..., :owned], second[..., :owned]
    return first.tobytes() == second.tobytes()
