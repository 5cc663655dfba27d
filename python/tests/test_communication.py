"""The communication optimizer: what it may not change, and what must come out."""

import collections
import importlib.util
import json
import math
import pathlib
import re

import ml_dtypes
import numpy as np
import pytest

import jobs
import steps
from amsp import check, tools
from steps import StepJob

pytestmark = pytest.mark.needs_tools

THIN_LINKS = str(pathlib.Path(__file__).with_name("thin_links.yaml"))
# Copies and joined collectives: an element is combined in the same order.
SAME_BITS = {
    "default": (),
    "apart": ("--no-fuse-collectives",),
    "small": ("--fuse-bytes=260",),
    "packed": ("--pack-bytes=300",),
}


def by_kind(manifest):
    return collections.Counter(
        c["kind"] for c in manifest["collectives"] for _ in range(c["count"])
    )


def run(job, directory):
    finished = job.run(directory / str(job).replace("/", "-"))
    assert not finished.comparison.faults
    return finished


@pytest.mark.parametrize(
    "case, cluster, strategy",
    [
        ("gpt", "levels=2x2", "zero3"),
        ("gpt_accumulated", "levels=2x2", "p=1,g=2x1,os=2x2"),
        ("sizes_of_buckets", "levels=4", "mics:2"),
    ],
)
def test_fusion_changes_no_bit(case, cluster, strategy, tmp_path):
    runs = {
        name: run(StepJob(case, cluster, strategy, "so", options), tmp_path)
        for name, options in SAME_BITS.items()
    }
    counts = {
        name: len(finished.manifest["collectives"]) for name, finished in runs.items()
    }
    assert counts["default"] == counts["packed"] < counts["small"] < counts["apart"]
    # Packing hides nobody's traffic.
    manifests = {name: finished.manifest for name, finished in runs.items()}
    assert manifests["packed"]["parameters"] == manifests["default"]["parameters"]
    moved = {
        name: [sorted(c["parameters"]) for c in manifest["collectives"]]
        for name, manifest in manifests.items()
    }
    assert moved["packed"] == moved["default"]
    tensors = {
        name: sum(c["tensors"] for c in manifest["collectives"])
        for name, manifest in manifests.items()
    }
    assert tensors["packed"] < tensors["default"]
    expected = runs["default"].results
    for name, finished in runs.items():
        for output, value in expected.items():
            np.testing.assert_array_equal(finished.results[output], value, name)


BUCKETS = (1, 63, 64, 65, 1023, 1024, 1025, 4099)  # elements, of sizes_of_buckets
THRESHOLDS = (0, 1, 255, 256, 257, 4096, 10**18)  # 64 elements are 256 bytes


@pytest.mark.parametrize("kind", ["zero3", "ddp"])
def test_tensors_of_any_size_against_any_threshold(kind, tmp_path):
    """A tensor exactly as large as a bucket, larger, or smaller, is reduced."""
    ready = steps.prepared("sizes_of_buckets", tmp_path)
    for threshold in THRESHOLDS:
        output = tmp_path / "step.mlir"
        tools.compile_step(
            ready.directory / "step.mlir",
            output,
            "levels=4",
            kind,
            ready.batch_args,
            emit="stablehlo",
            options=[f"--fuse-bytes={threshold}"],
        )
        manifest = jobs.manifest_of(output, "stablehlo")
        for traffic in manifest["parameters"]:
            assert traffic["elements"] in BUCKETS
            assert traffic["reductions"] == traffic["padded"], threshold
        for collective in manifest["collectives"]:
            assert collective["tensors"] == 1 or collective["bytes"] <= threshold + 4 * 3 * 8


@pytest.mark.parametrize("path", ["so", "stablehlo"])
@pytest.mark.parametrize(
    "case, strategy",
    [("gpt", "zero3"), ("gpt", "ddp"), ("gpt_accumulated", "p=1,g=2x2,os=2x2")],
)
def test_collectives_by_level_compute_the_same(case, strategy, path, tmp_path):
    finished = run(StepJob(case, THIN_LINKS, strategy, path), tmp_path)
    levels = collections.Counter(
        math.prod(size for _, size in c["digits"])
        for c in finished.manifest["collectives"]
        if c["parameters"]
    )
    assert set(levels) == {2}


def test_decomposition_moves_each_element_to_the_same_place(tmp_path):
    """Gathers and maxima have the same bits; a sum of n values in any order is
    within (n - 1) u of the sum of their magnitudes."""
    rng = np.random.default_rng(0)
    shapes = (3, 5), (8, 3), (4, 15)
    w, v, x = (rng.normal(size=shape).astype(np.float32) for shape in shapes)
    inputs, output = tmp_path / "in.npz", tmp_path / "step.so"
    np.savez(inputs, arg0=w, arg1=v, arg2=x)
    program = pathlib.Path(__file__).with_name("per_rank") / "two_levels.mlir"
    tools.call("amsp-compile", program, "-o", output, "--cluster", THIN_LINKS)
    groups = [c["group_size"] for c in tools.manifest(output)["collectives"]]
    assert len(groups) > 6 and set(groups) == {2}
    tools.run_step(output, inputs, tmp_path / "out.npz", 1, timeout=60)
    with np.load(tmp_path / "out.npz") as results:
        gathered, rows, scattered, largest, total, maximum = (
            results[f"out{i}"] for i in range(6)
        )
    np.testing.assert_array_equal(gathered, w)
    np.testing.assert_array_equal(rows, v)
    np.testing.assert_array_equal(largest, x.max(0))
    np.testing.assert_array_equal(maximum, x.max(0))
    exact, magnitudes = (np.sum(f(x.astype(np.float64)), 0) for f in (np.positive, np.abs))
    for found in (scattered, total):
        assert np.all(np.abs(found - exact) <= 3 * 2.0**-24 * magnitudes)


@pytest.mark.parametrize(
    "strategy, expected",
    [
        ("ddp", {"all_reduce": 6}),
        ("zero1", {"all_gather": 5, "reduce_scatter": 5, "all_reduce": 1}),
        ("zero3", {"all_gather": 9, "reduce_scatter": 5, "all_reduce": 1}),
    ],
)
def test_collectives_of_two_layers_on_eight_ranks(strategy, expected, tmp_path):
    """Each gradient by reduce_scatter, one gather and one reduction for a use of
    a unit, one all_reduce for the loss and the norm."""
    output = tmp_path / "step.mlir"
    step = jobs.cases_directory() / "gpt_adamw" / "step.mlir"
    tools.compile_step(step, output, "levels=8", strategy, emit="stablehlo")
    manifest = jobs.manifest_of(output, "stablehlo")
    assert by_kind(manifest) == expected
    scalars = [c for c in manifest["collectives"] if not c["parameters"]]
    assert len(scalars) == 1
    of_parameters = [c for c in manifest["collectives"] if c["parameters"]]
    reductions = {c["kind"] for c in of_parameters} - {"all_gather"}
    assert reductions == {"all_reduce" if strategy == "ddp" else "reduce_scatter"}
    sent = sum(c["count"] * c["sent_bytes"] for c in of_parameters)
    assert sent == pytest.approx(sent_for_parameters(manifest, strategy, 8))


def test_what_was_decided_is_printed(tmp_path):
    step = jobs.cases_directory() / "gpt_adamw" / "step.mlir"
    command = ["amsp-compile", step, "-o", tmp_path / "step.mlir", "--emit", "stablehlo"]
    command += ["--cluster", "levels=8", "--strategy", "zero3"]
    assert not tools.call(*command).stderr
    done = tools.call(*command, "--statistics", "--remarks", "fuse|schedule")
    numbers = {tuple(line.split()[:3:2]): line.split()[1] for line in done.stdout.splitlines()}
    split, whole = (
        int(numbers["amsp-schedule-collectives", name]) for name in ("split", "whole")
    )
    assert split + whole == len(jobs.manifest_of(tmp_path / "step.mlir", "stablehlo")["collectives"])
    remarks = collections.Counter(re.findall(r"\] (\w+) \| Category:([\w-]+)", done.stderr))
    assert remarks["split", "amsp-schedule-collectives"] == split
    assert remarks["whole", "amsp-schedule-collectives"] == whole
    assert remarks["fused", "amsp-fuse-collectives"] > 8
    assert {category for _, category in remarks} == {
        "amsp-fuse-collectives",
        "amsp-schedule-collectives",
    }
    with pytest.raises(tools.ToolError, match="--remarks \\(: parentheses not balanced"):
        tools.call(*command, "--remarks", "(")


def sent_for_parameters(manifest, strategy, world):
    """Bytes that a rank sends in a step, from shapes and names: (n - 1) / n of each
    parameter twice, under zero3 three times if backward reads it. It reads what
    multiplies; not biases, and not the position table, which is added."""
    total = 0
    for value in manifest["arguments"]:
        if value["role"] != "param":
            continue
        is_added = re.search(r"(_b|b1|b2|wpe)'\]$", value["name"])
        passes = 3 if strategy == "zero3" and not is_added else 2
        padded = world * -(-math.prod(value["shape"]) // world)
        elements = math.prod(value["shape"]) if strategy == "ddp" else padded
        total += passes * 4 * elements * (world - 1) / world
    return total


def test_the_page_has_the_counts_of_this_version():
    """Those of XLA and Shardy are checked by `bench/collective_counts.py --check`."""
    path = tools.REPOSITORY / "bench/collective_counts.py"
    spec = importlib.util.spec_from_file_location("collective_counts", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    model = script.Model(layers=2, ranks=8)
    for strategy in script.STRATEGIES:
        for row in script.amsp_rows(model, 8, strategy):
            assert script.is_on_page(*row), script.row(*row)


@pytest.mark.parametrize("reduce_type", ["f32", "graph"])
def test_a_fused_collective_has_one_type(reduce_type, tmp_path):
    """Units of bf16 matrices and f32 norms; gradients of matrices are bf16."""
    options = (f"--reduce-type={reduce_type}",)
    finished = run(StepJob("mixed_types", "levels=2x2", "zero3", "so", options), tmp_path)
    values = finished.manifest["arguments"]
    seen = set()
    for c in finished.manifest["collectives"]:
        types = {values[p]["dtype"] for p in c["parameters"]}
        is_gather = c["kind"] == "all_gather"
        if not types or (reduce_type == "f32" and not is_gather):
            assert c["dtype"] == "f32"
            continue
        assert types == {c["dtype"]}
        seen.add((is_gather, c["dtype"], len(c["parameters"])))
    fused = {(is_gather, dtype) for is_gather, dtype, count in seen if count > 1}
    assert {(True, "bf16"), (True, "f32")} <= fused
    assert reduce_type == "f32" or {(False, "bf16"), (False, "f32")} <= fused


BLOCK = 32


def largest_of_blocks(values, piece):
    """For each element, the largest magnitude in its block: a piece has as few of
    at most BLOCK elements as it can, of equal size."""
    size = -(-piece // -(-piece // BLOCK))
    largest = np.zeros_like(values)
    for first in range(0, len(values), piece):
        for start in range(first, min(first + piece, len(values)), size):
            block = slice(start, min(start + size, first + piece, len(values)))
            largest[block] = np.abs(values[block]).max()
    return largest


def stack_bound(stack, piece):
    """`largest_of_blocks` of each row."""
    return np.stack([largest_of_blocks(row, piece) for row in stack])


def blocks_of_magnitudes(rng, *shape):
    """Sevens of values that differ by a factor of a thousand, last dimension."""
    sevens = shape[-1] // 7
    scales = np.repeat(10.0 ** rng.uniform(-2, 1, shape[:-1] + (sevens,)), 7, axis=-1)
    return (rng.normal(size=shape) * scales).astype("f4")


def test_quantized_gathers_are_within_their_bound(tmp_path):
    """Half a step of the block's scale for each gather; magnitudes of blocks
    differ by a factor of a thousand, and one block is zero. Blocks of a stack lie
    within a layer."""
    rng = np.random.default_rng(0)
    w = blocks_of_magnitudes(rng, 301)
    w[76 : 76 + BLOCK] = 0
    v = w.astype(ml_dtypes.bfloat16)
    stack = blocks_of_magnitudes(rng, 2, 3, 301)
    inputs, output = tmp_path / "in.npz", tmp_path / "step.so"
    np.savez(inputs, arg0=w.reshape(7, 43), arg1=v.view(np.uint16), arg2=stack)
    program = pathlib.Path(__file__).with_name("per_rank") / "parameters.mlir"
    options = "--quantize-gathers", f"--quantize-block={BLOCK}"
    tools.call("amsp-compile", program, "-o", output, *options)
    collectives = tools.manifest(output)["collectives"]
    assert {c["dtype"] for c in collectives} == {"i8", "f32"}
    tools.run_step(output, inputs, tmp_path / "out.npz", 1, timeout=60)
    with np.load(tmp_path / "out.npz") as results:
        once = results["out0"].ravel().astype(np.float64)
        twice = check.number(results["out1"])
        layers = results["out2"].reshape(6, 301).astype(np.float64)
    error = np.abs(once - w)
    assert np.all(error <= STEP * largest_of_blocks(w, 76)) and error.max() > 0
    assert not once[76 : 76 + BLOCK].any()
    # The second gather's blocks are those of pieces twice as large; each result
    # is rounded to bf16.
    v = v.astype(np.float64)
    first = STEP * largest_of_blocks(v, 76) + 2.0**-8 * np.abs(v)
    second = STEP * largest_of_blocks(np.abs(v) + first, 152) + 2.0**-8 * np.abs(v)
    assert np.all(np.abs(twice - v) <= first + 1.01 * second)
    rows = stack.reshape(6, 301)
    error = np.abs(layers - rows)
    assert np.all(error <= STEP * stack_bound(rows, 76)) and error.max() > 0


def strides_of(levels):
    """Stride and size of each level's digit, innermost first."""
    return [(math.prod(levels[:i]), size) for i, size in enumerate(levels)]


def sums_program(levels, layers, elements, piece):
    """The sum of the ranks' rows of `x`, as a gradient of the parameter `w`, a
    stack of layers if there are several: to pieces over all levels, in one stage
    and in one for each level; to all ranks."""
    world = math.prod(levels)
    digits = [f"{stride}:{size}" for stride, size in strides_of(levels)]
    kept, keep = (f"{layers}x", 1) if layers > 1 else ("", 0)
    flat = f"#amsp.placement<flat, {keep}, [{', '.join(digits)}]>"
    batch = f"#amsp.placement<split, 0, [1:{world}]>"
    part = f'keep = {keep} parameter = 0 unit = "u"'
    lists = {
        key: f"{key} = array<i64: {', '.join(map(str, levels))}>" for key in ("p", "g", "os")
    }
    whole, local = f"tensor<{kept}7x{elements // 7}xf32>", f"tensor<{kept}{piece}xf32>"
    stages, left, value = [], world * piece, ("%g", whole)
    for i, (digit, size) in enumerate(zip(digits, levels, strict=True)):
        left //= size
        stages.append(
            f"%s{i} = amsp.reduce_scatter sum {value[0]} group = <[{digit}]> {part} "
            f": {value[1]} -> tensor<{kept}{left}xf32>"
        )
        value = (f"%s{i}", f"tensor<{kept}{left}xf32>")
    result = f"{local} {{amsp.placement = {flat}, amsp.global_type = {whole}}}"
    return f"""
module @sums attributes {{amsp.levels = array<i64: {", ".join(map(str, levels))}>,
    amsp.strategy = {{{", ".join(lists.values())}}}}} {{
  func.func @main(
      %w: {local} {{amsp.role = #amsp.role<param>, amsp.placement = {flat},
        amsp.global_type = {whole}}},
      %x: tensor<1x{layers * elements}xf32> {{amsp.role = #amsp.role<batch>,
        amsp.placement = {batch}, amsp.global_type = tensor<{world}x{layers * elements}xf32>}})
      -> ({result}, {result}, {whole} {{amsp.placement = #amsp.placement<replicated>}}) {{
    %g = stablehlo.reshape %x : (tensor<1x{layers * elements}xf32>) -> {whole}
    %0 = amsp.reduce_scatter sum %g group = <[{", ".join(digits)}]> {part} : {whole} -> {local}
    {chr(10).join(stages)}
    %1 = amsp.all_reduce sum %g group = <[1:{world}]> parameter = 0 unit = "u" : {whole}
    return %0, {value[0]}, %1 : {local}, {local}, {whole}
  }}
}}"""


STEP = 1 / 254 * (1 + 1e-5)  # of a block's largest magnitude, with roundings of f32


def sum_and_bound(rows, levels):
    """The sum of the rows, and the bound on its error (docs/communication.md): in
    each level the members' values, with the errors that they may have, make
    the scales."""
    world = math.prod(levels)
    exact = {rank: rows[rank].astype(np.float64) for rank in range(world)}
    bound = {rank: np.zeros(rows.shape[1]) for rank in range(world)}
    for stride, size in strides_of(levels):
        sums, bounds = {}, {}
        for rank in range(world):
            first = rank - rank // stride % size * stride
            members = [first + i * stride for i in range(size)]
            part = len(exact[rank]) // size
            own = slice((rank // stride % size) * part, (rank // stride % size + 1) * part)
            sums[rank] = sum(exact[m][own] for m in members)
            bounds[rank] = sum(
                bound[m][own]
                + STEP * largest_of_blocks(np.abs(exact[m][own]) + bound[m][own], part)
                for m in members
            )
        exact, bound = sums, bounds
    index = [0] * world  # of a rank's piece: the innermost level first
    for stride, size in strides_of(levels):
        index = [i * size + rank // stride % size for rank, i in enumerate(index)]
    order = np.argsort(index)
    return [np.concatenate([values[rank] for rank in order]) for values in (exact, bound)]


@pytest.mark.parametrize(
    "levels, layers", [((2, 2), 1), ((8,), 1), ((4, 2), 1), ((2, 2), 3), ((3,), 5)], ids=str
)
def test_quantized_sums_are_within_their_bound(levels, layers, tmp_path):
    """Rows of blocks that differ by a factor of a thousand; one block is zero on
    all ranks. Blocks of a stack lie within a layer. Two runs give the same bits."""
    world, elements = math.prod(levels), 7 * 85
    piece = -(-elements // world)
    x = blocks_of_magnitudes(np.random.default_rng(0), world, layers, elements)
    x[:, :, :BLOCK] = 0
    inputs, output = tmp_path / "in.npz", tmp_path / "step.so"
    weights = np.zeros((layers, 7, 85) if layers > 1 else (7, 85), "f4")
    np.savez(inputs, arg0=weights, arg1=x.reshape(world, -1))
    program = tmp_path / "sums.mlir"
    program.write_text(sums_program(levels, layers, elements, piece))
    options = "--quantize-reductions", f"--quantize-block={BLOCK}"
    tools.call("amsp-compile", program, "-o", output, *options)
    collectives = tools.manifest(output)["collectives"]
    assert {c["kind"] for c in collectives} == {"all_to_all", "all_gather"}
    assert {c["dtype"] for c in collectives} == {"i8", "f32"}
    contents = []
    for name in "first", "second":
        results = tmp_path / f"{name}.npz"
        tools.run_step(output, inputs, results, 1, "--poison", timeout=60)
        contents.append(results.read_bytes())
    assert contents[0] == contents[1]
    with np.load(results) as file:
        found = [file[f"out{i}"].reshape(layers, elements) for i in range(3)]
    for layer in range(layers):
        padded = np.pad(x[:, layer], ((0, 0), (0, world * piece - elements)))
        exact, bound = sum_and_bound(padded, levels)
        whole = largest_of_blocks(np.abs(exact) + bound, piece)
        bounds = bound, bound, bound + STEP * whole
        for i, limit in enumerate(bounds):
            error = np.abs(found[i][layer].astype(np.float64) - exact[:elements])
            assert np.all(error <= limit[:elements]), (layer, i)
            assert error.max() > limit.max() / 100  # a bound worth the name
            assert not found[i][layer, : BLOCK // 2].any()


INT8 = {
    "gathers": ("--quantize-gathers",),
    "reductions": ("--quantize-reductions",),
    "both": ("--quantize-gathers", "--quantize-reductions"),
}


@pytest.mark.parametrize(
    "case, strategy, what, path",
    [
        ("gpt", "hpz:2x1", "gathers", "so"),
        ("gpt", "hpz:2x1", "both", "stablehlo"),
        ("gpt", "zero3", "both", "so"),
        ("gpt", "ddp", "reductions", "so"),
        ("gpt_accumulated", "p=1,g=2x1,os=2x2", "reductions", "stablehlo"),
        ("stacked_accumulated", "p=2x1,g=2x1,os=2x2", "both", "so"),
    ],
)
def test_training_with_quantized_collectives(case, strategy, what, path, tmp_path):
    """Close to what one device computes, but not the same; padding, which the
    second path poisons, is never read."""
    job = StepJob(case, "levels=2x2", strategy, path, INT8[what])
    finished = job.run(tmp_path / "job")
    assert finished.comparison.faults
    moved = {
        (c["kind"], c["dtype"]) for c in finished.manifest["collectives"] if c["parameters"]
    }
    expected = set()
    if what != "reductions":
        expected |= {("all_gather", "i8"), ("all_gather", "f32")}
    if what != "gathers":
        expected |= {("all_to_all", "i8"), ("all_to_all", "f32")}
    assert expected <= moved
    assert what == "gathers" or not moved & {("reduce_scatter", "f32"), ("all_reduce", "f32")}
    expected = check.read(tmp_path / case / "expected.npz")
    for name, value in expected.items():
        if np.ndim(value) == 0 and value.dtype == np.float32:
            np.testing.assert_allclose(finished.results[name], value, rtol=2e-2)


TWO_WEIGHTS = """
func.func public @main(
    %a: tensor<512x512xf32> {tf.aliasing_output = 0 : i32} loc("p['l']['a']"),
    %b: tensor<512x512xf32> {tf.aliasing_output = 1 : i32} loc("p['l']['b']"),
    %x: tensor<64x512xf32> loc("x")) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %y = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  %z = stablehlo.dot_general %y, %b, contracting_dims = [1] x [0] : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  %g = stablehlo.dot_general %x, %z, contracting_dims = [0] x [0] : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<512x512xf32>
  %h = stablehlo.dot_general %y, %z, contracting_dims = [0] x [0] : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<512x512xf32>
  %c = stablehlo.subtract %a, %g : tensor<512x512xf32>
  %d = stablehlo.subtract %b, %h : tensor<512x512xf32>
  return %c, %d : tensor<512x512xf32>, tensor<512x512xf32>
}
"""


def test_pieces_at_the_ends_are_switched_off(tmp_path):
    """Two weights of 1 MiB, a unit that the first contraction needs."""
    step = tmp_path / "step.mlir"
    step.write_text(TWO_WEIGHTS)

    def gathers(*options):
        report = tmp_path / "report.json"
        tools.call(
            "amsp-compile", step, "-o", tmp_path / "c.mlir", "--emit", "mlir",
            "--cluster", "levels=2", "--strategy", "zero3", "--report", report, *options,
        )  # fmt: skip
        return by_kind(json.loads(report.read_text()))["all_gather"]

    assert gathers() == 2
    assert gathers("--no-split-ends") == 1
    # Stated bytes are obeyed there, too.
    assert gathers("--fuse-bytes", 2 << 20) == 1
    assert gathers("--fuse-bytes", (2 << 20) - 1) == 2
