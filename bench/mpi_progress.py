"""Do transfers proceed while a rank computes, and what does that cost?

A step written by hand (unittests/Runtime/Fixtures/OverlapStep.c; the target
amsp-run-fixtures): 4 ranks, an all_reduce of 1 MiB behind a computation of 200 ms
that sleeps, so that all processor time is the communication's. Prints, for threads
and MPI, how long the transfer and the await take, and the processor time of a rank
and step: the difference between a run of many steps and one of few, so that
starting up does not count.

    .venv/bin/python bench/mpi_progress.py [--build build] [--steps 40]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

RANKS = 4
FEW = 5


def run(build: pathlib.Path, directory: pathlib.Path, transport: str, steps: int):
    """Processor seconds of all processes, and the trace's events."""
    trace = directory / "trace.json"
    command = [
        build / "bin" / "amsp-run",
        build / "fixtures" / "OverlapStep.so",
        *("--inputs", directory / "in.npz", "--outputs", directory / "out.npz"),
        *("--steps", steps, "--transport", transport, "--trace", trace, "--quiet"),
    ]
    before = os.times()
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    seconds = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return seconds, json.loads(trace.read_text())["traceEvents"]


def median_ms(events, category: str) -> float:
    return statistics.median(
        event["dur"] / 1e3
        for event in events
        if event["cat"] == category and event["name"] == "reduce.w"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| transport | transfer, ms | await, ms | processor, ms a rank and step |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        np.savez(directory / "in.npz", arg0=np.ones(262144, np.float32))
        for transport in ("threads", "mpi"):
            few, _ = run(options.build, directory, transport, FEW)
            many, events = run(options.build, directory, transport, FEW + options.steps)
            cost = (many - few) / (options.steps * RANKS) * 1e3
            transfer, wait = median_ms(events, "transfer"), median_ms(events, "await")
            print(f"| {transport} | {transfer:.2f} | {wait:.3f} | {cost:.2f} |")


if __name__ == "__main__":
    main()
