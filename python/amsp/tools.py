"""Calls the compiler's tools. They stay in processes of their own: libMLIR and
jaxlib, which holds a copy of its own, do not share one."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Sequence

from amsp import resources

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class ToolError(RuntimeError):
    """What a tool wrote on its standard error."""


@dataclasses.dataclass(frozen=True)
class Finished:
    stdout: str
    stderr: str


@functools.cache
def find(name: str) -> str | None:
    """In AMSP_BIN, else in this checkout's build/bin, else in PATH."""
    for directory in (os.environ.get("AMSP_BIN"), REPOSITORY / "build" / "bin"):
        if directory and (found := shutil.which(name, path=str(directory))):
            return found
    return shutil.which(name)


def command(name: str, *arguments) -> list[str]:
    tool = find(name)
    if tool is None:
        raise ToolError(f"{name} is not built; run scripts/build.sh {name}")
    return [tool, *map(str, arguments)]


def call(name: str, *arguments, timeout: float | None = None) -> Finished:
    """The tool's output; ToolError if it fails."""
    process = subprocess.Popen(
        command(name, *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise ToolError(f"{name} did not end within {timeout} seconds") from None
    if process.returncode:
        raise ToolError(stderr.strip() or f"{name} ended with {process.returncode}")
    return Finished(stdout, stderr)


def peak_memory(name: str, *arguments) -> int:
    """Runs the tool; the bytes that its process held at most."""
    usage = resources.measure(command(name, *arguments))
    if usage.status:
        raise ToolError(usage.output.strip() or f"{name} ended with {usage.status}")
    return usage.peak_bytes


def compile_step(
    step: str | pathlib.Path,
    output: str | pathlib.Path,
    cluster: str,
    strategy: str,
    batch_args: Sequence[int] = (),
    emit: str = "so",
    timeout: float | None = None,
    options: Sequence[str] = (),
) -> None:
    arguments = [step, "-o", output, "--cluster", cluster, "--strategy", strategy]
    if batch_args:
        arguments += ["--batch-args", ",".join(map(str, batch_args))]
    if emit != "so":
        arguments += ["--emit", emit]
    call("amsp-compile", *arguments, *options, timeout=timeout)


def manifest(step: str | pathlib.Path) -> dict:
    return json.loads(call("amsp-run", step, "--manifest").stdout)


def run_step(
    step: str | pathlib.Path,
    inputs: str | pathlib.Path,
    outputs: str | pathlib.Path,
    steps: int,
    *options,
    timeout: float | None = None,
) -> Finished:
    return call(
        "amsp-run",
        step,
        *("--inputs", inputs, "--outputs", outputs, "--steps", steps),
        *options,
        timeout=timeout,
    )
