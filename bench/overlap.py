"""How much of a step's communication is hidden, over slowed links.

    .venv/bin/python bench/overlap.py [--ranks 2] [--strategy zero3]
        [--links bandwidth=1e8,latency=1e-4] [--steps 5]

The step is that of a GPT with AdamW and clipping by global norm (8 layers,
width 256, vocabulary 1024, sequence 64, 4 sequences a rank). It is compiled
with overlap on and off, runs over the same slowed links, and is held against

    sum over forward, backward and update of max(compute, communication)
    + the first gather + the last reduction

with the compute and the communication of that very step, as its trace has
them: compute is what a phase takes without its awaits; communication, what the
links need for the transfers that the phase awaits, of the busier channel. A
result is the median over ranks and steps, without the first step.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import pathlib
import statistics
import tempfile

import numpy as np

from amsp import export, tools
from amsp.models import gpt

MODEL = dict(layers=8, width=256, heads=4, vocabulary=1024, sequence=64)
SEQUENCES_PER_RANK = 4


@dataclasses.dataclass
class Phase:
    compute: float = 0
    gathers: float = 0
    reductions: float = 0

    @property
    def bound(self) -> float:
        return max(self.compute, self.gathers, self.reductions)


def export_gpt(ranks: int, directory: pathlib.Path) -> export.Case:
    config = gpt.Config(batch=SEQUENCES_PER_RANK * ranks, **MODEL)
    params = gpt.init(config)
    shape = (config.batch, config.sequence + 1)
    rows = np.random.default_rng(0).integers(0, config.vocabulary, shape, np.int32)
    state = gpt.optimizer(config).init(params)
    return export.export_step(
        gpt.train_step(config),
        (params, state, rows[:, :-1], rows[:, 1:]),
        donate_argnums=(0, 1),
        batch_argnums=(2, 3),
        directory=directory,
    )


def steps_of(trace: dict) -> list[tuple[dict, list[dict]]]:
    """Each step of each rank but the first, with the events in it."""
    by_rank = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("ph") == "X":
            by_rank[event["pid"]].append(event)
    found = []
    for events in by_rank.values():
        for step in sorted((e for e in events if e["cat"] == "step"), key=start)[1:]:
            inside = [e for e in events if start(step) <= start(e) <= end(step)]
            found.append((step, sorted(inside, key=start)))
    return found


def start(event: dict) -> float:
    return event["ts"]


def end(event: dict) -> float:
    return event["ts"] + event["dur"]


def split(step: dict, events: list[dict], of_parameters: set[int]) -> list[Phase]:
    """Forward, backward and update of one step, in microseconds. Forward ends
    where the first gradient's reduction starts, backward where the last does."""
    starts = [
        start(e)
        for e in events
        if e["cat"] == "start"
        and e["args"]["channel"] == "reduce"
        and e["args"]["id"] in of_parameters
    ]
    limits = [starts[0], starts[-1], end(step)]
    phases = [Phase(), Phase(), Phase()]

    def phase_at(time: float) -> Phase:
        return next(p for p, limit in zip(phases, limits, strict=True) if time <= limit)

    begin = start(step)
    for phase, limit in zip(phases, limits, strict=True):
        phase.compute = limit - begin
        begin = limit
    awaited = {}
    for event in events:
        if event["cat"] == "await":
            # An await belongs to the phase that it ends in.
            awaited[event["args"]["id"]] = phase = phase_at(end(event))
            phase.compute -= event["dur"]
    for event in events:
        if event["cat"] != "transfer":
            continue
        if event["args"]["channel"] == "gather":
            phase = awaited.get(event["args"]["id"], phases[0])
            phase.gathers += event["args"]["link_us"]
        else:
            # What backward makes is to be reduced behind backward.
            phase_at(start(event)).reductions += event["args"]["link_us"]
    return phases


def transfer_times(events: list[dict], channel: str) -> list[float]:
    return [
        e["args"]["link_us"]
        for e in events
        if e["cat"] == "transfer" and e["args"]["channel"] == channel
    ]


def measure(compiled: pathlib.Path, inputs, links: str, steps: int) -> dict:
    trace = compiled.with_suffix(".trace.json")
    outputs = compiled.with_suffix(".npz")
    tools.run_step(
        compiled, inputs, outputs, steps + 1, "--slow-links", links, "--trace", trace
    )
    manifest = tools.manifest(compiled)
    of_parameters = {
        c["id"]
        for c in manifest["collectives"]
        if c["channel"] == "reduce" and c["parameters"]
    }
    rows = []
    for step, events in steps_of(json.loads(trace.read_text())):
        phases = split(step, events, of_parameters)
        ends = transfer_times(events, "gather")[:1]
        ends += transfer_times(events, "reduce")[-1:]
        bound = sum(phase.bound for phase in phases) + sum(ends)
        rows.append(
            {
                "ms": step["dur"] / 1e3,
                "compute": sum(p.compute for p in phases) / 1e3,
                "gathers": sum(p.gathers for p in phases) / 1e3,
                "reductions": sum(p.reductions for p in phases) / 1e3,
                "bound": bound / 1e3,
                "ratio": step["dur"] / bound,
            }
        )
    middle = {key: statistics.median(r[key] for r in rows) for key in rows[0]}
    middle["arena_mb"] = manifest["arena_bytes"] / 1e6
    middle["bits"] = outputs.read_bytes()
    return middle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--strategy", default="zero3")
    parser.add_argument("--links", default="bandwidth=1e8,latency=1e-4")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--prefetch-bytes", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        case = export_gpt(given.ranks, directory)
        rows = {}
        for overlap in ("off", "on"):
            compiled = directory / f"{overlap}.so"
            options = ["--overlap", overlap]
            if overlap == "on" and given.prefetch_bytes is not None:
                options += ["--prefetch-bytes", str(given.prefetch_bytes)]
            tools.call(
                "amsp-compile",
                directory / "step.mlir",
                *("-o", compiled, "--cluster", f"levels={given.ranks}"),
                *("--strategy", given.strategy),
                *("--batch-args", ",".join(map(str, case.batch_args))),
                *options,
            )
            inputs = directory / "inputs.npz"
            rows[overlap] = measure(compiled, inputs, given.links, given.steps)
    print("| overlap | ms a step | compute | gathers | reductions | bound | / bound | arena MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for overlap, row in rows.items():
        print(
            f"| {overlap} | {row['ms']:.0f} | {row['compute']:.0f} | {row['gathers']:.0f} "
            f"| {row['reductions']:.0f} | {row['bound']:.0f} | {row['ratio']:.2f} "
            f"| {row['arena_mb']:.1f} |"
        )
    same = rows["on"]["bits"] == rows["off"]["bits"]
    print("\nresults:", "the same bits" if same else "DIFFERENT BITS")


if __name__ == "__main__":
    main()
