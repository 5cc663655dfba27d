"""Scaling efficiency on the paper's cluster from 8 to 1024 GPUs at 4 Mi tokens a
step, for the paper's strategy in its executor and for ours; prints tables.
--write puts them into docs/planner.md, --check fails if others are there."""

import argparse
import concurrent.futures
import difflib
import functools
import json
import os
import subprocess
import sys

import measured_runs

BEGIN, END = "<!-- scaling -->\n", "<!-- end of scaling -->\n"
SCALES = (8, 16, 32, 64, 128, 256, 512, 1024)
SEQUENCE, SEQUENCES = 4096, 1024  # of a step
# The paper's strategies; that of 30B is not published and assumed.
PAPER = {
    "7b": "p=1,g=1,os=8x1",
    "13b": "p=4x1,g=4x1,os=8x1",
    "30b": "p=8x1,g=8x1,os=8x1",
}
RECOMPUTE = {"7b": 0, "13b": 0, "30b": 1}
PRESETS = ("ddp", "zero1", "zero2", "zero3", "mics:8x1", "hpz:8x1")


@functools.cache
def simulate(tool, model, ranks, executor, strategy, **settings):
    """The report of a step; None if the strategy needs more memory than there is."""
    root = measured_runs.ROOT
    command = [tool, "--format", "json"]
    command += ["--executor", root / f"executors/{executor}.yaml"]
    command += ["--cluster", root / "clusters/a800-80gb-800g.yaml"]
    command += ["--model", root / f"examples/models/amsp-{model}.json"]
    command += ["--levels", f"8x{ranks // 8}", "--strategy", strategy]
    command += ["--sequence", str(SEQUENCE), "--microbatches", str(SEQUENCES // ranks)]
    command += ["--recompute", str(RECOMPUTE[model])]
    for option, value in settings.items():
        command += [f"--{option.replace('_', '-')}", str(value)]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300
    )
    if done.returncode and "fits under no strategy" in done.stderr:
        return None
    done.check_returncode()
    report = json.loads(done.stdout)
    return report if report["bytes"] <= 80e9 else None


def paper(tool, model, ranks, **settings):
    return simulate(
        tool, model, ranks, "amsp", PAPER[model], no_overlap="parameters", **settings
    )


def ours(tool, model, ranks, **settings):
    return simulate(tool, model, ranks, "compiled", "auto", **settings)


def efficiency(tool, system, model, **settings):
    small, large = (system(tool, model, ranks, **settings) for ranks in (8, 1024))
    return large["tokens_per_second"] / small["tokens_per_second"], large


def efficiencies(tool):
    lines = [
        "| model | reductions | interference | paper's | ours | ours, spread 0.02 | plan at 1024 GPUs |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        efficiency_row(tool, model, width, share)
        for model in PAPER
        for width in (2, 4)
        for share in (0, 0.1, 0.2)
    ]
    return "\n".join(lines) + "\n"


def efficiency_row(tool, model, width, share):
    settings = {"interference": share, "gradient_bytes": width}
    theirs, _ = efficiency(tool, paper, model, spread=0, **settings)
    mine, plan = efficiency(tool, ours, model, spread=0, **settings)
    spread, _ = efficiency(tool, ours, model, **settings)
    return (
        f"| {model} | {width} bytes | {share:.0%} | {theirs:.1%} | {mine:.1%} "
        f"| {spread:.1%} | `{plan['strategy']}` |"
    )


def items(tool):
    """Where a step of 7B spends more at 1024 GPUs than at 8, by microbatch."""
    lines = [
        "| ms of a microbatch | 8 GPUs | 1024 GPUs |",
        "|---|---|---|",
    ]
    columns = []
    for ranks in (8, 1024):
        report = ours(tool, "7b", ranks, interference=0.2, spread=0)
        time = dict(report["time"])
        time.pop("exposed")
        for row in report["collectives"]:
            key = f"exposed: {row['name']}"
            time[key] = time.get(key, 0) + row["exposed_seconds"]
        time["step"] = report["seconds"]
        scale = 1e3 / report["microbatches"]
        columns.append({key: value * scale for key, value in time.items()})
    for key in dict.fromkeys([*columns[0], *columns[1]]):
        cells = (f"{column.get(key, 0):.1f}" for column in columns)
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plans(tool):
    """Our plan, the paper's strategy and the best preset at each scale."""
    lines = [
        "| model | GPUs | ours | tokens/s | paper's, its executor | best preset |",
        "|---|---|---|---|---|---|",
    ]
    for model in PAPER:
        for ranks in SCALES:
            mine, theirs = ours(tool, model, ranks), paper(tool, model, ranks)
            found = {
                preset: report["tokens_per_second"]
                for preset in PRESETS
                if (report := simulate(tool, model, ranks, "compiled", preset))
            }
            best = max(found, key=found.get) if found else None
            lines.append(
                f"| {model} | {ranks} | `{mine['strategy']}` | {mine['tokens_per_second']:.0f} "
                f"| {theirs['tokens_per_second']:.0f} "
                f"| {f'{best} {found[best]:.0f}' if best else 'none fits'} |"
            )
    return "\n".join(lines) + "\n"


def with_tables(page, tool):
    """The page's text with the tables of this version."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        content = "\n".join(pool.map(lambda make: make(tool), (efficiencies, items, plans)))
    return measured_runs.replace(page, BEGIN, END, content)


def differences(old, new):
    """Lines of both that are not in the other, as a diff has them."""
    lines = old.splitlines(), new.splitlines()
    return "\n".join(difflib.unified_diff(*lines, "page", "now", n=0, lineterm=""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    tool = measured_runs.ROOT / "build/bin/amsp-plan"
    old = measured_runs.PAGE.read_text()
    new = with_tables(old, tool)
    if arguments.write:
        measured_runs.PAGE.write_text(new)
    elif arguments.check:
        sys.exit(differences(old, new) or None)
    else:
        print(new.split(BEGIN)[1].split(END)[0], end="")


if __name__ == "__main__":
    main()
