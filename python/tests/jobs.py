"""One compilation and run of a step, by either path:

- `so`: amsp-compile writes a library, amsp-run runs it;
- `stablehlo`: amsp-compile writes the partitioned program, XLA runs it.
"""

import abc
import dataclasses
import json
import os
import pathlib
import subprocess
import sys

from amsp import tools

PATHS = ("so", "stablehlo")
# Programs run for a few steps only: XLA has to compile them fast.
FAST_XLA_FLAG = "--xla_backend_optimization_level=0"
COMPILE_SECONDS = 300
RUN_SECONDS = 300


def fast_xla_flags() -> str:
    """XLA_FLAGS of the environment, and how to compile fast if it says nothing of it."""
    given = os.environ.get("XLA_FLAGS", "")
    named = FAST_XLA_FLAG.partition("=")[0] in given
    return given if named else f"{given} {FAST_XLA_FLAG}".strip()


class Job(abc.ABC):
    """Hashable; equal jobs run once."""

    @abc.abstractmethod
    def run(self, directory: pathlib.Path): ...


def run_under_xla(programs, inputs, outputs, steps, flags=""):
    """Programs of one step, in one process, which takes as long to start as a small
    program takes to run."""
    command = [sys.executable, "-m", "amsp.xla_executor", *programs]
    command += ["--inputs", inputs, "--outputs", *outputs, "--steps", str(steps)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS * len(programs),
        env=dict(os.environ, XLA_FLAGS=f"{fast_xla_flags()} {flags}"),
    )
    if done.returncode:
        raise RuntimeError(f"amsp.xla_executor: {done.stderr}")


def manifest_of(output: pathlib.Path, path: str) -> dict:
    if path == "so":
        return tools.manifest(output)
    return json.loads(pathlib.Path(f"{output}.manifest.json").read_text())


def compile_and_run(
    step, inputs, directory, cluster, strategy, path, steps, batch_args=(), options=()
) -> tuple[pathlib.Path, dict]:
    """OUT.npz and the manifest. A library runs within exactly the memory that its
    manifest says."""
    directory.mkdir(parents=True, exist_ok=True)
    output = directory / ("step.so" if path == "so" else "step.partitioned.mlir")
    results = directory / "out.npz"
    tools.compile_step(
        step,
        output,
        cluster,
        strategy,
        batch_args,
        emit=path,
        timeout=COMPILE_SECONDS,
        options=options,
    )
    manifest = manifest_of(output, path)
    if path == "so":
        limit = ("--memory-limit", manifest["memory_bytes"])
        tools.run_step(output, inputs, results, steps, *limit, timeout=RUN_SECONDS)
    else:
        run_under_xla([output], inputs, [results], steps)
    return results, manifest


@dataclasses.dataclass(frozen=True)
class Finished:
    results: pathlib.Path
    manifest: dict


@dataclasses.dataclass(frozen=True)
class CaseJob(Job):
    """Three steps of one of the exported cases."""

    case: str
    cluster: str
    strategy: str
    path: str

    def __str__(self):
        return f"{self.case}-{self.cluster}-{self.strategy}-{self.path}"

    def run(self, directory: pathlib.Path) -> Finished:
        case = cases_directory() / self.case
        # Batch arguments are found by the compiler on one path, given on the other.
        batch_args = ()
        if self.path == "stablehlo":
            batch_args = json.loads((case / "case.json").read_text())["split_args"]
        return Finished(
            *compile_and_run(
                case / "step.mlir",
                case / "inputs.npz",
                directory,
                self.cluster,
                self.strategy,
                self.path,
                steps=3,
                batch_args=batch_args,
            )
        )


def cases_directory() -> pathlib.Path:
    default = tools.REPOSITORY.parent / "shared" / "cases"
    return pathlib.Path(os.environ.get("AMSP_CASES_DIR", default))
