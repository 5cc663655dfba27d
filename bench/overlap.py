"""How much of a step's communication is hidden, over slowed links.

    .venv/bin/python bench/overlap.py [--ranks 2] [--strategies zero3]
        [--links 'bandwidth=4e8,latency=1e-4;shared' ...] [--steps 8]
        [--microbatches M] [--realtime PRIORITY] [--keep DIR]

The step is that of a GPT with AdamW and clipping by global norm (8 layers,
width 256, vocabulary 1024, sequence 64, 4 sequences a rank and microbatch). It
is compiled with overlap off; on, knowing nothing of the cluster (`levels=N`);
and on for a cluster file with the slowed links, and with this machine's rates
as amsp-profile measures them. All run over the same slowed links. With one
microbatch a step is held against

    sum over forward, backward and update of max(compute, communication)
    + the first gather + the last reduction

with the compute and the communication of that very step, as its trace has
them: compute is what a phase takes without its awaits; communication, what the
links need for the transfers that the phase awaits, of the busier channel, or of
both if they share the links. With several (peeled and pipelined), what is
exposed of gathers and of reductions (without what awaits a member that computes
longer) is held against one unit: what the links need for the largest use of a
unit. For shared links, the step is also held
against the simulation of the same program, which has no others.

A result is the median over ranks and steps, without the first step.
--realtime runs the steps under a realtime policy, so that what else the
machine does disturbs less.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import tempfile

import numpy as np

from amsp import export, exposure, tools
from amsp.models import gpt

MODEL = dict(layers=8, width=256, heads=4, vocabulary=1024, sequence=64)
SEQUENCES_PER_RANK = 4


@dataclasses.dataclass
class Phase:
    compute: float = 0
    gathers: float = 0
    reductions: float = 0

    def bound(self, is_shared: bool) -> float:
        both = self.gathers, self.reductions
        return max(self.compute, sum(both) if is_shared else max(both))


@dataclasses.dataclass
class Links:
    """Slowed links as amsp-run takes them, for one level."""

    text: str

    @property
    def is_shared(self) -> bool:
        return "shared" in self.text

    def write_cluster(self, profile: pathlib.Path, path: pathlib.Path) -> None:
        """The measured machine with these links."""
        numbers = dict(
            item.split("=") for item in self.text.split(";")[0].split(",") if "=" in item
        )
        text = profile.read_text()
        for key, value in ({"latency": "0"} | numbers).items():
            text = re.sub(rf"(levels:\n.*{key}: )[^,}}]*", rf"\g<1>{value}", text)
        path.write_text(re.sub(r"(?m)^collectives: .*\n?", "", text))


def export_gpt(ranks: int, microbatches: int, directory: pathlib.Path) -> export.Case:
    rows = SEQUENCES_PER_RANK * ranks * microbatches
    config = gpt.Config(batch=rows, microbatches=microbatches, **MODEL)
    params = gpt.init(config)
    shape = (config.batch, config.sequence + 1)
    tokens = np.random.default_rng(0).integers(0, config.vocabulary, shape, np.int32)
    state = gpt.optimizer(config).init(params)
    return export.export_step(
        gpt.train_step(config),
        (params, state, tokens[:, :-1], tokens[:, 1:]),
        donate_argnums=(0, 1),
        batch_argnums=(2, 3),
        directory=directory,
    )


def split(step: exposure.Step, of_parameters: set[int]) -> list[Phase]:
    """Forward, backward and update of one step, in microseconds. Forward ends
    where the first gradient's reduction starts, backward where the last does."""
    starts = [
        t.started
        for t in step.transfers
        if t.channel == "reduce" and t.id in of_parameters
    ]
    limits = [min(starts), max(starts), step.end]
    phases = [Phase(), Phase(), Phase()]

    def phase_at(time: float) -> Phase:
        return next(p for p, limit in zip(phases, limits, strict=True) if time <= limit)

    begin = step.begin
    for phase, limit in zip(phases, limits, strict=True):
        phase.compute = limit - begin
        begin = limit
    for transfer in step.transfers:
        # An await belongs to the phase that it ends in.
        awaiting = phase_at(transfer.taken)
        awaiting.compute -= transfer.taken - transfer.needed
        if transfer.channel == "gather":
            awaiting.gathers += transfer.link
        else:
            # What backward makes is to be reduced behind backward.
            phase_at(transfer.begin).reductions += transfer.link
    return phases


def largest_use(step: exposure.Step, channel: str, parameters: dict) -> float:
    """What the links need for a unit's parameters once, at most. A use of a unit
    ends where another one's begins, or where a parameter comes again."""
    largest, now, unit, moved = 0.0, 0.0, None, set()
    for transfer in step.of_channel(channel):
        own = set(parameters[transfer.id])
        if transfer.unit is None:
            continue
        if transfer.unit != unit or own & moved:
            now, unit, moved = 0.0, transfer.unit, set()
        now += transfer.link
        moved |= own
        largest = max(largest, now)
    return largest


def last_begins(ranks: list[exposure.Step]) -> dict[tuple[int, int], float]:
    """When the last rank began each transfer of a step: by id and run."""
    begins = [sorted((t.id, t.begin) for t in rank.transfers) for rank in ranks]
    last = {}
    for of_rank in begins:
        runs = {}
        for id, begin in of_rank:
            key = id, runs.setdefault(id, 0)
            runs[id] += 1
            last[key] = max(begin, last.get(key, begin))
    return last


def exposed(transfers: list[exposure.Transfer], last: dict) -> float:
    """What awaits of these transfers wait for, but for members that begin late."""
    runs, total = {}, 0.0
    for transfer in sorted(transfers, key=lambda t: (t.id, t.begin)):
        key = transfer.id, runs.setdefault(transfer.id, 0)
        runs[transfer.id] += 1
        begin = max(transfer.needed, transfer.begin)
        late = max(0.0, min(transfer.taken, last[key]) - begin)
        total += transfer.taken - transfer.needed - late
    return total


def describe(step: exposure.Step, last: dict, manifest: dict, links: Links) -> dict:
    """One step's numbers, in milliseconds."""
    parameters = {c["id"]: c["parameters"] or [] for c in manifest["collectives"]}
    row = {"ms": step.end - step.begin}
    for name, channel in (("gathers", "gather"), ("reductions", "reduce")):
        of_channel = step.of_channel(channel)
        row[name] = sum(t.link for t in of_channel)
        row[f"awaited {name}"] = sum(t.taken - t.needed for t in of_channel)
        row[f"exposed {name}"] = exposed(of_channel, last)
        row[f"one {name}"] = largest_use(step, channel, parameters)
    row["compute"] = row["ms"] - row["awaited gathers"] - row["awaited reductions"]
    of_parameters = {id for id, moved in parameters.items() if moved}
    phases = split(step, of_parameters)
    row["bound"] = sum(phase.bound(links.is_shared) for phase in phases)
    for channel, index in (("gather", 0), ("reduce", -1)):
        row["bound"] += step.of_channel(channel)[index].link if step.of_channel(channel) else 0
    return {key: value / 1e3 for key, value in row.items()}


@dataclasses.dataclass
class Bench:
    given: argparse.Namespace
    directory: pathlib.Path
    batch_args: str

    @property
    def step(self) -> pathlib.Path:
        return self.directory / "step.mlir"

    def compile(self, name: str, strategy: str, cluster, *options) -> pathlib.Path:
        compiled = self.directory / f"{name}.so"
        if self.given.microbatches > 1 and "off" not in options:
            options += ("--peel-microbatches", "--pipeline-loops")
        if self.given.prefetch_bytes is not None and "off" not in options:
            options += ("--prefetch-bytes", self.given.prefetch_bytes)
        common = ("--cluster", cluster, "--strategy", strategy)
        common += ("--batch-args", self.batch_args)
        tools.call("amsp-compile", self.step, "-o", compiled, *common, *options)
        return compiled

    def simulate(self, strategy: str, cluster: pathlib.Path) -> float:
        """Milliseconds."""
        common = ("--cluster", cluster, "--strategy", strategy)
        common += ("--batch-args", self.batch_args, "--format", "json")
        if self.given.microbatches > 1:
            common += ("--peel-microbatches", "--pipeline-loops")
        plan = json.loads(tools.call("amsp-plan", self.step, *common).stdout)
        return plan["plan"]["seconds"] * 1e3

    def measure(self, compiled: pathlib.Path, links: Links) -> dict:
        trace = compiled.with_suffix(".trace.json")
        outputs = compiled.with_suffix(".npz")
        tools.run_step(
            compiled,
            self.directory / "inputs.npz",
            outputs,
            self.given.steps + 1,
            *("--slow-links", links.text, "--trace", trace),
        )
        manifest = tools.manifest(compiled)
        steps = exposure.steps(json.loads(trace.read_text()))
        ranks = range(self.given.ranks)
        by_rank = [[s for s in steps if s.rank == rank][1:] for rank in ranks]
        rows = [
            describe(step, last_begins(all_ranks), manifest, links)
            for all_ranks in zip(*by_rank, strict=True)
            for step in all_ranks
        ]
        middle = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
        middle["ratio"] = statistics.median(row["ms"] / row["bound"] for row in rows)
        middle["arena"] = manifest["arena_bytes"] / 1e6
        middle["bits"] = outputs.read_bytes()
        return middle


def print_head(microbatches: int) -> None:
    columns = "| strategy | links | overlap | ms a step | compute | gathers | reductions "
    if microbatches == 1:
        columns += "| bound | step / bound "
    else:
        columns += "| exposed gathers | / unit | exposed reductions | / unit "
    print(columns + "| simulated | step / simulated | arena MB |")
    print("|---|---|---" + "|--:" * (columns.count("|") - 3 + 3) + "|")


def print_row(names: list[str], row: dict, microbatches: int) -> None:
    cells = [f"{row[key]:.0f}" for key in ("ms", "compute", "gathers", "reductions")]
    if microbatches == 1:
        cells += [f"{row['bound']:.0f}", f"{row['ratio']:.2f}"]
    else:
        for name in ("gathers", "reductions"):
            exposed, one = row[f"exposed {name}"], row[f"one {name}"]
            cells += [f"{exposed:.1f}", f"{exposed / one:.2f}" if one else ""]
    if "simulated" in row:
        cells += [f"{row['simulated']:.0f}", f"{row['ms'] / row['simulated']:.2f}"]
    else:
        cells += ["", ""]
    print("| " + " | ".join([*names, *cells, f"{row['arena']:.1f}"]) + " |", flush=True)


def run(bench: Bench, strategy: str, links: Links, profile: pathlib.Path) -> bool:
    """Prints the rows of one strategy over one kind of links; whether all have
    the same bits."""
    cluster = bench.directory / "slowed.yaml"
    links.write_cluster(profile, cluster)
    nothing = f"levels={bench.given.ranks}"
    contenders = [
        ("off", nothing, ("--overlap", "off")),
        ("on", nothing, ()),
        ("on, cluster known", cluster, ()),
    ]
    bits = set()
    for name, given, options in contenders:
        file = re.sub(r"\W+", "-", f"{strategy} {links.text} {name}")
        compiled = bench.compile(file, strategy, given, *options)
        row = bench.measure(compiled, links)
        if given == cluster and links.is_shared:
            row["simulated"] = bench.simulate(strategy, cluster)
        bits.add(row["bits"])
        print_row([strategy, links.text, name], row, bench.given.microbatches)
    return len(bits) == 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--strategies", default="zero3")
    default = [f"bandwidth={b},latency=1e-4;shared" for b in ("1e8", "2e8", "4e8")]
    parser.add_argument("--links", nargs="+", default=default)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--microbatches", type=int, default=1)
    parser.add_argument("--prefetch-bytes", type=int)
    parser.add_argument("--realtime", type=int, metavar="PRIORITY")
    parser.add_argument("--keep", type=pathlib.Path, help="programs and traces")
    given = parser.parse_args()
    if given.prefetch_bytes is not None and any("shared" in links for links in given.links):
        # amsp-plan has no such option.
        parser.error("--prefetch-bytes: shared links are simulated with the default bound only")
    if given.realtime is not None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(given.realtime))
    with tempfile.TemporaryDirectory() as name:
        directory = given.keep or pathlib.Path(name)
        directory.mkdir(parents=True, exist_ok=True)
        case = export_gpt(given.ranks, given.microbatches, directory)
        bench = Bench(given, directory, ",".join(map(str, case.batch_args)))
        profile = directory / "here.yaml"
        tools.call("amsp-profile", "-o", profile, "--ranks", given.ranks, "--seconds", 0.1)
        print_head(given.microbatches)
        same = [
            run(bench, strategy, Links(links), profile)
            for strategy in given.strategies.split(",")
            for links in given.links
        ]
    print("\nresults:", "the same bits" if all(same) else "DIFFERENT BITS")


if __name__ == "__main__":
    main()
