"""Time of amsp-compile by pass, for one model at several depths.

    .venv/bin/python bench/compile_time.py [--layers 8,20,40,80] [--rounds 3]

The step is that of Llama 3.1 70B with that many layers, one by one (shapes
only), one sequence of 4096 tokens a rank, under zero3 on 8 ranks. Prints a
table in Markdown: seconds of each pass that takes a hundredth of the whole, the
least of all rounds, and the factor between the last two depths. Passes run on
one thread, but for those on kernels.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import sys
import tempfile

from amsp import export, resources, tools
from amsp.models import llama
from amsp.models.language import LanguageModel

CONFIG = tools.REPOSITORY / "examples" / "models" / "llama-3.1-70b.json"
LINE = re.compile(r"\s+[\d.]+ \(.*?\)\s+([\d.]+) \(.*?\)  (\s*)(\S.*)")


@dataclasses.dataclass
class Compilation:
    seconds: dict[tuple[str, int], float]  # by pass, and its how-manieth run
    peak: int  # bytes
    ops: int


def export_model(layers: int, ranks: int, path: pathlib.Path) -> int:
    config = dataclasses.replace(llama.Config.read(CONFIG), num_hidden_layers=layers)
    export.export_language_model(LanguageModel("llama", config, 4096, ranks), path)
    return len(re.findall(r"(?:stablehlo|chlo)\.\w+[ (]", path.read_text()))


def passes_of(report: str) -> dict[tuple[str, int], float]:
    """Of MLIR's timing report; passes that run often are told apart by order."""
    seconds, count = {}, {}
    for line in report.splitlines():
        match = LINE.fullmatch(line)
        # A pipeline's line repeats those of its passes.
        if match and "Pipeline" not in match[3] and not match[3].startswith("(A)"):
            name = match[3] if match[2] or match[3] == "Total" else f"*{match[3]}*"
            count[name] = count.get(name, 0) + 1
            seconds[name, count[name]] = float(match[1])
    return seconds


def compile_once(step: pathlib.Path, output: pathlib.Path, ranks: int) -> Compilation:
    command = tools.command("amsp-compile", step, "-o", output, "--strategy", "zero3")
    command += ["--cluster", f"levels={ranks}", "--mlir-timing"]
    usage = resources.measure(command)
    if usage.status:
        raise tools.ToolError(usage.output)
    return Compilation(passes_of(usage.output), usage.peak_bytes, 0)


def least(rounds: list[Compilation]) -> Compilation:
    best = rounds[0]
    for other in rounds[1:]:
        for name, seconds in other.seconds.items():
            best.seconds[name] = min(best.seconds[name], seconds)
    return best


def print_table(found: dict[int, Compilation]) -> None:
    depths = list(found)
    last = found[depths[-1]]
    print("| pass | " + " | ".join(f"{d} layers" for d in depths) + " | factor |")
    print("|---" * (len(depths) + 2) + "|")
    row = lambda name, cells: print(f"| {name} | " + " | ".join(cells) + " |")
    row("ops of the step", [str(found[d].ops) for d in depths] + [""])
    for key, seconds in last.seconds.items():
        if seconds < 0.01 * last.seconds["Total", 1]:
            continue
        values = [found[d].seconds.get(key, 0.0) for d in depths]
        factor = f"{values[-1] / values[-2]:.1f}" if len(values) > 1 else ""
        row(key[0], [f"{value:.2f}" for value in values] + [factor])
    row("peak memory, MB", [f"{found[d].peak / 1e6:.0f}" for d in depths] + [""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", default="8,20,40,80")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=8)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for layers in map(int, options.layers.split(",")):
            step = directory / "step.mlir"
            ops = export_model(layers, options.ranks, step)
            rounds = [
                compile_once(step, directory / "step.so", options.ranks)
                for _ in range(options.rounds)
            ]
            found[layers] = least(rounds)
            found[layers].ops = ops
    print_table(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
