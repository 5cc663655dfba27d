"""Turns exported steps of any JAX version into the text that amsp-compile reads.

    python -m amsp.importer step.mlirbc -o step.mlir
    python -m amsp.importer step.jax_export -o step.mlir

The text of StableHLO carries no guarantee between versions; portable bytecode
(`.mlirbc`) and the artifacts of `jax.export` do. What a file is, its content
tells; text of the pinned version is read, too. Locations, which hold the names
of arguments, are kept. Refused is what was partitioned already, or is not one
program of static shapes.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import re
import sys

from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from amsp.export import verify_outputs, write_text

BYTECODE = b"ML\xefR"


def artifact_module(data: bytes, where: str) -> bytes:
    """The portable bytecode in what jax.export.Exported.serialize made."""
    from jax import export

    try:
        exported = export.deserialize(bytearray(data))
    except ImportError as error:
        raise ValueError(f"{where}: {error}") from None
    # The reader of the format trusts its input: any offset may be wrong.
    except Exception as error:
        # What is not about the format is about the reader's own buffers.
        is_reason = isinstance(error, ValueError) and not isinstance(error, UnicodeError)
        reason = " ".join(str(error).split()) if is_reason else ""
        raise ValueError(
            f"{where}: neither text, nor portable bytecode, nor an artifact of "
            "jax.export" + (f": {reason}" if reason else "")
        ) from None
    if exported.nr_devices != 1:
        raise ValueError(
            f"{where}: exported for {exported.nr_devices} devices; export the step "
            "for one device, without shardings"
        )
    if len(exported.platforms) != 1:
        names = ", ".join(exported.platforms)
        raise ValueError(
            f"{where}: exported for several platforms ({names}); export it for one"
        )
    return exported.mlir_module_serialized


def parse(data: bytes, where: str) -> ir.Module:
    """Within a context."""
    is_text = b"\0" not in data
    if not is_text and not data.startswith(BYTECODE):
        data = artifact_module(data, where)
    try:
        if is_text:
            return ir.Module.parse(data.decode())
        # The producer is named behind the magic and the bytecode's version.
        if data[5:].startswith(b"StableHLO"):
            return stablehlo.deserialize_portable_artifact(ir.Context.current, data)
        return ir.Module.parse(data)
    except (ir.MLIRError, ValueError) as error:
        reason = str(error).strip().replace("\n", " ")
        raise ValueError(f"{where}: cannot be read: {reason}") from None


def verify_one_device(module: ir.Module, where: str) -> None:
    attributes = module.operation.attributes
    for name in ("mhlo.num_partitions", "mhlo.num_replicas"):
        if name in attributes and (count := ir.IntegerAttr(attributes[name]).value) > 1:
            raise ValueError(
                f"{where}: is for {count} devices ('{name}'); export the step for "
                "one device"
            )
    for op in module.body.operations:
        if op.operation.name != "sdy.mesh":
            continue
        axes = re.findall(r'"[^"]*"=(\d+)', str(op.operation.attributes["mesh"]))
        if (count := math.prod(map(int, axes))) > 1:
            raise ValueError(
                f"{where}: has a mesh of {count} devices; export the step for one "
                "device, without shardings"
            )


def verify_static(module: ir.Module, where: str) -> None:
    for op in module.body.operations:
        name = op.attributes["sym_name"] if "sym_name" in op.attributes else None
        if op.operation.name != "func.func" or ir.StringAttr(name).value != "main":
            continue
        for index, argument in enumerate(op.regions[0].blocks[0].arguments):
            if "?" in str(argument.type):
                raise ValueError(
                    f"{where}: argument {index} has a symbolic shape: {argument.type}; "
                    "export the step for one shape"
                )


def import_step(data: bytes, where: str = "the step") -> str:
    """The text, with locations, of a step in any of the formats."""
    with make_ir_context():
        module = parse(data, where)
        verify_one_device(module, where)
        verify_static(module, where)
        return module.operation.get_asm(enable_debug_info=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m amsp.importer")
    parser.add_argument(
        "step", type=pathlib.Path, help="portable bytecode, an artifact, or text"
    )
    parser.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    options = parser.parse_args(argv)
    try:
        verify_outputs([options.out], [options.step])
        write_text(
            options.out, import_step(options.step.read_bytes(), str(options.step))
        )
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
