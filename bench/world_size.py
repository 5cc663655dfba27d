"""Time and size of a compiled step on 8 ranks and on 1024.

    .venv/bin/python bench/world_size.py [--layers 8] [--worlds 8,8x128] [--rounds 5]

The step is that of Llama 3.1 70B with that many layers (shapes only), one
sequence of 4096 tokens a rank, under zero3: all ranks run one program, so only
numbers differ. The worlds are compiled in turn; prints the medians of
amsp-compile's processor time, the bytes of the shared library, and quotients to
the first world. Exits with 1 if one differs by more than a tenth.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import pathlib
import statistics
import sys
import tempfile

from amsp import resources, tools
from compile_time import export_model


@dataclasses.dataclass
class World:
    levels: str
    step: pathlib.Path
    seconds: list[float] = dataclasses.field(default_factory=list)
    bytes: int = 0

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def compile_once(world: World) -> None:
    output = world.step.with_suffix(".so")
    given = ("--cluster", f"levels={world.levels}", "--strategy", "zero3")
    usage = resources.measure(tools.command("amsp-compile", world.step, "-o", output, *given))
    if usage.status:
        raise tools.ToolError(usage.output)
    world.seconds.append(usage.user_seconds)
    world.bytes = output.stat().st_size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--worlds", default="8,8x128")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        worlds = []
        for levels in given.worlds.split(","):
            step = pathlib.Path(name) / f"{levels}.mlir"
            export_model(given.layers, math.prod(map(int, levels.split("x"))), step)
            worlds.append(World(levels, step))
        for _ in range(given.rounds):
            for world in worlds:
                compile_once(world)
    print("| ranks | processor time, s | quotient | bytes | quotient |\n|---|---|---|---|---|")
    first, equal = worlds[0], True
    for world in worlds:
        time, size = world.median / first.median, world.bytes / first.bytes
        equal &= max(abs(time - 1), abs(size - 1)) <= 0.1
        print(f"| {world.levels} | {world.median:.2f} | {time:.3f} | {world.bytes} | {size:.3f} |")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
