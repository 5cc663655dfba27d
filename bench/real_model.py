"""Time from a model's configuration to its plan: the README's two commands for 7B.

    .venv/bin/python bench/real_model.py [--check] [-- OPTIONS OF THE EXPORT]

Runs them as they stand in the README, in a folder of their own, and prints a row
of Markdown for each: seconds, seconds of processor time (of all cores), and peak
memory. With --check the exit status is 1 if both took more than a minute.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shlex
import sys
import tempfile
import time
from typing import NamedTuple

from amsp import resources, tools

START = "python -m amsp.export llama"
LIMIT = 60  # seconds


class Run(NamedTuple):
    command: str  # as in the README
    seconds: float
    usage: resources.Usage


def readme_commands() -> tuple[str, str]:
    lines = (tools.REPOSITORY / "README.md").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(START))
    return lines[first], lines[first + 1]


def run(command: str, directory: pathlib.Path, *options: str) -> Run:
    """A command of the README. Its files are the repository's, but for `step.mlir`."""
    words = []
    for word in [*shlex.split(command), *options]:
        in_repository = tools.REPOSITORY / word
        if word == "python":
            words.append(sys.executable)
        elif word.startswith("build/bin/"):
            words += tools.command(pathlib.Path(word).name)
        elif word == "step.mlir":
            words.append(directory / word)
        else:
            words.append(in_repository if in_repository.is_file() else word)
    began = time.perf_counter()
    usage = resources.measure(words)
    if usage.status:
        raise tools.ToolError(usage.output)
    return Run(command, time.perf_counter() - began, usage)


def plan_of(export_options: list[str], directory: pathlib.Path) -> tuple[list[Run], dict]:
    """Both runs, and the plan as JSON."""
    export, plan = readme_commands()
    runs = [
        run(export, directory, *export_options),
        run(plan, directory, "--format", "json"),
    ]
    return runs, json.loads(runs[1].usage.output)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("options", nargs="*", help="more options of the export, behind --")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        runs, report = plan_of(arguments.options, pathlib.Path(directory))
    print("| command | s | processor s | peak MB |\n|---|---|---|---|")
    for command, seconds, usage in runs:
        name = " ".join(shlex.split(command)[:3] if "-m " in command else ["amsp-plan"])
        numbers = f"{seconds:.1f} | {usage.user_seconds:.1f} | {usage.peak_bytes / 1e6:.0f}"
        print(f"| `{name}` | {numbers} |")
    plan = report["plan"]
    print(f"\n{plan['seconds'] * 1e3:.0f} ms a step, {plan['bytes'] / 1e9:.1f} GB of a rank")
    return int(arguments.check and sum(run.seconds for run in runs) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
