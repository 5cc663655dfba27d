"""Simulates the measured runs of other systems, executors/runs.json, and beside
each our own program (executors/compiled.yaml) under the same strategy and under
the one that it would choose; prints a table, and --write puts it into
docs/planner.md."""

import argparse
import functools
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/planner.md"
BEGIN, END = "<!-- measured runs -->\n", "<!-- end of measured runs -->\n"
OPTIONS = ("strategy", "levels", "sequence", "microbatch", "microbatches", "overlap")
# What of a run's executor is said of ours, too.
SHARED_OPTIONS = ("gradient_bytes", "recompute")


def command(settings, tool):
    line = [tool, "--format", "json"]
    line += ["--executor", ROOT / "executors" / f"{settings['executor']}.yaml"]
    line += ["--cluster", ROOT / "clusters" / f"{settings['cluster']}.yaml"]
    line += ["--model", ROOT / "examples/models" / f"{settings['model']}.json"]
    for option in OPTIONS:
        line += [f"--{option}", str(settings[option])]
    for option in SHARED_OPTIONS:
        if option in settings:
            line += [f"--{option.replace('_', '-')}", str(settings[option])]
    if settings["no_overlap"]:
        line += ["--no-overlap", ",".join(settings["no_overlap"])]
    return [str(word) for word in line]


def simulate(settings, tool):
    return json.loads(run(tuple(command(settings, tool))))


@functools.cache
def run(line):
    """What the tool prints: runs that differ in their overlap have ours in common."""
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def simulate_ours(settings, tool):
    """Tokens per rank and second of our program under the same strategy, and
    those of its own choice, with that."""
    settings = {**settings, "executor": "compiled", "overlap": "on", "no_overlap": []}
    same = simulate(settings, tool)
    best = simulate({**settings, "strategy": "auto"}, tool)
    return same["tokens_per_second"], best["tokens_per_second"], best["strategy"]


def load(tool):
    """The groups of runs. Each run has all its settings, `measured` and
    `simulated` (tokens per rank and second), of both the seconds of a
    microbatch and those lost against the group's first run, and of our program
    `ours`, `best` and `plan`."""
    groups = json.loads((ROOT / "executors/runs.json").read_text())
    for group in groups:
        shared = {key: value for key, value in group.items() if key != "runs"}
        default = {"microbatch": 1, "overlap": "on", "no_overlap": []}
        group["runs"] = [{**default, **shared, **run} for run in group["runs"]]
        for run in group["runs"]:
            report = simulate(run, tool)
            run["simulated"] = report["tokens_per_second"]
            run["ours"], run["best"], run["plan"] = simulate_ours(run, tool)
            tokens = report["tokens"] / report["microbatches"]
            for kind in ("measured", "simulated"):
                run[f"{kind}_seconds"] = tokens / run[kind]
                first = group["runs"][0][f"{kind}_seconds"]
                run[f"{kind}_loss"] = run[f"{kind}_seconds"] - first
    return groups


def share(run, kind):
    return f"{run[f'{kind}_loss'] / run[f'{kind}_seconds']:.1%}"


def table(groups):
    lines = [
        "| run | levels | microbatches | measured | simulated | | lost, measured | simulated "
        "| ours, same strategy | ours | our strategy |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for group in groups:
        for run in group["runs"]:
            cells = [group["name"], run["levels"], run["microbatches"]]
            if group.get("unit") == "order":
                cells += [f"{run['executor']}: {run['measured']}", f"{run['simulated']:.0f}"]
                cells += ["", "", ""]
            else:
                error = run["simulated"] / run["measured"] - 1
                cells += [run["measured"], f"{run['simulated']:.0f}", f"{error:+.1%}"]
                is_first = run is group["runs"][0]
                cells += ["", ""] if is_first else [share(run, "measured"), share(run, "simulated")]
            cells += [f"{run['ours']:.0f}", f"{run['best']:.0f}", f"`{run['plan']}`"]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def replace(page, begin, end, content):
    before, rest = page.split(begin)
    return before + begin + content + end + rest.split(end)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    content = table(load(ROOT / "build/bin/amsp-plan"))
    if parser.parse_args().write:
        PAGE.write_text(replace(PAGE.read_text(), BEGIN, END, content))
    else:
        print(content, end="")


if __name__ == "__main__":
    main()
