"""The ranks of a compiled step, as threads of this process.

Buffers are numpy arrays. The library under it (amsp-c/World.h) is plain C++,
so it may share a process with jaxlib; the compiler may not.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import pathlib

import numpy as np

from amsp import tools

STEP_SYMBOL = "amsp_step_v1"
ABI_VERSION = 2
ALIGNMENT = 64


class RunError(RuntimeError):
    """A step failed; the message names the rank and the collective."""


class StepStruct(ctypes.Structure):
    """amsp_step of amsp-c/Step.h, as far as it is read here."""

    _fields_ = [("abi_version", ctypes.c_uint32), ("manifest", ctypes.c_char_p)]


@functools.cache
def library() -> ctypes.CDLL:
    tool = tools.find("amsp-run")
    if tool is None:
        raise tools.ToolError("amsp-run is not built; run scripts/build.sh amsp-run")
    path = pathlib.Path(tool).resolve().parents[1] / "lib" / "libamsp_runtime.so"
    # Compiled steps find its functions in the global scope.
    loaded = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    loaded.amsp_world_create.restype = ctypes.c_void_p
    loaded.amsp_world_create.argtypes = [
        *(ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64),
        *(ctypes.c_double, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)),
    ]
    pointers = ctypes.POINTER(ctypes.c_void_p)
    loaded.amsp_world_run_step.restype = ctypes.c_int32
    loaded.amsp_world_run_step.argtypes = [
        *(ctypes.c_void_p, pointers, ctypes.c_int64, pointers, ctypes.c_int64),
        *(ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_void_p)),
    ]
    loaded.amsp_world_destroy.argtypes = [ctypes.c_void_p]
    loaded.amsp_text_free.argtypes = [ctypes.c_void_p]
    return loaded


def take_text(text: ctypes.c_void_p) -> str:
    message = ctypes.string_at(text.value).decode()
    library().amsp_text_free(text)
    return message


def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An aligned buffer of undefined content."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


class World:
    """A loaded STEP.so and its ranks. After an error it runs no more."""

    def __init__(
        self,
        path: str | os.PathLike,
        stall_limit: float | None = None,
        poison: bool = False,
    ):
        runtime = library()
        # It stays loaded: errors refer to its data.
        self.step = ctypes.CDLL(str(pathlib.Path(path).resolve()))
        struct = StepStruct.in_dll(self.step, STEP_SYMBOL)
        if struct.abi_version != ABI_VERSION:
            raise RunError(f"{path}: compiled for ABI version {struct.abi_version}")
        self.manifest: dict = json.loads(struct.manifest)
        self.ranks: int = self.manifest["world"]
        error = ctypes.c_void_p()
        self.handle = runtime.amsp_world_create(
            ctypes.addressof(struct),
            self.ranks,
            self.manifest["program_hash"].encode(),
            self.manifest["arena_bytes"],
            stall_limit or 0.0,
            int(poison),
            ctypes.byref(error),
        )
        if not self.handle:
            raise RunError(take_text(error))
        self.stuck: list = []

    def run_step(
        self, arguments: list[list[np.ndarray]], results: list[list[np.ndarray | None]]
    ) -> None:
        """`arguments[rank][i]`: a contiguous local buffer; results alike, None
        for those that are state."""
        if not self.handle:
            raise RunError("the world failed in an earlier step")
        buffers = [pointers_to(rank) for rank in (arguments, results)]
        stuck, error = ctypes.c_int32(), ctypes.c_void_p()
        if library().amsp_world_run_step(
            self.handle,
            *(buffers[0], len(arguments[0]), buffers[1], len(results[0])),
            *(ctypes.byref(stuck), ctypes.byref(error)),
        ):
            if stuck.value:
                # Threads that never came back still use these.
                self.stuck = [arguments, results, self.handle]
                self.handle = None
                KEPT.append(self)
            self.close()
            raise RunError(take_text(error))

    def close(self) -> None:
        if self.handle:
            library().amsp_world_destroy(self.handle)
        self.handle = None

    def __del__(self):
        if getattr(self, "handle", None):
            self.close()


KEPT: list[World] = []


def pointers_to(ranks: list[list[np.ndarray | None]]):
    flat = [value for rank in ranks for value in rank]
    return (ctypes.c_void_p * len(flat))(
        *(None if value is None else value.ctypes.data for value in flat)
    )
