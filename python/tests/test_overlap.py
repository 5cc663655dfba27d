"""Collectives in flight during computation: the same bits, within the bound."""

import json
import math
import re
import shutil

import jax
import jax.numpy as jnp
import pytest

import jobs
from amsp import export, tools
from steps import normal, prepared

pytestmark = pytest.mark.needs_tools

LAYERS, WIDTH = 32, 16
LAYER_BYTES = 4 * WIDTH * WIDTH
TENSOR = re.compile(r"tensor<((?:\d+x)*)f32>")


def compile_step(step, output, cluster, strategy, batch_args, *options):
    tools.call(
        *("amsp-compile", step, "-o", output, "--cluster", cluster),
        *("--strategy", strategy, "--batch-args", ",".join(map(str, batch_args))),
        *options,
        timeout=jobs.COMPILE_SECONDS,
    )
    return output


def run(step, inputs, directory, steps, *options):
    outputs = directory / "out.npz"
    tools.run_step(step, inputs, outputs, steps, *options, timeout=jobs.RUN_SECONDS)
    return outputs.read_bytes()


SAME_BITS = [
    ("gpt_tied", "levels=2x2", "zero3"),
    ("gpt_accumulated", "levels=2x2", "p=2x1,g=2x1,os=2x2"),
    ("llama_scanned", "levels=2", "zero1"),
]


@pytest.mark.parametrize("name, cluster, strategy", SAME_BITS)
def test_overlap_changes_no_bits(name, cluster, strategy, tmp_path):
    ready = prepared(name, tmp_path)
    program, inputs = ready.directory / "step.mlir", ready.directory / "inputs.npz"
    results = []
    for overlap in ("off", "on"):
        step = tmp_path / f"{overlap}.so"
        options = ("--overlap", overlap)
        compile_step(program, step, cluster, strategy, ready.batch_args, *options)
        results.append(run(step, inputs, tmp_path, ready.steps))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["gpt_accumulated", "llama_scanned"])
def test_no_list_changes_bits(name, tmp_path):
    """Collectives of loops that stay whole are in flight too, while they run."""
    ready = prepared(name, tmp_path)
    program, inputs = ready.directory / "step.mlir", ready.directory / "inputs.npz"
    results = []
    for overlap in ("off", "parameters", "gradients", "parameters,gradients"):
        step = tmp_path / f"{overlap}.so"
        options = ("--overlap", overlap)
        compile_step(program, step, "levels=2", "zero3", ready.batch_args, *options)
        results.append(run(step, inputs, tmp_path, ready.steps))
    assert all(result == results[0] for result in results)


def export_layers(forward, params, directory):
    """A step of 32 equal layers."""

    def loss(params, x):
        return jnp.square(forward(params, x)).mean()

    def step(params, x):
        value, gradients = jax.value_and_grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value

    batch = normal(8, WIDTH, seed=99)
    case = export.export_step(step, (params, batch), (0,), (1,), directory)
    return directory, case.batch_args


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    """Written out one behind the other."""

    def forward(params, x):
        for weight in params:
            x = jnp.tanh(x @ weight)
        return x

    params = [normal(WIDTH, WIDTH, seed=i, scale=0.3) for i in range(LAYERS)]
    return export_layers(forward, params, tmp_path_factory.mktemp("layers"))


def digits_and_channels(manifest):
    """What has a communicator of its own: a set of ranks, and a channel."""
    return {
        (str(sorted(entry["digits"])), entry["channel"])
        for entry in manifest["collectives"]
    }


def test_eighty_layers_share_communicators(tmp_path):
    """On 2x2 ranks: the sets of two digits and of both, two channels."""

    def forward(params, x):
        for weight in params:
            x = jnp.tanh(x @ weight)
        return x

    params = [normal(WIDTH, WIDTH, seed=i, scale=0.3) for i in range(80)]
    directory, batch_args = export_layers(forward, params, tmp_path)
    report = tmp_path / "report.json"
    arguments = (directory / "step.mlir", tmp_path / "s.mlir", "levels=2x2")
    options = ("--emit", "mlir", "--report", report)
    compile_step(*arguments, "p=2x1,g=2x1,os=2x2", batch_args, *options)
    manifest = json.loads(report.read_text())
    assert len(manifest["collectives"]) >= 3 * 80
    assert len(digits_and_channels(manifest)) <= 6


@pytest.fixture(scope="module")
def scanned_layers(tmp_path_factory):
    """In a loop."""

    def forward(params, x):
        return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, params)[0]

    params = normal(LAYERS, WIDTH, WIDTH, seed=1, scale=0.3)
    return export_layers(forward, params, tmp_path_factory.mktemp("scanned"))


def elements(text):
    return math.prod(int(size) for size in TENSOR.search(text)[1].split("x")[:-1])


def peak_in_flight(program):
    """Bytes in flight at most, by channel, read off the text of a program."""
    flying, now, peak = {}, {"gather": 0, "reduce": 0}, {"gather": 0, "reduce": 0}
    for line in program.splitlines():
        if start := re.search(r"(%\w+)(?::\d+)? = amsp\.(\w+)_start .* : (.*)", line):
            name, kind, types = start.groups()
            channel = "gather" if kind == "all_gather" else "reduce"
            source, _, result = types.partition(" -> ")
            full = result if channel == "gather" else source
            flying[name] = channel, 4 * elements(full)
            now[channel] += flying[name][1]
            peak[channel] = max(peak[channel], now[channel])
        elif await_ := re.search(r"amsp\.await (%\w+)", line):
            channel, size = flying.pop(await_[1])
            now[channel] -= size
    assert not flying
    return peak


def test_gathers_do_not_pile_up(layers):
    """All 32 gathers could start at once; one at a time may be in flight."""
    directory, batch_args = layers
    partition = f"levels=2 strategy=zero3 batch-args={','.join(map(str, batch_args))}"
    for depth in (1, 3):
        bound = 2 * depth * LAYER_BYTES
        program = tools.call(
            "amsp-opt",
            directory / "step.mlir",
            f"--amsp-partition={partition}",
            f"--amsp-communicate=prefetch-bytes={bound}",
        ).stdout
        peak = peak_in_flight(program)
        assert peak["gather"] == depth * LAYER_BYTES
        assert LAYER_BYTES <= peak["reduce"] <= depth * LAYER_BYTES


def flown(trace, channel):
    """What a traced step had in flight at most, in bytes, and the most bytes that
    were handed over in one collective, over all ranks."""
    events = json.loads(trace.read_text())["traceEvents"]
    peak = largest = 0
    for rank in {event["pid"] for event in events}:
        changes = []
        for event in events:
            if event["pid"] != rank or event["cat"] not in ("start", "await"):
                continue
            args = event["args"]
            if args["channel"] != channel or args["id"] < 0:
                continue
            isStart = event["cat"] == "start"
            largest = max(largest, args["bytes"])
            end = event["ts"] + (0 if isStart else event["dur"])
            changes.append((end, isStart, args["bytes"] if isStart else -args["bytes"]))
        now = 0
        for _, _, change in sorted(changes):
            now += change
            peak = max(peak, now)
        assert now == 0
    return peak, largest


@pytest.mark.parametrize("pipelined", (False, True), ids=("written_out", "pipelined"))
def test_gathers_do_not_pile_up_in_a_run(pipelined, request, tmp_path):
    """Depth 1: what runs has one layer's gather in flight, never two."""
    name = "scanned_layers" if pipelined else "layers"
    directory, batch_args = request.getfixturevalue(name)
    step, trace = tmp_path / "step.so", tmp_path / "trace.json"
    options = ("--pipeline-loops",) if pipelined else ()
    bound = ("--prefetch-bytes", 2 * LAYER_BYTES)
    program, inputs = directory / "step.mlir", directory / "inputs.npz"
    compile_step(program, step, "levels=2", "zero3", batch_args, *bound, *options)
    run(step, inputs, tmp_path, 1, "--trace", trace)
    assert flown(trace, "gather") == (LAYER_BYTES, LAYER_BYTES)
    peak, largest = flown(trace, "reduce")
    assert largest == LAYER_BYTES and peak <= LAYER_BYTES


def test_a_pipelined_loop_takes_one_layer_more(scanned_layers, tmp_path):
    """One of parameters and one of gradients; and rows of what an iteration makes."""
    directory, batch_args = scanned_layers
    program, step = directory / "step.mlir", tmp_path / "step.so"
    inputs = directory / "inputs.npz"
    arenas, results = [], []
    bound = ("--prefetch-bytes", 2 * LAYER_BYTES)
    for options in (bound, (*bound, "--pipeline-loops")):
        compile_step(program, step, "levels=2", "zero3", batch_args, *options)
        arenas.append(tools.manifest(step)["arena_bytes"])
        results.append(run(step, inputs, tmp_path, 2, "--poison"))
    assert results[0] == results[1]
    rows, scalars = 4 * 4 * WIDTH, 64
    assert arenas[1] <= arenas[0] + 2 * LAYER_BYTES + rows + scalars


def test_the_arena_grows_by_no_more_than_the_bound(layers, tmp_path):
    directory, batch_args = layers
    program = directory / "step.mlir"

    def arena(*options):
        output = tmp_path / "step.so"
        compile_step(program, output, "levels=2", "zero3", batch_args, *options)
        return tools.manifest(output)["arena_bytes"]

    without = arena("--overlap", "off")
    for depth in (1, 4):
        bound = 2 * depth * LAYER_BYTES
        # A gathered layer's buffer is aligned; so is a piece behind a reduction.
        slack = 2 * LAYER_BYTES
        assert arena("--prefetch-bytes", bound) <= without + bound + slack


def test_a_bound_that_is_too_small_names_the_one_that_works(layers, tmp_path):
    directory, batch_args = layers
    arguments = (directory / "step.mlir", tmp_path / "s.so", "levels=2", "zero3")
    for bound in (0, 1, 2 * LAYER_BYTES - 1):
        with pytest.raises(tools.ToolError) as error:
            compile_step(*arguments, batch_args, "--prefetch-bytes", bound)
        assert f"need {2 * LAYER_BYTES}" in str(error.value)
        assert not (tmp_path / "s.so").exists()
    for bound in (2 * LAYER_BYTES, 10**18):
        compile_step(*arguments, batch_args, "--prefetch-bytes", bound)
    for option in (("--overlap", "maybe"), ("--prefetch-bytes", "-3")):
        with pytest.raises(tools.ToolError):
            compile_step(*arguments, batch_args, *option)


@pytest.mark.parametrize("pipelined", (False, True), ids=("written_out", "pipelined"))
def test_late_ranks_change_nothing(pipelined, request, tmp_path):
    """Delayed producers and consumers, and poison where nothing is alive; the bits
    are those of a step without overlap. Pipelined, others have a layer's buffer
    between its last reader and the next gather into it."""
    name = "scanned_layers" if pipelined else "layers"
    directory, batch_args = request.getfixturevalue(name)
    step = tmp_path / "step.so"
    program, inputs = directory / "step.mlir", directory / "inputs.npz"
    arguments = (program, step, "levels=2", "zero3", batch_args)
    compile_step(*arguments, "--overlap", "off")
    without = run(step, inputs, tmp_path, 2, "--poison")
    compile_step(*arguments, *(("--pipeline-loops",) if pipelined else ()))
    collectives = tools.manifest(step)["collectives"]
    gathers = [c["id"] for c in collectives if c["channel"] == "gather"]
    reductions = [c["id"] for c in collectives if c["channel"] == "reduce"]
    expected = run(step, inputs, tmp_path, 2)
    assert expected == without
    delays = []
    for rank, ids in enumerate((gathers, reductions)):
        middle = ids[len(ids) // 2]
        # One in a loop is late in each iteration.
        for id in (middle,) if pipelined else (ids[0], middle, ids[-1]):
            delays += ["--inject-fault", f"{rank},{id},delay"]
            delays += ["--inject-fault", f"{1 - rank},{id},lag"]
    assert run(step, inputs, tmp_path, 2, "--poison") == expected
    assert run(step, inputs, tmp_path, 2, "--poison", *delays) == expected
    if shutil.which("mpirun"):
        mpi = ("--transport", "mpi")
        assert run(step, inputs, tmp_path, 2, *mpi, *delays) == expected
