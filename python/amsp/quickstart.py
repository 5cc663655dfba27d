"""The main job on real text: exports a byte-level GPT, compiles it for 4 ranks
with a strategy that differs for parameters, gradients and optimizer states,
trains it, and prints each step's loss beside that of JAX on one device.

Run by scripts/quickstart.sh, which builds the tools first.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import shutil
import statistics
import sys
import time

from amsp import arrays, export, reference, tools
from amsp.models import gpt

LICENSES = pathlib.Path("/usr/share/common-licenses")
CONFIG = gpt.Config(
    layers=4, width=128, heads=4, sequence=64, batch=32, microbatches=2
)
CLUSTER = "nodes=2,gpus=2"
STRATEGY = "p=1,g=2x1,os=2x2"
# Two float32 runs that sum in other orders drift apart by this much at most.
TOLERANCE = 1e-4


def debian_text() -> bytes:
    """The licences that every Debian system carries."""
    files = sorted(
        path for path in LICENSES.glob("*") if path.is_file() and not path.is_symlink()
    )
    if not files:
        raise ValueError(f"no text in {LICENSES}")
    return b"\n".join(path.read_bytes() for path in files)


def write_batches(batches: list, case: export.Case, directory: pathlib.Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    first = case.batch_args[0]
    for index, batch in enumerate(batches):
        arrays.save_arguments(directory / f"step{index:05}.npz", batch, first)


def logged_steps(log: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def members_of_rank_0(digits: list[list[int]]) -> list[int]:
    ranks = [0]
    for stride, size in digits:
        ranks = [rank + stride * i for rank in ranks for i in range(size)]
    return ranks


def collectives_table(manifest: dict) -> list[str]:
    """Collectives of the same kind over the same group, summed over a step."""
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for collective in manifest["collectives"]:
        ranks = ",".join(map(str, members_of_rank_0(collective["digits"])))
        row = rows[collective["kind"], ranks, collective["dtype"]]
        row[0] += collective["count"]
        row[1] += collective["count"] * collective["bytes"]
        row[2] += collective["count"] * collective["sent_bytes"]
    lines = [f"{'kind':<15} {'group of rank 0':<16} type  count        bytes  sent by a rank"]
    for (kind, ranks, dtype), (count, size, sent) in sorted(rows.items()):
        lines.append(f"{kind:<15} {ranks:<16} {dtype:<5} {count:>5} {size:>12} {sent:>15}")
    return lines


def megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


def train_with_jax(config, args, batches) -> tuple[list[float], float]:
    """Losses, and the time of all steps with compilation."""
    start = time.perf_counter()
    history = reference.run(
        gpt.train_step(config), args, (0, 1), [dict(enumerate(b, 2)) for b in batches]
    )
    return [float(results[-1]) for results in history], time.perf_counter() - start


def print_losses(losses: list[float], expected: list[float]) -> float:
    print("step   4 ranks    JAX, one device   difference")
    for step, (loss, want) in enumerate(zip(losses, expected, strict=True), 1):
        print(f"{step:>4}  {loss:.6f}   {want:.6f}          {abs(loss - want):.1e}")
    return max(abs(a - b) for a, b in zip(losses, expected))


def print_report(manifest: dict, log: list[dict], process_peak: int) -> None:
    print("\ncollectives of a step:")
    print(*collectives_table(manifest), sep="\n")
    seconds = [line["seconds"] for line in log]
    print(f"\ntime per step: {1000 * statistics.median(seconds):.1f} ms (median)")
    print(
        f"memory per rank: state {megabytes(manifest['state_bytes'])}, "
        f"arena (peak) {megabytes(manifest['arena_bytes'])}; "
        f"the process of all ranks: {megabytes(process_peak)}"
    )


def quickstart(directory: pathlib.Path, steps: int) -> int:
    directory.mkdir(parents=True, exist_ok=True)
    text = debian_text()
    print(f"text: {len(text)} bytes from {LICENSES}")
    case = export.export_gpt(CONFIG, directory, text)
    batches = list(gpt.batches(CONFIG, text, steps, seed=1))
    write_batches(batches, case, directory / "batches")

    compiled, log = directory / "step.so", directory / "log.jsonl"
    print(f"compiling for {CLUSTER} with {STRATEGY}")
    start = time.perf_counter()
    tools.compile_step(
        directory / "step.mlir", compiled, CLUSTER, STRATEGY, case.batch_args
    )
    print(f"compiled in {time.perf_counter() - start:.1f} s; training {steps} steps")
    log.unlink(missing_ok=True)
    peak = tools.peak_memory(
        *("amsp-run", compiled, "--steps", steps, "--log", log),
        *("--inputs", directory / "inputs.npz", "--outputs", directory / "outputs.npz"),
        *("--batches", directory / "batches"),
    )
    logged = logged_steps(log)
    loss = f"out{len(case.state)}"
    losses = [line["outputs"][loss] for line in logged]

    params = gpt.init(CONFIG)
    args = (params, gpt.optimizer(CONFIG).init(params), *batches[0])
    expected, seconds = train_with_jax(CONFIG, args, batches)
    difference = print_losses(losses, expected)
    print(f"\nlargest difference of a loss: {difference:.1e}")
    print_report(tools.manifest(compiled), logged, peak)
    print(f"JAX on one device: {seconds:.1f} s for {steps} steps, with its compilation")
    if not difference <= TOLERANCE:
        print(f"error: the losses differ by more than {TOLERANCE}", file=sys.stderr)
        return 1
    return 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m amsp.quickstart")
    parser.add_argument("--directory", type=pathlib.Path, default="build/quickstart")
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args(argv)
    try:
        return quickstart(options.directory, options.steps)
    except (OSError, ValueError, tools.ToolError) as error:
        text = str(error)
        print(text if text.startswith("error:") else f"error: {text}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
