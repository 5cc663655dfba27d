"""Compares results with a float64 reference; XLA's own float32 error is the
yardstick.

    python -m amsp.check DIR OUT.npz

DIR holds `expected64.npz` and `expected.npz`: the results of XLA on one device
in float64 and in float32. A result may be off by 5 times the largest error of
XLA's float32 run, plus 1e-5 of the largest value. Exits with 1 and names the
results that are off further.

A step that computes in 16 bits rounds more coarsely, and where is up to the
compiler: XLA leaves out roundings within a fusion, ranks round their parts of a
sum. How a scalar such as the loss comes out of that is chance, so XLA's error is
one sample and may be far too small. If `DIR/step.mlir` has a float type of 16
bits and XLA's run shows its roundings (some result is off by more than 1e-5 of
its largest value), each result may be off by one rounding of that type more: 2^-8
of the largest value for bfloat16, 2^-11 for float16.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import sys

import ml_dtypes
import numpy as np

YARDSTICKS = 5
OF_LARGEST = 1e-5
TINY = 1e-12
# One rounding, of 1.
ROUNDINGS = {"bf16": 2**-8, "f16": 2**-11}


@dataclasses.dataclass
class Comparison:
    worst: float  # The largest ratio of an error to what is allowed.
    faults: list[str]


def largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def allowed_error(
    reference: np.ndarray, reference64: np.ndarray, rounding: float = 0.0
) -> float:
    error = largest(reference - reference64)
    return YARDSTICKS * error + (OF_LARGEST + rounding) * largest(reference64) + TINY


def rounding_of(step: str, references: dict, references64: dict) -> float:
    """Of 1, in the coarsest 16-bit type of the step's text; 0 if it has none, or if
    its roundings reach no result."""
    named = set(re.findall(r"[x<](bf16|f16)>", step))
    reached = any(
        largest(number(references[name]) - exact)
        > OF_LARGEST * largest(exact) + TINY
        for name, exact in references64.items()
    )
    return max((ROUNDINGS[name] for name in named), default=0.0) if reached else 0.0


def compare(
    results: dict, references: dict, references64: dict, rounding: float = 0.0
) -> Comparison:
    """Dictionaries by name; the float32 references say which type is right. Each
    result may be off by `rounding` of its largest value more."""
    comparison = Comparison(0.0, [])
    for name, reference64 in references64.items():
        reference, result = references[name], results.get(name)
        if result is None:
            comparison.faults.append(f"{name}: missing")
            continue
        if (result.dtype, result.shape) != (reference.dtype, reference64.shape):
            comparison.faults.append(
                f"{name}: {result.dtype}{list(result.shape)}, expected "
                f"{reference.dtype}{list(reference64.shape)}"
            )
            continue
        error = largest(number(result) - reference64.astype(np.float64))
        allowed = allowed_error(
            number(reference), reference64.astype(np.float64), rounding
        )
        comparison.worst = max(comparison.worst, error / allowed)
        if not error <= allowed:  # A NaN is a fault.
            comparison.faults.append(f"{name}: off by {error:.3g}, allowed {allowed:.3g}")
    return comparison


def number(value: np.ndarray) -> np.ndarray:
    """bfloat16 travels as its bits in uint16."""
    if value.dtype == np.uint16:
        value = value.view(ml_dtypes.bfloat16)
    return value.astype(np.float64)


def read(path: str | pathlib.Path) -> dict:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def check_case(directory: str | pathlib.Path, out: str | pathlib.Path) -> Comparison:
    return compare(read(out), *references(directory))


def references(directory: str | pathlib.Path) -> tuple[dict, dict, float]:
    """What a case's results are compared with: `compare`'s last three arguments."""
    directory = pathlib.Path(directory)
    narrow = read(directory / "expected.npz")
    exact = read(directory / "expected64.npz")
    step = directory / "step.mlir"
    text = step.read_text() if step.exists() else ""
    return narrow, exact, rounding_of(text, narrow, exact)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m amsp.check")
    parser.add_argument("case", help="directory with expected.npz and expected64.npz")
    parser.add_argument("results", help="OUT.npz")
    options = parser.parse_args(argv)
    try:
        comparison = check_case(options.case, options.results)
    except (OSError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"worst ratio to what is allowed: {comparison.worst:.3f}")
    print(*comparison.faults, sep="\n", end="\n" if comparison.faults else "")
    return 1 if comparison.faults else 0


if __name__ == "__main__":
    sys.exit(main())
