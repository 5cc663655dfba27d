"""Checkpoints: directories of safetensors files with an index, as amsp-run
writes and reads them (docs/formats.md).

They hold global values without padding. Both directions work on pieces, by
mapping the files: no more than what is written or read is in memory.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
import re
from collections.abc import Iterable

import numpy as np

from amsp import arrays

INDEX = "model.safetensors.index.json"
FORMAT = "amsp-checkpoint"
VERSION = 1
# Files beyond this size are split between tensors.
MAX_FILE_BYTES = 4_000_000_000
# Tensors, and indices that a process was killed over.
FILE_PATTERN = re.compile(rf"state-g.*\.safetensors|{re.escape(INDEX)}\..*\.tmp")

DTYPE_NAMES = {
    name.upper() if name != "i1" else "BOOL": dtype for name, dtype in arrays.DTYPES.items()
}


class CheckpointError(ValueError):
    """A directory that is no checkpoint, or one that does not fit."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def dtype_name(dtype: np.dtype) -> str:
    return next(name for name, known in DTYPE_NAMES.items() if known == dtype)


def header_of(tensors: list[Tensor], metadata: dict[str, str]) -> tuple[bytes, list[int]]:
    """The bytes before the data, and the tensors' offsets in the file."""
    entries: dict = {"__metadata__": metadata}
    offsets = []
    end = 0
    for tensor in tensors:
        begin, end = end, end + tensor.bytes
        offsets.append(begin)
        entries[tensor.name] = {
            "dtype": dtype_name(tensor.dtype),
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    prefix = len(text).to_bytes(8, "little") + text
    return prefix, [len(prefix) + offset for offset in offsets]


def mapped(path: pathlib.Path, mode: str, offset: int, tensor: Tensor) -> np.ndarray:
    if tensor.bytes == 0:
        return np.empty(tensor.shape, tensor.dtype)
    # bfloat16 is no type that numpy maps.
    raw = np.memmap(path, np.uint8, mode, offset, (tensor.bytes,))
    return raw.view(tensor.dtype).reshape(tensor.shape)


class Writer:
    """Writes a checkpoint beside the one that the directory holds; `finish`
    makes it the directory's, in one rename, and removes the one before."""

    def __init__(
        self,
        directory: str | os.PathLike,
        tensors: Iterable[Tensor],
        steps: int,
        batches: int,
    ):
        self.directory = pathlib.Path(directory)
        self.tensors = list(tensors)
        self.steps, self.batches = steps, batches
        self.directory.mkdir(exist_ok=True)
        self.generation = self.held_generation() + 1
        self.places: dict[str, tuple[pathlib.Path, int]] = {}
        self.files: list[pathlib.Path] = []
        try:
            self.reserve()
        except OSError:
            self.discard()
            raise

    def held_generation(self) -> int:
        if (self.directory / INDEX).exists():
            return read_index(self.directory)["metadata"]["generation"]
        for path in self.directory.iterdir():
            if not FILE_PATTERN.fullmatch(path.name):
                raise CheckpointError(
                    f"{self.directory}: holds other files than a checkpoint's"
                )
        return 0

    def reserve(self) -> None:
        """Lays the tensors out in files, and takes the space on disk."""
        groups: list[list[Tensor]] = [[]]
        for tensor in self.tensors:
            held = sum(other.bytes for other in groups[-1])
            if held and held + tensor.bytes > MAX_FILE_BYTES:
                groups.append([])
            groups[-1].append(tensor)
        metadata = {
            "format": FORMAT,
            "generation": str(self.generation),
            "steps": str(self.steps),
        }
        for number, group in enumerate(groups, 1):
            name = f"state-g{self.generation}-{number:05}-of-{len(groups):05}.safetensors"
            path = self.directory / name
            prefix, offsets = header_of(group, metadata)
            self.files.append(path)
            with open(path, "wb") as file:
                file.write(prefix)
                file.flush()
                size = len(prefix) + sum(tensor.bytes for tensor in group)
                os.posix_fallocate(file.fileno(), 0, size)
            for tensor, offset in zip(group, offsets):
                self.places[tensor.name] = (path, offset)

    def open(self, tensor: Tensor) -> np.ndarray:
        """The tensor's global value on disk, to be filled."""
        path, offset = self.places[tensor.name]
        return mapped(path, "r+", offset, tensor)

    def finish(self) -> None:
        for path in self.files:
            sync(path)
        metadata = {
            "format": FORMAT,
            "version": VERSION,
            "generation": self.generation,
            "steps": self.steps,
            "batches": self.batches,
            "total_size": sum(tensor.bytes for tensor in self.tensors),
        }
        weights = {name: path.name for name, (path, _) in sorted(self.places.items())}
        temporary = self.directory / f"{INDEX}.{os.getpid()}.tmp"
        index = {"metadata": metadata, "weight_map": weights}
        temporary.write_text(json.dumps(index, indent=2) + "\n")
        sync(temporary)
        os.replace(temporary, self.directory / INDEX)
        sync(self.directory)
        for path in self.directory.iterdir():
            if FILE_PATTERN.fullmatch(path.name) and path not in self.files:
                path.unlink()

    def discard(self) -> None:
        for path in self.files:
            path.unlink(missing_ok=True)


def sync(path: pathlib.Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_index(directory: pathlib.Path) -> dict:
    try:
        index = json.loads((directory / INDEX).read_text())
    except OSError as error:
        raise CheckpointError(f"{directory}: is no checkpoint: {error}") from None
    except ValueError as error:
        raise CheckpointError(f"{directory / INDEX}: {error}") from None
    metadata = index.get("metadata", {}) if isinstance(index, dict) else {}
    if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
        raise CheckpointError(
            f"{directory / INDEX}: expected format {FORMAT}, version {VERSION}"
        )
    return index


def read_header(path: pathlib.Path, generation: int) -> dict[str, tuple[Tensor, int]]:
    """The tensors of a file and where their data begins."""
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            text = file.read(length) if length <= size else b""
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror}") from None
    try:
        header = json.loads(text)
        metadata = header.pop("__metadata__", {})
        if metadata.get("format") != FORMAT or metadata.get("generation") != str(generation):
            raise CheckpointError(f"{path}: belongs to another checkpoint")
        found = {}
        for name, entry in header.items():
            tensor = Tensor(name, tuple(entry["shape"]), DTYPE_NAMES[entry["dtype"]])
            begin, end = entry["data_offsets"]
            if end - begin != tensor.bytes:
                raise KeyError(name)
            if 8 + length + end > size:
                raise CheckpointError(f"{path}: is cut short")
            found[name] = (tensor, 8 + length + begin)
    except CheckpointError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CheckpointError(
            f"{path}: is no safetensors file, or is cut short"
        ) from None
    return found


class Reader:
    """A checkpoint; all its files are there, whole, and of one checkpoint."""

    def __init__(self, directory: str | os.PathLike):
        self.directory = pathlib.Path(directory)
        index = read_index(self.directory)
        metadata = index["metadata"]
        self.steps, self.batches = metadata["steps"], metadata["batches"]
        self.tensors: dict[str, Tensor] = {}
        self.places: dict[str, tuple[pathlib.Path, int]] = {}
        for name in sorted(set(index["weight_map"].values())):
            path = self.directory / pathlib.Path(name).name
            for tensor, offset in read_header(path, metadata["generation"]).values():
                self.tensors[tensor.name] = tensor
                self.places[tensor.name] = (path, offset)
        for name, file in index["weight_map"].items():
            if name not in self.tensors:
                raise CheckpointError(
                    f"{self.directory}: {file}: has no tensor '{name}', "
                    "which the index places there"
                )

    def open(self, tensor: Tensor) -> np.ndarray:
        """The global value on disk of a tensor of this name, shape and type."""
        found = self.tensors.get(tensor.name)
        wanted = f"{tensor.dtype} of shape {tensor.shape}"
        if found is None:
            raise CheckpointError(
                f"{self.directory}: has no '{tensor.name}'; the step takes {wanted}"
            )
        if found != tensor:
            raise CheckpointError(
                f"{self.directory}: '{tensor.name}' is {found.dtype} of shape "
                f"{found.shape}, the step takes {wanted}"
            )
        path, offset = self.places[tensor.name]
        return mapped(path, "r", offset, tensor)
