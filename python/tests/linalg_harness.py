"""Runs a JAX function through amsp-lower-to-linalg and upstream's lowering.

The function is exported as StableHLO, lowered to a shared library without any
part of the project's own code generator, and called through ctypes on memref
descriptors. What it returns can be compared with JAX or numpy.
"""

import ctypes
import os
import subprocess
from pathlib import Path

import jax
import numpy as np

import interpreter

RANDOM = np.random.default_rng(7)
FIRST_STATE = RANDOM.bit_generator.state
REPOSITORY = Path(__file__).resolve().parents[2]
BUILD_DIR = Path(os.environ.get("AMSP_BUILD_DIR", REPOSITORY / "build"))
LLVM_BIN = Path(os.environ.get("LLVM_BIN_DIR", "/usr/lib/llvm-22/bin"))
LLVM_LIB = LLVM_BIN.parent / "lib"

LOWERING = ",".join(
    [
        "one-shot-bufferize{bufferize-function-boundaries"
        " function-boundary-type-conversion=identity-layout-map"
        " allow-return-allocs-from-loops}",
        "func.func(buffer-hoisting)",
        "buffer-results-to-out-params{hoist-static-allocs=true"
        " modify-public-functions=true}",
        "func.func(convert-linalg-to-loops)",
        "canonicalize",
        "expand-strided-metadata",
        "lower-affine",
        "convert-scf-to-cf",
        "func.func(llvm-request-c-wrappers)",
        "convert-math-to-llvm",
        "convert-math-to-libm",
        "convert-to-llvm",
        "reconcile-unrealized-casts",
    ]
)


def run_tool(*command, stdin=None):
    """Runs a tool and returns what it prints; its errors become ours."""
    done = subprocess.run(
        [str(part) for part in command],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr[:4000]}")
    return done.stdout


def to_linalg(stablehlo_text):
    return run_tool(
        BUILD_DIR / "bin/amsp-opt",
        "--amsp-legalize-chlo",
        "--amsp-lower-to-linalg",
        stdin=stablehlo_text,
    )


def build_library(linalg_text, path):
    llvm_dialect = run_tool(
        BUILD_DIR / "bin/amsp-opt",
        f"--pass-pipeline=builtin.module({LOWERING})",
        stdin=linalg_text,
    )
    ir = path.with_suffix(".ll")
    ir.write_text(
        run_tool(LLVM_BIN / "mlir-translate", "--mlir-to-llvmir", stdin=llvm_dialect)
    )
    run_tool(
        LLVM_BIN / "clang",
        *("-O2", "-march=native", "-fPIC", "-shared", "-Wno-override-module"),
        *(ir, "-o", path, "-lm"),
        # memrefCopy, for copies between different layouts
        *(f"-L{LLVM_LIB}", f"-Wl,-rpath,{LLVM_LIB}", "-lmlir_c_runner_utils"),
    )


def make_descriptor(array):
    """A memref descriptor: allocated, aligned, offset, sizes, strides."""
    fields = [array.ctypes.data, array.ctypes.data, 0, *array.shape]
    fields += [stride // array.itemsize for stride in array.strides]
    return (ctypes.c_int64 * len(fields))(*fields)


class Lowered:
    """A function compiled from its linalg form; `edit` changes its text first."""

    def __init__(self, function, arguments, directory, name="f", edit=lambda text: text):
        exported = jax.jit(function, keep_unused=True).lower(*arguments)
        self.tree = jax.tree.structure(exported.out_info)
        self.results = jax.tree.leaves(exported.out_info)
        self.linalg = to_linalg(edit(exported.as_text()))
        path = Path(directory) / f"{name}.so"
        build_library(self.linalg, path)
        self.entry = ctypes.CDLL(str(path))["_mlir_ciface_main"]

    def __call__(self, *arguments):
        inputs = [np.array(a, order="C") for a in jax.tree.leaves(arguments)]
        outputs = [np.zeros(r.shape, r.dtype) for r in self.results]
        descriptors = [make_descriptor(a) for a in inputs + outputs]
        self.entry(*(ctypes.byref(d) for d in descriptors))
        return jax.tree.unflatten(self.tree, outputs)


def normal(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


def assert_same(actual, expected, rtol, atol):
    """Compares two trees of arrays, naming the result that differs."""
    expected_leaves = jax.tree.leaves_with_path(expected)
    actual_leaves = jax.tree.leaves(actual)
    assert len(expected_leaves) == len(actual_leaves)
    for (path, want), got in zip(expected_leaves, actual_leaves):
        name = jax.tree_util.keystr(path)
        want = np.asarray(want)
        assert got.dtype == want.dtype and got.shape == want.shape, name
        if want.dtype.kind in "biu":
            np.testing.assert_array_equal(got, want, err_msg=name)
        else:
            np.testing.assert_allclose(
                got.astype(np.float64),
                want.astype(np.float64),
                rtol=rtol,
                atol=atol,
                err_msg=name,
            )


def interpret(function, arguments):
    """What jaxlib's interpreter of StableHLO makes of the function, as amsp-opt prints
    it, without what is chlo's and what nothing reads."""
    exported = jax.jit(function, keep_unused=True).lower(*arguments)
    tool = BUILD_DIR / "bin/amsp-opt"
    text = run_tool(tool, "--amsp-legalize-chlo", "--remove-dead-values", stdin=exported.as_text())
    results = interpreter.Program(text)([np.asarray(a) for a in jax.tree.leaves(arguments)])
    return jax.tree.unflatten(jax.tree.structure(exported.out_info), results)


def check(
    tmp_path, function, *arguments, rtol=1e-5, atol=1e-6, interpreted=False, unjudged=()
):
    """Against XLA, and against jaxlib's interpreter, which shares nothing with XLA, but
    for the `unjudged` among the results' names: it ends the process at an empty result,
    a division by 0 or an unsigned dot, and does as it likes where the specification
    leaves it open (positions out of range, NaN as keys, the type of an accumulation)."""
    lowered = Lowered(function, arguments, tmp_path)
    found = lowered(*arguments)
    assert_same(found, jax.jit(function)(*arguments), rtol=rtol, atol=atol)
    if interpreted or unjudged:
        judged = function
        if unjudged:
            assert set(unjudged) < found.keys()
            found = {name: value for name, value in found.items() if name not in unjudged}

            def judged(*arguments):
                results = function(*arguments)
                return {name: results[name] for name in found}

        assert_same(found, interpret(judged, arguments), rtol=rtol, atol=atol)
    return lowered
