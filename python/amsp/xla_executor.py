"""Runs a partitioned program under XLA, as an independent check of it.

    python -m amsp.xla_executor X.mlir --inputs IN.npz --outputs OUT.npz --steps K

Several programs of one step, with as many outputs, run one after the other.

X.mlir is what `amsp-compile --emit stablehlo` writes: the program of a rank,
with `replica_groups` and `replica_id`; its manifest lies beside it in
X.mlir.manifest.json. XLA's CPU client runs it as one replica a rank. Global
inputs are cut by their placements, and global outputs joined again, before and
after every step: padding is poisoned each time, and ranks that hold the same
piece must hold the same bits.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys

import numpy as np

from amsp import arrays
from amsp import placement as placements


class ReplicatedProgram:
    """A module compiled for `world` replicas, each on a host device.

    XLA_FLAGS must ask for at least that many devices before JAX first looks
    for them; see `request_devices`.
    """

    def __init__(self, text: str, world: int):
        import jax
        from jax.extend import backend
        from jaxlib import xla_client

        devices = jax.devices("cpu")
        if len(devices) < world:
            raise RuntimeError(f"{len(devices)} host devices for {world} ranks")
        self.devices = devices[:world]
        options = xla_client.CompileOptions()
        options.num_replicas = world
        options.num_partitions = 1
        # CompileOptions does not forward these to the build options.
        build = options.executable_build_options
        build.num_replicas = world
        build.num_partitions = 1
        build.device_assignment = xla_client.DeviceAssignment.create(
            np.arange(world).reshape(world, 1)
        )
        device_list = xla_client.DeviceList(tuple(self.devices))
        client = backend.get_backend("cpu")
        self.executable = client.compile_and_load(text, device_list, options)

    def __call__(self, arguments: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
        """`arguments[i][r]`: the buffer of argument i on rank r; results alike."""
        import jax

        with jax.enable_x64(True):  # Otherwise 64-bit arguments become 32-bit.
            sharded = [self._sharded(shards) for shards in arguments]
        results = self.executable.execute_sharded(sharded)
        return [
            [np.asarray(shard) for shard in shards]
            for shards in results.disassemble_into_single_device_arrays()
        ]

    def _sharded(self, shards: list[np.ndarray]):
        """execute_sharded wants one array with a shard on every device; how the
        shards relate to the array's shape does not matter to it."""
        import jax
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(np.array(self.devices), ("rank",))
        shape = shards[0].shape
        spec = PartitionSpec("rank") if shape else PartitionSpec()
        if shape:
            shape = (shape[0] * len(shards), *shape[1:])
        return jax.make_array_from_single_device_arrays(
            shape,
            NamedSharding(mesh, spec),
            [jax.device_put(s, d) for s, d in zip(shards, self.devices, strict=True)],
        )


def request_devices(count: int) -> None:
    """Must run before JAX first looks for its devices."""
    flag = f"--xla_force_host_platform_device_count={count}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()
    os.environ["JAX_PLATFORMS"] = "cpu"


def run_step(program, manifest: dict, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """One step on global values."""
    ranks = range(manifest["world"])
    sharded = [
        [placements.shard(value, spec["placement"], rank) for rank in ranks]
        for value, spec in zip(arguments, manifest["arguments"], strict=True)
    ]
    results = []
    for index, (shards, spec) in enumerate(
        zip(program(sharded), manifest["results"], strict=True)
    ):
        try:
            value = placements.unshard(shards, spec["placement"], spec["shape"])
        except ValueError as error:
            raise ValueError(f"result {index} ({spec['name']}): {error}") from None
        results.append(value)
    return results


def execute(
    text: str, manifest: dict, arguments: list[np.ndarray], steps: int = 1
) -> list[np.ndarray]:
    """`steps` steps on the same batch; each step's state is fed to the next."""
    program = ReplicatedProgram(text, manifest["world"])
    arguments = list(arguments)
    results = []
    for _ in range(steps):
        results = run_step(program, manifest, arguments)
        for value, spec in zip(results, manifest["results"], strict=True):
            if spec.get("argument") is not None:
                arguments[spec["argument"]] = value
    return results


def load_arguments(path: str | pathlib.Path, manifest: dict) -> list[np.ndarray]:
    dtypes = {
        index: arrays.DTYPES[spec["dtype"]]
        for index, spec in enumerate(manifest["arguments"])
    }
    loaded = arrays.load(path, "arg", dtypes)
    for index, spec in enumerate(manifest["arguments"]):
        if loaded[index].shape != tuple(spec["shape"]):
            raise ValueError(
                f"{path}: arg{index} has shape {loaded[index].shape}, "
                f"expected {tuple(spec['shape'])}"
            )
    return [loaded[index] for index in range(len(loaded))]


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m amsp.xla_executor")
    parser.add_argument("programs", nargs="+", help="StableHLO texts of a rank's program")
    parser.add_argument("--manifest", help="of the only program; default: PROGRAM.manifest.json")
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--outputs", required=True, nargs="+", help="one for each program")
    parser.add_argument("--steps", type=int, default=1)
    options = parser.parse_args(argv)
    if len(options.outputs) != len(options.programs):
        parser.error(f"{len(options.programs)} programs, {len(options.outputs)} outputs")
    if options.manifest and len(options.programs) > 1:
        parser.error("--manifest names that of one program")
    return options


def main(argv: list[str] | None = None) -> int:
    options = parse(argv)
    try:
        paths = [options.manifest or f"{program}.manifest.json" for program in options.programs]
        manifests = [json.loads(pathlib.Path(path).read_text()) for path in paths]
        request_devices(max(manifest["world"] for manifest in manifests))
        for program, manifest, output in zip(options.programs, manifests, options.outputs):
            text = pathlib.Path(program).read_text()
            arguments = load_arguments(options.inputs, manifest)
            arrays.save_results(output, execute(text, manifest, arguments, options.steps))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
