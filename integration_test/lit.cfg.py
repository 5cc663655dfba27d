"""Tests with what is outside the compiler. Features: jax, cases.

AMSP_CASES_DIR is the folder of example steps with expected results.
"""

import os
import subprocess

import lit.formats

config.name = "AMSP integration"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.amsp_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
config.environment["PYTHONPATH"] = os.path.join(config.amsp_source_dir, "python")
config.environment["JAX_PLATFORMS"] = "cpu"
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%build", config.build_dir))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(
    (
        "%with_compilers",
        f"-DCMAKE_C_COMPILER={config.c_compiler} -DCMAKE_CXX_COMPILER={config.cxx_compiler}",
    )
)
config.substitutions.append(("%scripts", os.path.join(config.test_source_root, "Inputs")))


def has_module(name):
    command = [config.python, "-c", f"import {name}"]
    return subprocess.run(command, capture_output=True).returncode == 0


if has_module("jax"):
    config.available_features.add("jax")

cases = os.environ.get("AMSP_CASES_DIR") or os.path.join(
    config.amsp_source_dir, os.pardir, "shared", "cases"
)
if os.path.isdir(cases):
    config.available_features.add("cases")
config.substitutions.append(("%cases", cases))
