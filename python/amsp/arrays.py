"""The npz files that tools exchange (docs/formats.md, Inputs and outputs)."""

from __future__ import annotations

import pathlib

import ml_dtypes
import numpy as np

DTYPES = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "u64": np.dtype(np.uint64),
    "u32": np.dtype(np.uint32),
    "u16": np.dtype(np.uint16),
    "u8": np.dtype(np.uint8),
    "i1": np.dtype(np.bool_),
}


def to_file(value: np.ndarray) -> np.ndarray:
    """bfloat16, which numpy's files do not know, travels as its bits."""
    value = np.asarray(value)
    return value.view(np.uint16) if value.dtype == DTYPES["bf16"] else value


def from_file(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype == DTYPES["bf16"] and value.dtype == np.uint16:
        return value.view(dtype)
    if value.dtype != dtype:
        raise ValueError(f"is {value.dtype}, expected {dtype}")
    return value


def save(path: str | pathlib.Path, prefix: str, values: dict[int, np.ndarray]) -> None:
    np.savez(path, **{f"{prefix}{i}": to_file(v) for i, v in values.items()})


def save_arguments(path, values, first: int = 0) -> None:
    save(path, "arg", {first + i: v for i, v in enumerate(values)})


def save_results(path, values) -> None:
    save(path, "out", dict(enumerate(values)))


def load(path: str | pathlib.Path, prefix: str, dtypes: dict[int, np.dtype]) -> dict:
    """The arrays named PREFIXi for each i of `dtypes`, in these types."""
    values = {}
    with np.load(path) as file:
        for index, dtype in dtypes.items():
            name = f"{prefix}{index}"
            if name not in file:
                raise ValueError(f"{path}: no array {name}")
            try:
                values[index] = from_file(file[name], dtype)
            except ValueError as error:
                raise ValueError(f"{path}: {name} {error}") from None
    return values
