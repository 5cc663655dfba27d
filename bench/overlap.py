"""How much of a step's communication is hidden, over slowed links.

    .venv/bin/python bench/overlap.py [--ranks 2] [--strategies zero3]
        [--links 'bandwidth=4e8,latency=1e-4;shared' ...] [--steps 8]
        [--microbatches M] [--realtime PRIORITY] [--check] [--keep DIR]

The step is that of a GPT with AdamW and clipping by global norm (8 layers, width 256,
vocabulary 1024, sequence 64, 4 sequences a rank and microbatch). It is compiled with
overlap off; on, knowing nothing of the cluster (`levels=N`); and on for a cluster
file with the slowed links, and with this machine's rates as amsp-profile measures
them. All run over the same slowed links. With one microbatch a step is held against
the bound of `amsp.overlap_bound`, with the compute and the communication of that very
step, as its trace has them. With several (peeled and pipelined), what is exposed of
gathers and of reductions (on the rank that comes last to each await: the others also
wait for that rank) is held against one unit: what the links need for the largest use
of a unit. For shared links, the step is also held against the simulation of the same
program, which has no others. --check: exit status 1 if a row with overlap is beyond a
limit.

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
import sys
import tempfile

import numpy as np

from amsp import export, exposure, overlap_bound, tools
from amsp.models import gpt

# What --check allows: a step against its bound, and against its simulation; with
# microbatches, what is exposed of each kind, in units.
BOUND, SIMULATED, UNITS = 1.10, 1.15, 1.0
MODEL = dict(layers=8, width=256, heads=4, vocabulary=1024, sequence=64)
SEQUENCES_PER_RANK = 4


@dataclasses.dataclass
class Links:
    """Slowed links as amsp-run takes them, for one level."""

    text: str

    @property
    def is_shared(self) -> bool:
        return "shared" in self.text

    def write_cluster(self, profile: pathlib.Path, path: pathlib.Path) -> None:
        """The measured machine with these links. A rank's channels move bytes on the
        core that it computes on: at the full rate they would take all of it, over
        slowed links the share of that rate."""
        numbers = dict(
            item.split("=") for item in self.text.split(";")[0].split(",") if "=" in item
        )
        text = profile.read_text()
        full = float(re.search(r"levels:\n.*bandwidth: ([^,}]*)", text)[1])
        for key, value in ({"latency": "0"} | numbers).items():
            text = re.sub(rf"(levels:\n.*{key}: )[^,}}]*", rf"\g<1>{value}", text)
        interference = min(1.0, float(numbers.get("bandwidth", full)) / full)
        text = re.sub(r"(?m)^collectives: .*\n?", "", text)
        path.write_text(f"{text}interference: {interference:.3f}\n")


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


def describe(
    ranks: list[exposure.Step], rank: int, manifest: dict, links: Links
) -> dict:
    """One step's numbers of a rank, in milliseconds."""
    step = ranks[rank]
    parameters = {c["id"]: c["parameters"] or [] for c in manifest["collectives"]}
    row = {"ms": step.end - step.begin}
    for name, channel in (("gathers", "gather"), ("reductions", "reduce")):
        of_channel = step.of_channel(channel)
        row[name] = sum(t.link for t in of_channel)
        row[f"awaited {name}"] = sum(t.taken - t.needed for t in of_channel)
        row[f"exposed {name}"] = overlap_bound.exposed(ranks, channel)
        row[f"one {name}"] = overlap_bound.largest_use(step, channel, parameters)
    row["compute"] = row["ms"] - row["awaited gathers"] - row["awaited reductions"]
    row["bound"] = overlap_bound.bound(step, links.is_shared)
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
        if self.given.prefetch_bytes is not None:
            common += ("--prefetch-bytes", self.given.prefetch_bytes)
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
            describe(all_ranks, rank, manifest, links)
            for all_ranks in zip(*by_rank, strict=True)
            for rank in ranks
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


def broken_limits(names: list[str], row: dict, microbatches: int) -> list[str]:
    """The limits that a row with overlap breaks, one line each."""
    limits = []
    if microbatches == 1:
        limits.append(("a step is", row["ratio"], BOUND, "times its bound"))
    else:
        for name in ("gathers", "reductions"):
            if row[f"one {name}"]:
                units = row[f"exposed {name}"] / row[f"one {name}"]
                limits.append((f"of {name} there are", units, UNITS, "units exposed"))
    if "simulated" in row:
        ratio = row["ms"] / row["simulated"]
        limits.append(("a step is", ratio, SIMULATED, "times its simulation"))
    return [
        f"{', '.join(names)}: {what} {value:.2f} {of}, of {limit:.2f} allowed"
        for what, value, limit, of in limits
        if value > limit
    ]


def run(bench: Bench, strategy: str, links: Links, profile: pathlib.Path) -> list[str]:
    """Prints the rows of one strategy over one kind of links; returns what is
    wrong with them."""
    cluster = bench.directory / "slowed.yaml"
    links.write_cluster(profile, cluster)
    nothing = f"levels={bench.given.ranks}"
    contenders = [
        ("off", nothing, ("--overlap", "off")),
        ("on", nothing, ()),
        ("on, cluster known", cluster, ()),
    ]
    bits, wrong = set(), []
    for name, given, options in contenders:
        file = re.sub(r"\W+", "-", f"{strategy} {links.text} {name}")
        compiled = bench.compile(file, strategy, given, *options)
        row = bench.measure(compiled, links)
        if given == cluster and links.is_shared:
            row["simulated"] = bench.simulate(strategy, cluster)
        bits.add(row["bits"])
        names = [strategy, links.text, name]
        print_row(names, row, bench.given.microbatches)
        if name != "off":
            wrong += broken_limits(names, row, bench.given.microbatches)
    if len(bits) > 1:
        wrong.append(f"{strategy}, {links.text}: DIFFERENT BITS")
    return wrong


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
    parser.add_argument(
        "--check", action="store_true", help="exit status 1 if a limit is broken"
    )
    parser.add_argument("--keep", type=pathlib.Path, help="programs and traces")
    given = parser.parse_args()
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
        wrong = [
            line
            for strategy in given.strategies.split(",")
            for links in given.links
            for line in run(bench, strategy, Links(links), profile)
        ]
    print("\n" + ("\n".join(wrong) or "all within the limits, the same bits"))
    if given.check and wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
