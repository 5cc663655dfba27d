"""The kinds of steps, by name."""

from __future__ import annotations

from collections.abc import Callable

from step_parts import Step

KINDS: dict[str, Callable[..., Step]] = {}


def kind(make: Callable[..., Step]) -> Callable[..., Step]:
    """Registers a function that makes a step for a number of rows."""
    KINDS[make.__name__] = make
    return make
