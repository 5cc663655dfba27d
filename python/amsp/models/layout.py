"""What parameters a model has, before any of them holds numbers: a tree of
`Parameter`, from which shapes or initial values are made."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np


@dataclasses.dataclass(frozen=True)
class Parameter:
    """Drawn from a normal distribution with deviation `scale`, or all `fill`."""

    shape: tuple[int, ...]
    scale: float = 0.0
    fill: float = 0.0
    stacked: bool = False  # dimension 0 counts the layers

    @property
    def is_matrix(self) -> bool:
        return len(self.shape) - self.stacked > 1


def is_parameter(node) -> bool:
    return isinstance(node, Parameter)


def map_layout(function, layout):
    return jax.tree.map(function, layout, is_leaf=is_parameter)


def norm(size: int) -> dict:
    return {"scale": Parameter((size,), fill=1.0), "bias": Parameter((size,))}


def dense(inputs: int, outputs: int, scale: float = 0.02) -> dict:
    return {"w": Parameter((inputs, outputs), scale), "b": Parameter((outputs,))}


def stack(layout, count: int):
    """`count` equal layers as one, for a scan over them."""
    return map_layout(
        lambda p: dataclasses.replace(p, shape=(count, *p.shape), stacked=True), layout
    )


def shapes(layout, dtype=np.float32):
    return map_layout(lambda p: jax.ShapeDtypeStruct(p.shape, dtype), layout)


def initial(layout, seed: int = 0):
    """float32 numpy arrays, the same on every machine."""
    rng = np.random.default_rng(seed)

    def make(node):
        if is_parameter(node):
            if not node.scale:
                return np.full(node.shape, node.fill, np.float32)
            values = rng.normal(scale=node.scale, size=node.shape)
            return values.astype(np.float32)
        if isinstance(node, dict):  # in its own order, not that of jax.tree
            return {name: make(child) for name, child in node.items()}
        return [make(child) for child in node]

    return make(layout)
