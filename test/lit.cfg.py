"""Tests of passes, dialects and tools, with FileCheck alone.

AMSP_VERIFY_ROUNDTRIP=1 makes every amsp-opt also print, parse and compare.
"""

import os

import lit.formats

config.name = "AMSP"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.amsp_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source", config.amsp_source_dir))
config.substitutions.append(("%build", config.build_dir))
if os.environ.get("AMSP_VERIFY_ROUNDTRIP"):
    config.substitutions.append((r"\bamsp-opt\b", "amsp-opt --verify-roundtrip"))
