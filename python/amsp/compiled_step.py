"""Compiles a training step of JAX and runs it on ranks, from Python.

    step = amsp.compile(train_step, (params, opt_state, tokens), batch_argnums=2,
                        cluster="nodes=2,gpus=4", strategy="zero3")
    params, opt_state = step.shard(params, opt_state)
    for tokens in batches:
        params, opt_state, loss = step(params, opt_state, tokens)
    step.save("checkpoint")

The compiler runs in a process of its own; the ranks are threads of this one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence

import jax
import numpy as np

from amsp import arrays, checkpoint, export, runtime, source_lines, tools
from amsp import placement as placements

STATE_ROLES = ("param", "opt_state", "state")


def as_tuple(numbers: int | Iterable[int]) -> tuple[int, ...]:
    return (numbers,) if isinstance(numbers, int) else tuple(numbers)


def shapes_of(tree):
    def shape_of(leaf):
        if isinstance(leaf, (jax.ShapeDtypeStruct, ShardedArray)):
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
        array = leaf if hasattr(leaf, "dtype") else jax.numpy.asarray(leaf)
        return jax.ShapeDtypeStruct(np.shape(array), array.dtype)

    return jax.tree.map(shape_of, tree)


def shapes_of_arguments(args: Sequence) -> tuple:
    """Their shapes; what has none, such as a string, is refused by its place."""
    for number, arg in enumerate(args):
        for path, leaf in jax.tree_util.tree_leaves_with_path(arg):
            if isinstance(leaf, (str, bytes)) or callable(leaf):
                raise TypeError(
                    f"argument {number}{jax.tree_util.keystr(path)} is {leaf!r}, no array: "
                    "values that are fixed belong into the step (functools.partial)"
                )
    return tuple(shapes_of(arg) for arg in args)


def is_float_scalar(arg) -> bool:
    """A learning rate looks as a loss does."""
    leaves = jax.tree.leaves(arg)
    return bool(leaves) and all(
        leaf.shape == () and jax.numpy.issubdtype(leaf.dtype, np.floating) for leaf in leaves
    )


def infer_state(
    step: Callable, args: Sequence, batch_argnums: Sequence[int], fixed: Sequence[int] = ()
):
    """The arguments whose new values the results begin with, in order: those of
    the structure and shapes of the next result. Whether it is the new value of
    float scalars, the compiler says, which sees how it is made. `fixed` are no
    candidates."""
    results = jax.eval_shape(step, *args)
    results = results if isinstance(results, tuple) else (results,)
    ranges, made = export.leaf_ranges(args), export.leaf_ranges(results)
    pairs = None
    found = []
    for number, arg in enumerate(args):
        if number in (*batch_argnums, *fixed) or len(found) == len(results):
            continue
        result = results[len(found)]
        same = jax.tree.structure(arg) == jax.tree.structure(result)
        if not same or shapes_of(arg) != shapes_of(result):
            continue
        if is_float_scalar(arg):
            if pairs is None:
                pairs = compiler_pairs(step, args, batch_argnums)
            if not pairs.issuperset(zip(ranges[number], made[len(found)])):
                warnings.warn(
                    f"argument {number} is given at each call: result {len(found)} has "
                    "its structure, but is not computed from it elementwise; if it is "
                    "its new value, say so by state_argnums",
                    stacklevel=4,  # The call of `compile`.
                )
                continue
        found.append(number)
    if not found:
        raise ValueError(
            "no argument is state: the step's results must begin with the new values "
            "of its state arguments, in order (or name them by state_argnums)"
        )
    return tuple(found)


@contextlib.contextmanager
def errors_in_the_program(source: pathlib.Path, text: str):
    """What tools say of the step's text names lines of the program."""
    try:
        yield
    except tools.ToolError as error:
        message = source_lines.in_the_program(str(error), str(source), text)
        raise tools.ToolError(message) from None


def compiler_pairs(
    step: Callable, args: Sequence, batch_argnums: Sequence[int]
) -> set[tuple[int, int]]:
    """The flat arguments that the compiler takes for state, each with the result
    that is its new value."""
    with tempfile.TemporaryDirectory(prefix="amsp-") as directory:
        source = pathlib.Path(directory) / "step.mlir"
        roles = pathlib.Path(directory) / "roles.mlir"
        text = export.lower(step, args, ())
        source.write_text(text)
        batch = batch_leaves(args, batch_argnums)
        options = f"batch-args={batch}" if batch else ""
        with errors_in_the_program(source, text):
            tools.call(
                *("amsp-opt", source, "-o", roles, "--mlir-elide-elementsattrs-if-larger=16"),
                f"--amsp-import={options} recognize-attention=false",
            )
        return set(export.numbers_of_arguments(roles.read_text(), "amsp.result").items())


def batch_leaves(args: Sequence, batch_argnums: Sequence[int]) -> str:
    ranges = export.leaf_ranges(args)
    return ",".join(str(leaf) for number in batch_argnums for leaf in ranges[number])


@dataclasses.dataclass(frozen=True)
class Plan:
    """What was decided for a step; bytes are those of a rank."""

    strategy: dict
    levels: list[int]
    state_bytes: int
    arena_bytes: int
    collectives: list[dict]

    def __str__(self) -> str:
        factors = {
            state: "x".join(map(str, factor)) if isinstance(factor, list) else factor
            for state, factor in self.strategy.items()
        }
        strategy = ",".join(f"{state}={factor}" for state, factor in factors.items())
        levels = "x".join(map(str, self.levels))
        return (
            f"{strategy} on {levels} ranks: state {self.state_bytes} bytes, arena "
            f"{self.arena_bytes} bytes a rank, {len(self.collectives)} collectives"
        )


class Value:
    """An argument or result of the compiled step."""

    def __init__(self, description: dict, index: int, prefix: str):
        self.index = index
        self.id = f"{prefix}{index}"
        self.name: str | None = description["name"]
        self.role: str = description["role"]
        self.dtype = arrays.DTYPES[description["dtype"]]
        self.shape = tuple(description["shape"])
        self.local_shape = tuple(description["local_shape"])
        self.placement: placements.Placement = description["placement"]
        self.partner: int | None = description.get(
            "result" if prefix == "arg" else "argument"
        )

    def __str__(self) -> str:
        return f"{self.id} ('{self.name}')" if self.name else self.id

    def check(self, value) -> None:
        if tuple(value.shape) != self.shape or np.dtype(value.dtype) != self.dtype:
            raise ValueError(
                f"{self} is {np.dtype(value.dtype)} of shape {tuple(value.shape)}, "
                f"the step takes {self.dtype} of shape {self.shape}"
            )


class ShardedArray:
    """State of a compiled step, in pieces on its ranks. The step that takes it
    writes the new value in its place, and hands that on."""

    def __init__(self, step: CompiledStep, value: Value):
        self.step, self.value = step, value
        self.generation = step.generation

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype

    @property
    def placement(self) -> placements.Placement:
        return self.value.placement

    def local(self, rank: int) -> np.ndarray:
        """The buffer of a rank, padding included, without a copy."""
        self.check_current()
        return self.step.held[self.value.index][rank]

    def check_current(self) -> None:
        if self.generation != self.step.generation:
            raise ValueError(
                f"{self.value} was given to the step, which has replaced it by its "
                "result; use that"
            )

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        self.check_current()
        whole = placements.unshard(
            self.step.held[self.value.index], self.placement, self.shape
        )
        return whole.astype(dtype) if dtype else np.array(whole)

    def item(self):
        """The only element, as a Python number."""
        return np.asarray(self).item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __repr__(self) -> str:
        return f"ShardedArray({self.value}, {self.dtype}{list(self.shape)})"


class CompiledStep:
    """A compiled step and the state that its ranks hold. See `compile`."""

    def __init__(
        self,
        world: runtime.World,
        args_tree,
        results_tree,
        held_argnums,
        args,
        state_of: CompiledStep | None = None,
    ):
        self.world = world
        self.state_of = state_of
        self.args_tree, self.results_tree = args_tree, results_tree
        manifest = world.manifest
        self.arguments = [
            Value(value, i, "arg") for i, value in enumerate(manifest["arguments"])
        ]
        self.results = [
            Value(value, i, "out") for i, value in enumerate(manifest["results"])
        ]
        self.held_argnums = held_argnums
        self.ranges = export.leaf_ranges(args)
        self.trees = [jax.tree.structure(arg) for arg in args]
        self.generation = 0
        """Steps, and batches, that led to the state."""
        self.steps = self.batches = 0
        self.held: dict[int, list[np.ndarray]] = {}
        for number in held_argnums:
            for index in self.ranges[number]:
                value = self.arguments[index]
                self.held[index] = [
                    runtime.empty(value.local_shape, value.dtype) for _ in self.ranks
                ]
        self.has_state = False

    @property
    def ranks(self) -> range:
        return range(self.world.ranks)

    @property
    def manifest(self) -> dict:
        return self.world.manifest

    @property
    def plan(self) -> Plan:
        names = ("strategy", "levels", "state_bytes", "arena_bytes", "collectives")
        return Plan(**{name: self.manifest[name] for name in names})

    def state(self):
        """The arguments that the ranks hold, as a tuple; one alone as itself."""
        trees = tuple(
            jax.tree.unflatten(
                self.trees[number],
                [ShardedArray(self, self.arguments[i]) for i in self.ranges[number]],
            )
            for number in self.held_argnums
        )
        return trees if len(trees) != 1 else trees[0]

    def shard(self, *state):
        """Cuts the values of the state arguments into the ranks' buffers: one
        value for each argument of state, in order."""
        if len(state) != len(self.held_argnums):
            raise ValueError(
                f"shard takes {len(self.held_argnums)} values, those of arguments "
                f"{', '.join(map(str, self.held_argnums))}; got {len(state)}"
            )
        for number, tree in zip(self.held_argnums, state):
            for index, leaf in zip(self.ranges[number], self.leaves(number, tree)):
                self.hold(index, leaf)
        self.replaced()
        self.steps = self.batches = 0
        return self.state()

    def leaves(self, number: int, tree) -> list:
        """Typed keys as the words that the step computes with."""
        if jax.tree.structure(tree) != self.trees[number]:
            raise ValueError(
                f"argument {number} has structure {jax.tree.structure(tree)}, "
                f"the step was compiled for {self.trees[number]}"
            )
        return [export.words_of_key(leaf) for leaf in jax.tree.leaves(tree)]

    def hold(self, index: int, leaf) -> None:
        value = self.arguments[index]
        if isinstance(leaf, ShardedArray) and leaf.step is self:
            leaf.check_current()
            if leaf.value is value:
                return
        whole = as_array(leaf, value)
        for rank in self.ranks:
            self.held[index][rank][...] = placements.shard(
                whole, value.placement, rank, fill=0
            )

    def replaced(self) -> None:
        self.generation += 1
        self.has_state = True

    def gather(self, tree):
        """The global values, as numpy arrays, of a tree of sharded arrays."""
        return jax.tree.map(np.asarray, tree)

    def __call__(self, *args):
        """Runs one step. State may be sharded arrays or global ones; of a batch
        argument, which may be anything that has a shape, a dtype and slices
        (an np.memmap), each rank takes its rows only."""
        if len(args) != len(self.trees):
            raise TypeError(f"the step takes {len(self.trees)} arguments, got {len(args)}")
        locals_: list[list[np.ndarray]] = [[] for _ in self.ranks]
        for number, tree in enumerate(args):
            for index, leaf in zip(self.ranges[number], self.leaves(number, tree)):
                if number in self.held_argnums:
                    self.hold(index, leaf)
                    pieces = self.held[index]
                else:
                    pieces = self.cut(self.arguments[index], leaf)
                for rank in self.ranks:
                    locals_[rank].append(pieces[rank])
        made = self.made_state()
        outputs = [
            [
                None
                if value.partner is not None
                else made[value.index][rank]
                if value.index in made
                else runtime.empty(value.local_shape, value.dtype)
                for value in self.results
            ]
            for rank in self.ranks
        ]
        self.world.run_step(locals_, outputs)
        self.replaced()
        if made:
            self.state_of.replaced()
            self.state_of.steps = self.state_of.batches = 0
        self.steps += 1
        self.batches += 1
        return jax.tree.unflatten(
            self.results_tree,
            [self.take(value, [rank[value.index] for rank in outputs]) for value in self.results],
        )

    def made_state(self) -> dict[int, list[np.ndarray]]:
        """The buffers of another step's state that an initialisation step makes,
        by result: all of it, in order."""
        trained = [value for value in self.results if value.role in STATE_ROLES]
        if self.state_of is None or any(value.partner is not None for value in trained):
            return {}
        held = sorted(self.state_of.held)
        return {value.index: self.state_of.held[i] for value, i in zip(trained, held)}

    def cut(self, value: Value, leaf) -> list[np.ndarray]:
        """The ranks' pieces of a global value; views of it where they are one."""
        if isinstance(leaf, ShardedArray) and leaf.placement == value.placement:
            value.check(leaf)
            return [leaf.local(rank) for rank in self.ranks]
        if value.placement["kind"] != "split":
            whole = as_array(leaf, value)
            pieces = (placements.shard(whole, value.placement, r, fill=0) for r in self.ranks)
        elif value.placement["dim"] == 0 and hasattr(leaf, "shape"):
            value.check(leaf)
            rows = value.local_shape[0]
            digits = value.placement["digits"]
            starts = (placements.group_index(digits, r) * rows for r in self.ranks)
            pieces = (np.asarray(leaf[start : start + rows]) for start in starts)
        else:
            whole = as_array(leaf, value)
            pieces = (placements.shard(whole, value.placement, r) for r in self.ranks)
        return [np.ascontiguousarray(piece, value.dtype).reshape(value.local_shape) for piece in pieces]

    def take(self, value: Value, locals_: list):
        if value.partner is not None:
            return ShardedArray(self, self.arguments[value.partner])
        if value.role in STATE_ROLES and self.state_of is not None:
            made = self.made_state()
            held = sorted(self.state_of.held)[list(made).index(value.index)]
            return ShardedArray(self.state_of, self.state_of.arguments[held])
        return placements.unshard(locals_, value.placement, value.shape)

    # Checkpoints

    def named_state(self) -> list[tuple[checkpoint.Tensor, Value]]:
        """The arguments that are state, by their names in checkpoints."""
        state = [value for value in self.arguments if value.role in STATE_ROLES]
        names = [value.name for value in state]
        for value in state:
            if value.index not in self.held:
                raise ValueError(
                    f"{value} is state, but no argument of state_argnums or frozen_argnums"
                )
        return [
            (
                checkpoint.Tensor(
                    value.name if value.name and names.count(value.name) == 1 else value.id,
                    value.shape,
                    value.dtype,
                ),
                value,
            )
            for value in state
        ]

    def save(self, path: str | os.PathLike) -> None:
        """Makes the state the checkpoint of a directory (docs/formats.md), in
        one rename: a process killed before leaves the last one whole."""
        if not self.has_state:
            raise ValueError("there is no state to save: call shard, load or the step")
        named = self.named_state()
        tensors = [tensor for tensor, _ in named]
        writer = checkpoint.Writer(path, tensors, self.steps, self.batches)
        try:
            for tensor, value in named:
                whole = writer.open(tensor)
                for rank in placements.owners(value.placement, self.world.ranks):
                    placements.paste(whole, self.held[value.index][rank], value.placement, rank)
            writer.finish()
        except BaseException:
            writer.discard()
            raise

    def load(self, path: str | os.PathLike):
        """Takes the state from a checkpoint, whatever world and strategy saved
        it, and returns it. A checkpoint that does not fit changes nothing."""
        reader = checkpoint.Reader(path)
        found = [(reader.open(tensor), value) for tensor, value in self.named_state()]
        for whole, value in found:
            for rank in self.ranks:
                self.held[value.index][rank][...] = placements.shard(
                    whole, value.placement, rank, fill=0
                )
        self.replaced()
        self.steps, self.batches = reader.steps, reader.batches
        return self.state()


def as_array(leaf, value: Value) -> np.ndarray:
    """Without a copy where the value lies in this process's memory."""
    if not hasattr(leaf, "dtype"):
        leaf = np.asarray(leaf, value.dtype)
    value.check(leaf)
    return np.asarray(leaf)


def compile(
    step: Callable,
    args: Sequence,
    *,
    batch_argnums: int | Sequence[int] = (),
    cluster: str | os.PathLike | None = None,
    strategy: str | os.PathLike = "auto",
    state_argnums: int | Sequence[int] | None = None,
    frozen_argnums: int | Sequence[int] = (),
    state_of: CompiledStep | None = None,
    options: Sequence[str] = (),
    stall_limit: float | None = None,
) -> CompiledStep:
    """Compiles `step(*args)` for the ranks of a cluster.

    `args` are example arguments: arrays, or anything with a shape and a dtype.
    `batch_argnums` are cut along dimension 0. `state_argnums` are the arguments
    whose new values the results begin with, in order; by default, those that
    look like the first results. `frozen_argnums` are held by the ranks and
    never change. `cluster`, `strategy` and further `options` are those of
    amsp-compile. Raises amsp.tools.ToolError with the compiler's message.

    `state_of` is a compiled training step: `step` is then an evaluation step,
    which takes its state (sharded arrays, in place), or an initialisation step,
    whose results begin with all of its state and become it; cluster and strategy
    are the training step's.
    """
    if (cluster is None) == (state_of is None):
        raise ValueError("give either a cluster or state_of")
    args = shapes_of_arguments(args)
    roles = ArgumentRoles.of(step, args, batch_argnums, state_argnums, frozen_argnums, state_of)
    if state_of is None:
        options = (*options, "--cluster", cluster, "--strategy", strategy)
    return CompiledStep(
        compiled_world(step, args, roles, options, state_of, stall_limit),
        jax.tree.structure(args),
        jax.tree.structure(jax.eval_shape(step, *args)),
        tuple(sorted((*roles.state, *roles.frozen))),
        args,
        state_of,
    )


@dataclasses.dataclass(frozen=True)
class ArgumentRoles:
    """Numbers of arguments; those that are in none are given at each call."""

    batch: tuple[int, ...]
    state: tuple[int, ...]
    frozen: tuple[int, ...]

    @staticmethod
    def of(step, args, batch, state, frozen, state_of) -> ArgumentRoles:
        batch, frozen = as_tuple(batch), as_tuple(frozen)
        for number in (*batch, *frozen, *as_tuple(state or ())):
            if not 0 <= number < len(args):
                raise ValueError(f"there is no argument {number}: the step has {len(args)}")
        if state_of is not None:  # which holds them
            return ArgumentRoles(batch, (), ())
        if state is None:
            state = infer_state(step, args, batch, frozen)
        state = tuple(sorted(as_tuple(state)))
        if state:
            export.state_pairs(step, args, state)
        return ArgumentRoles(batch, state, frozen)


def compiled_world(step, args, roles, options, state_of, stall_limit) -> runtime.World:
    """Exports the step, compiles it, and loads it."""
    if leaves := batch_leaves(args, roles.batch):
        options = (*options, "--batch-args", leaves)
    with tempfile.TemporaryDirectory(prefix="amsp-") as directory:
        source = pathlib.Path(directory) / "step.mlir"
        library = pathlib.Path(directory) / "step.so"
        text = export.lower(step, args, roles.state)
        source.write_text(text)
        if state_of is not None:
            trained = pathlib.Path(directory) / "trained.json"
            trained.write_text(json.dumps(state_of.manifest))
            levels = "x".join(map(str, state_of.manifest["levels"]))
            options = (*options, "--cluster", f"levels={levels}", "--state-of", trained)
        with errors_in_the_program(source, text):
            tools.call("amsp-compile", source, "-o", library, *options)
        return runtime.World(library, stall_limit)
