"""Which cases, grids and strategies are tested together."""

CASES = ("mlp_momentum", "gpt_adamw", "gpt_masked_loss", "gpt_accumulate")
# Levels, innermost first.
GRIDS = (
    *((world,) for world in (1, 2, 3, 4, 6, 8, 12)),
    *((2, 2), (4, 2), (2, 4), (3, 2), (2, 3)),
)


def cluster(grid) -> str:
    return "levels=" + "x".join(map(str, grid))


def factors(*values) -> str:
    return "x".join(map(str, values))


def smallest_factor(size: int) -> int:
    return next((f for f in range(2, size + 1) if size % f == 0), 1)


def inner_part(grid) -> str:
    """A factor of the innermost level that is smaller than it, if it has one; all
    of it where there are levels above."""
    inner, outer = grid[0], grid[1:]
    return factors(inner, *[1] * len(outer)) if outer else str(smallest_factor(inner))


def presets(grid) -> list[str]:
    part = inner_part(grid)
    return ["ddp", "zero1", "zero2", "zero3", f"mics:{part}", f"hpz:{part}"]


def strategies(grid) -> list[str]:
    """Every preset, and strategies that mix them, on this grid."""
    inner, outer = grid[0], grid[1:]
    if not outer:
        part, all_ = smallest_factor(inner), inner
        mixed = [
            f"p=1,g={part},os={all_}",
            f"p={part},g={part},os={all_}",
            f"p={part},g={all_},os={all_}",
            f"p=1,g=1,os={part}",
            f"os={part}",
        ]
    else:
        ones = [1] * len(outer)
        part, all_ = factors(inner, *ones), factors(*grid)
        across = factors(1, *outer)
        half = factors(smallest_factor(inner), *ones)
        mixed = [
            f"p=1,g={part},os={all_}",
            f"p={part},g={part},os={all_}",
            f"p={across},g={across},os={all_}",
            f"p=1,g={across},os={all_}",
            f"p={half},g={part},os={all_}",
            f"p=1,g=1,os={half}",
            f"p={across},os={across}",
        ]
    return list(dict.fromkeys(presets(grid) + mixed))


def full() -> list[tuple]:
    """(case, cluster, strategy)"""
    return [
        (case, cluster(grid), strategy)
        for case in CASES
        for grid in GRIDS
        for strategy in strategies(grid)
    ]


# Each grid, each preset and each case, each of them on both paths; groups of
# one, groups as large as the world, and worlds that are no powers of two.
CHOSEN = {
    "mlp_momentum": [
        ((1,), "zero3"),
        ((2,), "ddp"),
        ((2,), "p=1,g=2,os=2"),
        ((3,), "zero3"),
        ((4,), "mics:2"),
        ((6,), "p=2,g=2,os=6"),
        ((8,), "zero2"),
        ((12,), "zero3"),
        ((2, 2), "p=1,g=2x1,os=2x2"),
        ((2, 2), "p=1x2,g=1x2,os=2x2"),
        ((4, 2), "p=2x1,g=4x1,os=4x2"),
        ((2, 4), "hpz:2x1"),
        ((3, 2), "p=1x2,os=1x2"),
        ((2, 3), "zero1"),
    ],
    "gpt_adamw": [
        ((1,), "ddp"),
        ((2,), "zero1"),
        ((3,), "p=1,g=3,os=3"),
        ((2, 2), "zero3"),
        ((4, 2), "hpz:4x1"),
    ],
    "gpt_masked_loss": [
        ((2,), "zero3"),
        ((6,), "zero2"),
        ((2, 2), "mics:2x1"),
    ],
    "gpt_accumulate": [
        ((1,), "zero2"),
        ((2,), "zero3"),
        ((2, 2), "p=1,g=2x1,os=2x2"),
        ((3, 2), "zero1"),
        ((8,), "hpz:2"),
        ((12,), "ddp"),
    ],
}


def chosen() -> list[tuple]:
    return [
        (case, cluster(grid), strategy)
        for case, combinations in CHOSEN.items()
        for grid, strategy in combinations
    ]
