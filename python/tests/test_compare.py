"""amsp-run --compare: two builds of one step, side by side."""

import numpy as np
import pytest

import steps
from amsp import tools

pytestmark = pytest.mark.needs_tools


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("compare")
    ready = steps.prepared("ten_adam_steps", root)

    def build(name, cluster, strategy, source=ready.directory / "step.mlir"):
        tools.compile_step(source, root / name, cluster, strategy, ready.batch_args)

    build("sharded.so", "nodes=2,gpus=2", "zero3")
    build("one.so", "levels=1", "ddp")
    # Another learning rate: no result of the first step is far off, but some.
    text = (ready.directory / "step.mlir").read_text()
    wrong = text.replace("dense<-5.000000e-02>", "dense<-5.100000e-02>")
    (root / "wrong.mlir").write_text(wrong)
    assert wrong != text
    build("wrong.so", "levels=1", "ddp", root / "wrong.mlir")
    other = steps.prepared("odd_sizes", root)
    tools.compile_step(
        other.directory / "step.mlir", root / "other.so", "levels=1", "ddp", other.batch_args
    )
    (root / "in.npz").write_bytes((ready.directory / "inputs.npz").read_bytes())
    return root


def compare(root, reference, *options, step="sharded.so"):
    arguments = (root / step, "--inputs", root / "in.npz", "--compare", root / reference)
    return tools.call("amsp-run", *arguments, *options).stdout


def test_two_strategies_agree(built):
    text = compare(built, "one.so", "--steps", 10)
    assert "compared with " in text and "largest difference " in text
    assert "all results have the same bits" in compare(built, "sharded.so", "--steps", 3)


def test_the_first_value_that_diverges_is_named(built):
    with pytest.raises(tools.ToolError) as error:
        compare(built, "wrong.so", "--steps", 10)
    text = str(error.value)
    assert text.count("\n") == 0 and text.startswith("error: --compare: step 1: out")
    assert "params" in text and " diverges: " in text and "wrong.so" in text
    # A bound that is loose enough for it passes the first step.
    compare(built, "wrong.so", "--steps", 1, "--tolerance", 1)


def test_a_difference_in_rounding_exceeds_a_tolerance_of_zero(built):
    with pytest.raises(tools.ToolError, match="step 1: out.* diverges"):
        compare(built, "one.so", "--tolerance", 0)


def test_batches_and_checkpoints_go_to_both(built, tmp_path):
    inputs = dict(np.load(built / "in.npz"))
    x, y = sorted(inputs, key=lambda name: int(name[3:]))[-2:]
    (tmp_path / "batches").mkdir()
    for step in range(3):
        batch = {name: np.roll(inputs[name], step, axis=0) for name in (x, y)}
        np.savez(tmp_path / "batches" / f"{step}.npz", **batch)
    save = ("--save", tmp_path / "ck", "--steps", 1)
    compare(built, "one.so", "--batches", tmp_path / "batches", *save)
    text = compare(built, "one.so", "--batches", tmp_path / "batches", "--load", tmp_path / "ck")
    assert "steps: 2" in text


def test_builds_of_different_steps_are_refused(built):
    with pytest.raises(tools.ToolError, match=r"--compare .*other.so: .*the step has"):
        compare(built, "other.so")


@pytest.mark.parametrize(
    "options, message",
    [
        (("--tolerance", "x"), "--tolerance x: expected a number from 0 to 1"),
        (("--transport", "mpi"), "--compare runs with --transport threads only"),
    ],
)
def test_options_that_cannot_be_meant(built, options, message):
    with pytest.raises(tools.ToolError, match=message):
        compare(built, "one.so", *options)
