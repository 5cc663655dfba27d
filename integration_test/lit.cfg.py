"""Tests that need JAX or the example steps; each says so with REQUIRES."""

import os
import subprocess

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "amsp-integration"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.amsp_obj_root, "integration_test")

llvm_config.use_default_substitutions()
tools = [
    ToolSubst("amsp-opt", unresolved="fatal"),
    ToolSubst("amsp-compile", unresolved="ignore"),
    ToolSubst("amsp-plan", unresolved="ignore"),
    ToolSubst("amsp-run", unresolved="ignore"),
    "split-file",
]
llvm_config.add_tool_substitutions(
    tools, [config.amsp_tools_dir, config.llvm_tools_dir]
)
config.substitutions.append(("%PYTHON", config.amsp_python))
config.substitutions.append(("%CASES", config.amsp_cases_dir))


def runs(*command):
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


if runs(config.amsp_python, "-c", "import jax, numpy"):
    config.available_features.add("jax")
if os.path.isdir(config.amsp_cases_dir):
    config.available_features.add("cases")
