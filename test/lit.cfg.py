"""Tests of single passes and tools; mirrors lib/."""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "amsp"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.amsp_obj_root, "test")

llvm_config.use_default_substitutions()

# AMSP_OPT_VERIFY_ROUNDTRIP=1 checks on every run that what amsp-opt prints,
# it reads back.
roundtrip = os.environ.get("AMSP_OPT_VERIFY_ROUNDTRIP")
opt_args = ["--verify-roundtrip"] if roundtrip else []
tools = [
    ToolSubst("amsp-opt", extra_args=opt_args, unresolved="fatal"),
    ToolSubst("amsp-compile", unresolved="ignore"),
    ToolSubst("amsp-plan", unresolved="ignore"),
    ToolSubst("amsp-run", unresolved="ignore"),
    "split-file",
]
llvm_config.add_tool_substitutions(
    tools, [config.amsp_tools_dir, config.llvm_tools_dir]
)
