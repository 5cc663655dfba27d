"""Runs steps with jaxlib's interpreter of StableHLO, which computes op by op and
shares nothing with XLA's compiler.

    python interpreter.py --steps K --state N --run STEP.mlir IN.npz OUT.npz [--run ...]

The first N results are the new values of the first N arguments. A process of its
own: the interpreter ends it where it is not able to judge (an empty result, an
integer division by 0, an unsigned dot).
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, stablehlo
from jaxlib.mlir.passmanager import PassManager

from amsp import arrays

SECONDS = 300


def copy_operands_of_scatters(module: ir.Module) -> None:
    """jaxlib's interpreter writes a scatter's result into its operand, whatever reads
    that later; a reshape is a copy."""

    def copy(operation):
        if operation.name == "stablehlo.scatter":
            with ir.InsertionPoint(operation), operation.location:
                for index in range(len(operation.results)):
                    value = operation.operands[index]
                    operation.operands[index] = stablehlo.reshape(value.type, value)
        return ir.WalkResult.ADVANCE

    module.operation.walk(copy)


class Program:
    """A module whose function `main` is interpreted."""

    def __init__(self, text: str):
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        self.context = ir.Context()
        self.context.append_dialect_registry(registry)
        self.context.load_all_available_dialects()
        # Of attributes alone, such as those that tell of aliases.
        self.context.allow_unregistered_dialects = True
        chlo.register_dialect(self.context)
        stablehlo.register_dialect(self.context)
        with self.context:
            self.module = ir.Module.parse(text)
            if "chlo." in text:
                legalize = PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))")
                legalize.run(self.module.operation)
            copy_operands_of_scatters(self.module)
            main = ir.SymbolTable(self.module.operation)["main"]
            self.types = list(main.type.inputs)

    def __call__(self, arguments: list[np.ndarray]) -> list[np.ndarray]:
        with self.context:
            values = [
                ir.DenseElementsAttr.get(np.ascontiguousarray(value), type=kind)
                for value, kind in zip(arguments, self.types, strict=True)
            ]
            return [np.array(r) for r in stablehlo.eval_module(self.module, values)]


def run(program: Program, arguments, steps: int, state: int) -> list[np.ndarray]:
    """The results of the last step."""
    arguments, results = list(arguments), []
    for _ in range(steps):
        results = program(arguments)
        arguments[:state] = results[:state]
    return results


def run_apart(runs, steps: int, state: int) -> bool:
    """In a process of its own, for each (step, inputs, outputs); whether it was able
    to judge."""
    command = [sys.executable, __file__, "--steps", str(steps), "--state", str(state)]
    for files in runs:
        command += ["--run", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode > 0:
        raise RuntimeError(f"interpreter: {done.stderr}")
    return done.returncode == 0


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python interpreter.py")
    parser.add_argument("--run", nargs=3, action="append", required=True)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--state", type=int, default=0)
    options = parser.parse_args(argv)
    stablehlo.register_stablehlo_passes()
    for step, inputs, outputs in options.run:
        with np.load(inputs) as file:
            arguments = [file[f"arg{i}"] for i in range(len(file.files))]
        program = Program(pathlib.Path(step).read_text())
        arrays.save_results(outputs, run(program, arguments, options.steps, options.state))
    return 0


if __name__ == "__main__":
    sys.exit(main())
