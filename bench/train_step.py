"""Time of a training step, beside that of JAX in the same run.

    .venv/bin/python bench/train_step.py [--rounds 3] [--steps 6] [--worlds 1,2]

The step is that of a GPT with AdamW and clipping by global norm (4 layers,
width 256, 4 heads, vocabulary 8192, sequence 128, 4 sequences a rank).
Contenders take turns, round by round, so that what else the machine does hits
all of them; a result is the median over the steps of all rounds, of each round
without its first. Every contender computes the same global batch.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

STRATEGIES = ("ddp", "zero1", "zero3")
SEQUENCES_PER_RANK = 4
MODEL = dict(layers=4, width=256, heads=4, vocabulary=8192, sequence=128)


@dataclasses.dataclass
class Contender:
    name: str
    run: Callable[[int], list[float]]  # seconds of each of that many steps
    seconds: list[float] = dataclasses.field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def config(world: int):
    from amsp.models import gpt

    return gpt.Config(batch=SEQUENCES_PER_RANK * world, **MODEL)


def arguments(world: int) -> tuple:
    """The initial state and one batch of random tokens."""
    import numpy as np

    from amsp.models import gpt

    step = config(world)
    params = gpt.init(step)
    shape = (step.batch, step.sequence + 1)
    rows = np.random.default_rng(0).integers(0, step.vocabulary, shape, np.int32)
    return params, gpt.optimizer(step).init(params), rows[:, :-1], rows[:, 1:]


def amsp_contenders(world: int, directory: pathlib.Path) -> list[Contender]:
    from amsp import export, tools
    from amsp.models import gpt

    case = export.export_step(
        gpt.train_step(config(world)),
        arguments(world),
        donate_argnums=(0, 1),
        batch_argnums=(2, 3),
        directory=directory,
    )

    def contender(strategy: str) -> Contender:
        compiled, log = directory / f"{strategy}.so", directory / "log.jsonl"
        cluster = f"levels={world}"
        step = directory / "step.mlir"
        tools.compile_step(step, compiled, cluster, strategy, case.batch_args)

        def run(steps: int) -> list[float]:
            log.unlink(missing_ok=True)
            inputs, outputs = directory / "inputs.npz", directory / "outputs.npz"
            tools.run_step(compiled, inputs, outputs, steps, "--log", log)
            lines = log.read_text().splitlines()
            return [json.loads(line)["seconds"] for line in lines]

        return Contender(f"amsp {strategy}", run)

    return [contender(strategy) for strategy in STRATEGIES]


def jax_contender(world: int, devices: int, cores: int, cache: str) -> Contender:
    """JAX in a process of its own, whose flags set the devices."""

    def run(steps: int) -> list[float]:
        environment = dict(
            os.environ,
            XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}",
            JAX_PLATFORMS="cpu",
            JAX_COMPILATION_CACHE_DIR=cache,
        )
        command = [sys.executable, __file__, "--jax", f"{world},{devices},{cores},{steps}"]
        output = subprocess.check_output(command, env=environment, text=True)
        return json.loads(output)

    kind = f"data-parallel, {devices} devices" if devices > 1 else "1 device"
    return Contender(f"JAX {kind}, {cores} core{'s' * (cores > 1)}", run)


def run_jax(world: int, devices: int, cores: int, steps: int) -> list[float]:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    import time

    import jax
    import numpy as np

    from amsp.models import gpt

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rank",))

    def placed(tree, *axes):
        spec = jax.sharding.PartitionSpec(*axes)
        return jax.device_put(tree, jax.sharding.NamedSharding(mesh, spec))

    params, opt_state, *batch = arguments(world)
    state = placed((params, opt_state))
    batch = placed(batch, "rank")
    step = jax.jit(gpt.train_step(config(world)), donate_argnums=(0, 1))
    assert len(jax.devices()) == devices
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        *state, loss = jax.block_until_ready(step(*state, *batch))
        seconds.append(time.perf_counter() - start)
    return seconds


def contenders_of(world: int, directory: pathlib.Path) -> list[Contender]:
    cores = len(os.sched_getaffinity(0))
    cache = str(directory / "jax-cache")
    jax = [jax_contender(world, 1, cores, cache)]
    if world == 1 and cores > 1:
        jax.append(jax_contender(world, 1, 1, cache))
    if world > 1:
        jax.append(jax_contender(world, world, cores, cache))
    return jax + amsp_contenders(world, directory)


def measure(contenders: list[Contender], rounds: int, steps: int) -> None:
    for _ in range(rounds):
        for contender in contenders:
            # The first step of a process compiles, or touches memory first.
            contender.seconds += contender.run(steps + 1)[1:]


def table(world: int, contenders: list[Contender]) -> list[str]:
    peer = contenders[0].median
    lines = [
        f"| {world} rank{'s' * (world > 1)} | ms a step | fastest | time / JAX 1 device |",
        "|---|---|---|---|",
    ]
    for contender in contenders:
        median, fastest = 1000 * contender.median, 1000 * min(contender.seconds)
        ratio = contender.median / peer
        lines.append(f"| {contender.name} | {median:.0f} | {fastest:.0f} | {ratio:.2f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6, help="measured in each round")
    parser.add_argument("--worlds", default="1,2", help="numbers of ranks")
    parser.add_argument("--jax", help=argparse.SUPPRESS)  # WORLD,DEVICES,CORES,STEPS
    options = parser.parse_args()
    if options.jax:
        print(json.dumps(run_jax(*map(int, options.jax.split(",")))))
        return
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for world in map(int, options.worlds.split(",")):
        with tempfile.TemporaryDirectory() as directory:
            contenders = contenders_of(world, pathlib.Path(directory))
            measure(contenders, options.rounds, options.steps)
        print("", *table(world, contenders), sep="\n", flush=True)
    print(f"\nload after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
