"""Every bad input gets one clear line, an exit status, and writes nothing."""

import re
import subprocess
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import steps
from amsp import export, tools

pytestmark = pytest.mark.needs_tools


@pytest.fixture(scope="module")
def mlp(tmp_path_factory):
    """An exported step with a batch of 24 rows."""
    return steps.prepared("mlp", tmp_path_factory.mktemp("bad_input"))


@pytest.fixture(scope="module")
def compiled(mlp, tmp_path_factory):
    """The step for 4 ranks."""
    output = tmp_path_factory.mktemp("compiled") / "step.so"
    tools.compile_step(mlp.directory / "step.mlir", output, "levels=2x2", "zero3")
    return output


def error_of(name, *arguments, output, timeout=60):
    """The one line of an error of a tool that must fail."""
    done = subprocess.run(
        tools.command(name, *arguments), capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode > 0, "ended well, or by a signal"
    assert not output.exists()
    assert not list(output.parent.glob(f"{output.name}*"))
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    assert len(lines) == 1 and lines[0].startswith("error: "), done.stderr
    return lines[0]


def compile_error(step, tmp_path, *options, cluster="levels=2", strategy="zero3"):
    output = tmp_path / "out.so"
    return error_of(
        "amsp-compile",
        *(step, "-o", output, "--cluster", cluster, "--strategy", strategy),
        *options,
        output=output,
    )


def run_error(step, inputs, tmp_path, *options, timeout=60):
    output = tmp_path / "out.npz"
    return error_of(
        "amsp-run",
        *(step, "--inputs", inputs, "--outputs", output, *options),
        output=output,
        timeout=timeout,
    )


def test_a_missing_file(tmp_path):
    assert "no_such.mlir" in compile_error(tmp_path / "no_such.mlir", tmp_path)


@pytest.mark.parametrize("role", ["the step", "a link to it", "the cluster", "the report"])
def test_an_input_is_not_overwritten(role, mlp, tmp_path):
    step, cluster = tmp_path / "x.mlir", tmp_path / "c.yaml"
    step.write_bytes((mlp.directory / "step.mlir").read_bytes())
    cluster.write_text("levels: [2]\n")
    (tmp_path / "link.json").hardlink_to(step)
    (tmp_path / "link").symlink_to(step)
    outputs = {
        "the step": ("-o", step),
        "a link to it": ("-o", tmp_path / "link"),
        "the cluster": ("-o", cluster),
        "the report": ("-o", tmp_path / "y.so", "--report", tmp_path / "link.json"),
    }[role]
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for tool in ("amsp-compile", "amsp-plan"):
        done = subprocess.run(
            tools.command(tool, step, *outputs, "--cluster", cluster),
            capture_output=True, text=True,
        )  # fmt: skip
        read = cluster if role == "the cluster" else step
        message = f"error: output '{outputs[-1]}' is the input '{read}': it would be overwritten"
        assert (done.returncode, done.stderr) == (1, message + "\n")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("option", ["--outputs", "--log", "--trace"])
def test_a_run_does_not_overwrite_what_it_reads(option, mlp, compiled, tmp_path):
    inputs = tmp_path / "in.npz"
    inputs.write_bytes((mlp.directory / "inputs.npz").read_bytes())
    (tmp_path / "link").symlink_to(inputs)
    options = () if option == "--outputs" else ("--outputs", tmp_path / "out.npz")
    done = subprocess.run(
        tools.command("amsp-run", compiled, "--inputs", inputs, *options, option, tmp_path / "link"),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        f"error: output '{tmp_path / 'link'}' is the input '{inputs}': it would be overwritten\n"
    )
    assert inputs.read_bytes() == (mlp.directory / "inputs.npz").read_bytes()


def test_a_file_that_is_no_mlir(tmp_path):
    step = tmp_path / "step.mlir"
    step.write_text("It was the best of times\n")
    assert "step.mlir:1:" in compile_error(step, tmp_path)


def test_binary_garbage(tmp_path):
    step = tmp_path / "step.mlir"
    step.write_bytes(bytes(range(256)))
    assert "step.mlir" in compile_error(step, tmp_path)


def test_an_empty_file(tmp_path):
    step = tmp_path / "step.mlir"
    step.write_text("")
    compile_error(step, tmp_path)


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_truncated_file(mlp, tmp_path, share):
    text = (mlp.directory / "step.mlir").read_text()
    # The text ends with a list of locations, without which it is complete but
    # for its references.
    step = tmp_path / "step.mlir"
    step.write_text(text[: int(share * len(text))])
    assert re.search(r"step\.mlir:\d+", compile_error(step, tmp_path))


def export_step(step, args, donate, batch, tmp_path):
    export.export_step(step, args, donate, batch, tmp_path / "exported")
    return tmp_path / "exported" / "step.mlir"


def test_an_op_outside_the_part_is_named_with_its_location(tmp_path):
    def step(w, x):
        return w - jnp.linalg.cholesky(x.T @ x + 9 * jnp.eye(3)) @ w, x.sum()

    args = (np.ones((3, 3), np.float32), np.ones((4, 3), np.float32))
    error = compile_error(export_step(step, args, (0,), (1,), tmp_path), tmp_path)
    assert "stablehlo.custom_call" in error and "lapack" in error
    assert re.search(r"(step\.mlir|test_bad_input\.py):\d+", error)


def test_no_state(tmp_path):
    args = (np.ones((3, 2), np.float32), np.ones((4, 3), np.float32))
    step = export_step(lambda w, x: (x @ w).sum(), args, (), (1,), tmp_path)
    assert "state" in compile_error(step, tmp_path)


def ambiguous(tmp_path):
    def step(w, images, labels):
        return w - images.sum(0) - labels.sum(), images.sum()

    args = tuple(np.ones(s, np.float32) for s in ((3,), (4, 3), (6,)))
    return export_step(step, args, (0,), (1,), tmp_path)


def test_ambiguous_batch_arguments_are_listed(tmp_path):
    error = compile_error(ambiguous(tmp_path), tmp_path)
    assert "images" in error and "labels" in error and "--batch-args" in error


@pytest.mark.parametrize("name", ["pictures", "17"])
def test_batch_arguments_that_do_not_exist(mlp, tmp_path, name):
    error = compile_error(
        mlp.directory / "step.mlir", tmp_path, "--batch-args", name
    )
    assert name in error


@pytest.mark.parametrize("world, nearest", [(5, ("20", "25")), (7, ("21", "28"))])
def test_a_batch_that_the_world_does_not_divide(mlp, tmp_path, world, nearest):
    error = compile_error(
        mlp.directory / "step.mlir", tmp_path, cluster=f"levels={world}"
    )
    for number in ("24", str(world), *nearest):
        assert re.search(rf"\b{number}\b", error), error


@pytest.mark.parametrize(
    "cluster, strategy, numbers",
    [
        # 2 nodes of 3 devices with factor 2.
        ("nodes=2,gpus=3", "p=2x1,g=2x1,os=2x1", "23"),
        ("nodes=2,gpus=3", "mics:2x1", "23"),
        # A group of 8 among 2.
        ("levels=2", "mics:8", "82"),
        ("levels=2", "hpz:8", "82"),
        ("levels=2", "p=1,g=1,os=8", "82"),
        # p divides g, g divides os.
        ("levels=6", "p=2,g=3,os=6", "23"),
        ("levels=6", "p=1,g=3,os=2", "32"),
        ("levels=2x2", "p=1x2,g=2x1,os=2x2", "21"),
        ("levels=4", "p=4,g=4,os=2", "42"),
    ],
)
def test_factors_that_do_not_divide(mlp, tmp_path, cluster, strategy, numbers):
    step = mlp.directory / "step.mlir"
    error = compile_error(step, tmp_path, cluster=cluster, strategy=strategy)
    assert set(numbers) <= set(error)


@pytest.mark.parametrize(
    "strategy", ["zero4", "p=", "p=two", "q=2", "mics", "mics:", "p=0", "p=-2", "p=1x1x1"]
)
def test_strategies_that_do_not_exist(mlp, tmp_path, strategy):
    error = compile_error(mlp.directory / "step.mlir", tmp_path, strategy=strategy)
    assert strategy.strip("=:") in error


@pytest.mark.parametrize(
    "cluster", ["", "levels=", "levels=2x", "levels=0", "levels=-1", "nodes=2,gpu=2", "4"]
)
def test_clusters_that_do_not_exist(mlp, tmp_path, cluster):
    compile_error(mlp.directory / "step.mlir", tmp_path, cluster=cluster)


BYTES = ("fuse-bytes", "pack-bytes", "prefetch-bytes", "pipeline-bytes")


@pytest.mark.parametrize(
    "option, reason",
    [
        *((f"--{name}=-1", f"--{name} -1: expected a whole number, at least 0") for name in BYTES),
        ("--quantize-block=0", "--quantize-block 0: expected a whole number, at least 1"),
        ("--fuse-bytes=much", "--fuse-bytes much: expected a whole number"),
        ("--prefetch-bytes=1e6", "--prefetch-bytes 1e6: expected a whole number"),
        ("--pack-bytes=99999999999999999999", r"99999999999999999999: .* below 2\^63"),
        # An error with the size that works.
        ("--prefetch-bytes=1", r"bound of 1 bytes in flight .* which need \d+"),
    ],
)
def test_thresholds_that_make_no_sense(mlp, tmp_path, option, reason):
    assert re.search(reason, compile_error(mlp.directory / "step.mlir", tmp_path, option))


def test_an_output_that_is_not_named(mlp, tmp_path):
    step = mlp.directory / "step.mlir"
    output = tmp_path / "out.so"
    error = error_of("amsp-compile", step, "--cluster", "levels=2", output=output)
    assert "-o" in error


@pytest.mark.parametrize(
    "tool, options, message",
    [
        ("amsp-plan", ("--top", "x"), "--top: 'x' value invalid for uint argument"),
        ("amsp-plan", ("--memory", "abc"), "--memory: 'abc' value invalid for"),
        ("amsp-plan", ("--format", "xml"), "--format: Cannot find option named 'xml'"),
        ("amsp-plan", ("--foo",), "Unknown command line argument '--foo'"),
        ("amsp-plan", None, "--cluster: must be specified at least once"),
        ("amsp-profile", ("--ranks", "x"), "--ranks: 'x' value invalid for"),
        ("amsp-profile", ("--foo",), "Unknown command line argument '--foo'"),
    ],
)
def test_options_that_cannot_be_read(tmp_path, tool, options, message):
    output = tmp_path / "out"
    command = [*(["step.mlir"] if tool == "amsp-plan" else []), "-o", output]
    if options is not None:
        command += ["--cluster", "levels=2"] if tool == "amsp-plan" else []
        command += options
    done = subprocess.run(tools.command(tool, *command), capture_output=True, text=True)
    assert done.returncode == 1 and not output.exists()
    assert done.stderr.startswith(f"error: {message}") and done.stderr.count("\n") == 1


def test_a_kind_of_output_that_does_not_exist(mlp, tmp_path):
    step = mlp.directory / "step.mlir"
    assert "wasm" in compile_error(step, tmp_path, "--emit", "wasm")


@pytest.mark.parametrize("option", ["--log", "--trace"])
def test_a_log_that_is_a_directory_stays(mlp, compiled, tmp_path, option):
    directory = tmp_path / "directory"
    directory.mkdir()
    inputs = mlp.directory / "inputs.npz"
    assert "directory" in run_error(compiled, inputs, tmp_path, option, directory)
    assert directory.is_dir()


def test_two_outputs_in_one_file(mlp, compiled, tmp_path):
    inputs, both = mlp.directory / "inputs.npz", tmp_path / "both"
    options = ("--log", both, "--trace", both)
    assert "both" in run_error(compiled, inputs, tmp_path, *options)


def test_an_output_that_cannot_be_written(mlp, tmp_path):
    output = tmp_path / "no_such_directory" / "out.so"
    error = error_of(
        "amsp-compile",
        mlp.directory / "step.mlir",
        *("-o", output, "--cluster", "levels=2", "--strategy", "ddp"),
        output=output,
    )
    assert "no_such_directory" in error


@pytest.mark.parametrize(
    "output, emit, report, message",
    [
        ("/dev/full", "mlir", "r.json", "/dev/full"),
        ("out.mlir", "stablehlo", "no_such_directory/r.json", "no_such_directory"),
        ("r.json", "mlir", "r.json", "r.json' is given twice"),
    ],
)
def test_a_report_without_its_program(output, emit, report, message, mlp, tmp_path):
    """Neither appears without the other."""
    options = ("-o", tmp_path / output, "--emit", emit, "--report", tmp_path / report)
    target = ("--cluster", "levels=2", "--strategy", "ddp")
    with pytest.raises(tools.ToolError, match=message):
        tools.call("amsp-compile", mlp.directory / "step.mlir", *options, *target)
    assert not list(tmp_path.iterdir())


def with_inputs(mlp, tmp_path, change):
    with np.load(mlp.directory / "inputs.npz") as file:
        values = {name: file[name] for name in file.files}
    change(values)
    path = tmp_path / "in.npz"
    np.savez(path, **values)
    return path


def test_an_input_with_another_name(mlp, compiled, tmp_path):
    inputs = with_inputs(mlp, tmp_path, lambda v: v.update(arg_2=v.pop("arg2")))
    assert re.search(r"\barg2\b", run_error(compiled, inputs, tmp_path))


def test_an_input_of_another_shape(mlp, compiled, tmp_path):
    inputs = with_inputs(mlp, tmp_path, lambda v: v.update(arg2=v["arg2"].T.copy()))
    error = run_error(compiled, inputs, tmp_path)
    assert "arg2" in error and "5" in error and "7" in error


def test_an_input_of_another_type(mlp, compiled, tmp_path):
    inputs = with_inputs(
        mlp, tmp_path, lambda v: v.update(arg0=v["arg0"].astype(np.float64))
    )
    assert "arg0" in run_error(compiled, inputs, tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not an archive" * 100])
def test_inputs_that_are_no_npz(compiled, tmp_path, content):
    inputs = tmp_path / "in.npz"
    inputs.write_bytes(content)
    assert "in.npz" in run_error(compiled, inputs, tmp_path)


def test_a_truncated_npz(mlp, compiled, tmp_path):
    inputs = tmp_path / "in.npz"
    whole = (mlp.directory / "inputs.npz").read_bytes()
    inputs.write_bytes(whole[: len(whole) // 2])
    assert "in.npz" in run_error(compiled, inputs, tmp_path)


def test_a_step_that_is_no_library(mlp, tmp_path):
    step = tmp_path / "step.so"
    step.write_text("no library")
    error = run_error(step, mlp.directory / "inputs.npz", tmp_path)
    assert "step.so" in error


def batches(mlp, tmp_path, change):
    """Two batches, the second one changed."""
    directory = tmp_path / "batches"
    directory.mkdir()
    with np.load(mlp.directory / "inputs.npz") as file:
        batch = {f"arg{i}": file[f"arg{i}"] for i in mlp.batch_args}
    np.savez(directory / "0.npz", **batch)
    change(batch)
    np.savez(directory / "1.npz", **batch)
    return directory


def test_a_batch_with_too_few_rows(mlp, compiled, tmp_path):
    name = f"arg{mlp.batch_args[0]}"
    directory = batches(mlp, tmp_path, lambda b: b.update({name: b[name][:-1]}))
    inputs = mlp.directory / "inputs.npz"
    error = run_error(
        compiled, inputs, tmp_path, "--steps", "2", "--batches", directory
    )
    assert name in error and "1.npz" in error


def test_more_steps_than_batches(mlp, compiled, tmp_path):
    directory = batches(mlp, tmp_path, lambda batch: None)
    inputs = mlp.directory / "inputs.npz"
    error = run_error(
        compiled, inputs, tmp_path, "--steps", "3", "--batches", directory
    )
    assert "3" in error and "2" in error


@pytest.mark.parametrize("kind", ["fail", "stall"])
@pytest.mark.parametrize("rank", [0, 3])
def test_a_rank_that_fails_or_stalls_ends_the_others(
    mlp, compiled, tmp_path, kind, rank
):
    manifest = tools.manifest(compiled)
    collective = len(manifest["collectives"]) // 2
    start = time.monotonic()
    error = run_error(
        compiled,
        mlp.directory / "inputs.npz",
        tmp_path,
        *("--steps", "3", "--inject-fault", f"{rank},{collective},{kind}"),
    )
    assert time.monotonic() - start < 15  # 10 seconds, and the time to start.
    assert re.search(rf"\brank {rank}\b", error), error
    assert manifest["collectives"][collective]["name"] in error


def test_a_delay_is_no_failure(mlp, compiled, tmp_path):
    output = tmp_path / "out.npz"
    tools.run_step(
        compiled,
        *(mlp.directory / "inputs.npz", output, 1),
        *("--inject-fault", "1,0,delay"),
    )
    assert output.exists()
