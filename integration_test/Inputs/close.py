"""close.py A B: the arrays of two npz files differ by rounding only."""

import sys

import numpy as np

# Of the largest value of an array. Adam divides a gradient by its own size, so
# one that is rounding noise (a key's bias) differs by more than rounding.
TOLERANCE = 2e-3


def main(first, second):
    one, two = np.load(first), np.load(second)
    if set(one.files) != set(two.files):
        sys.exit("error: the files hold arrays of other names")
    worst = 0.0
    for name in one.files:
        a, b = one[name], two[name]
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            sys.exit(f"error: {name}: {a.dtype}{a.shape} and {b.dtype}{b.shape}")
        scale = np.abs(b).max(initial=1e-6)
        off = np.abs(a.astype(np.float64) - b).max(initial=0) / scale
        if not off <= TOLERANCE:
            sys.exit(f"error: {name} differs by {off:.2e} of its largest value")
        worst = max(worst, off)
    print(f"largest difference: {worst:.1e}")


main(*sys.argv[1:])
