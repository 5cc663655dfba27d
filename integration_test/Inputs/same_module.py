"""same_module.py A B: jaxlib reads both texts, as the same module."""

import pathlib
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir


def canonical(path):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(pathlib.Path(path).read_text())
        return module.operation.get_asm(print_generic_op_form=True)


def main(first, second):
    one, two = canonical(first).splitlines(), canonical(second).splitlines()
    for a, b in zip(one, two):
        if a != b:
            sys.exit(f"error: the modules differ:\n{a}\n{b}")
    if len(one) != len(two):
        sys.exit(f"error: {len(one)} and {len(two)} lines")
    print(f"same module of {len(one)} lines")


main(*sys.argv[1:])
