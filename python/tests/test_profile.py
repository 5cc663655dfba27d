"""amsp-profile measures, and what it writes can be planned with."""

import csv
import json
import re
import shutil
import subprocess

import pytest

from amsp import export, tools
from amsp.models import gpt

pytestmark = pytest.mark.skipif(
    tools.find("amsp-profile") is None, reason="not built: amsp-profile"
)
STEP = """
func.func public @main(
    %w: tensor<2x2xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<8x2xf32> loc("x")) -> tensor<2x2xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
    : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  %new = stablehlo.subtract %w, %g : tensor<2x2xf32>
  return %new : tensor<2x2xf32>
}
"""
TINY = ("--max-bytes", 65536, "--max-gemm", 64, "--seconds", 0.001)


def profile(*options):
    return tools.call("amsp-profile", *options, timeout=120)


@pytest.mark.parametrize("transport", ["threads", "mpi"])
def test_a_plan_with_what_was_measured(transport, tmp_path):
    if transport == "mpi" and not shutil.which("mpirun"):
        pytest.skip("no mpirun")
    cluster = tmp_path / "here.yaml"
    profile("-o", cluster, "--ranks", 4, "--transport", transport, *TINY)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here.csv", "here.yaml"]
    with (tmp_path / "here.csv").open() as file:
        rows = list(csv.DictReader(file))
    kinds = ("all_gather", "reduce_scatter", "all_reduce", "all_to_all")
    expected = [(k, n, b) for k in kinds for n in (2, 4) for b in (4096, 16384, 65536)]
    found = [(r["collective"], int(r["ranks"]), int(r["bytes"])) for r in rows]
    assert found == expected
    assert all(0 < float(row["seconds"]) < 60 for row in rows)

    config = gpt.Config(layers=1, width=8, heads=2, sequence=4, batch=4)
    step = tmp_path / "step.mlir"
    shapes = gpt.argument_shapes(config)
    text, _ = export.step_text(gpt.train_step(config), shapes, (0, 1))
    export.write_text(step, text)
    plan = tools.call("amsp-plan", step, "--cluster", cluster, "--format", "json")
    plan = json.loads(plan.stdout)
    assert plan["levels"] == [4] and plan["cluster"] == "here"

    # What each tensor takes is read back: if it is much, they are packed.
    written = cluster.read_text()
    measured = float(re.search(r"^tensor_overhead: (\S+)$", written, re.MULTILINE)[1])
    assert 0 <= measured < 1e-3
    bandwidth = re.compile(r"^( *memory_bandwidth:) .*$", re.MULTILINE)
    packed = {}
    for overhead in ("0", "1e-3"):
        text = re.sub(r"(?m)^(tensor_overhead:) .*$", rf"\1 {overhead}", written)
        cluster.write_text(bandwidth.sub(r"\1 1e10", text))
        output = tmp_path / "step.out"
        done = tools.call(
            "amsp-compile", step, "-o", output, "--emit", "stablehlo",
            "--cluster", cluster, "--strategy", "zero3", "--statistics",
        )  # fmt: skip
        packed[overhead] = int(re.search(r"(\d+) +packed-bytes", done.stdout)[1])
    assert packed["0"] == 0 < packed["1e-3"]


def test_groups_that_do_not_divide_the_bytes(tmp_path):
    """all_to_all knows no padding: its buffer is the next larger one."""
    cluster = tmp_path / "three.yaml"
    profile("-o", cluster, "--ranks", 3, *TINY)
    with (tmp_path / "three.csv").open() as file:
        kinds = {row["collective"] for row in csv.DictReader(file)}
    assert "all_to_all" in kinds


def test_one_rank_has_no_collectives(tmp_path):
    cluster = tmp_path / "one.yaml"
    profile("-o", cluster, "--ranks", 1, *TINY, "--name", "alone")
    assert [p.name for p in tmp_path.iterdir()] == ["one.yaml"]
    assert "name: alone\n" in cluster.read_text()


@pytest.mark.parametrize("name", ["a b: c", "bob's", "#1"])
def test_any_name_can_be_read_again(name, tmp_path):
    cluster = tmp_path / "it's, here.yaml"
    profile("-o", cluster, "--ranks", 2, *TINY, "--name", name)
    step = tmp_path / "step.mlir"
    step.write_text(STEP)
    options = ("--cluster", cluster, "--format", "json")
    plan = tools.call("amsp-plan", step, *options, "-o", tmp_path / "plan.yaml")
    assert json.loads(plan.stdout)["cluster"] == name
    again = tools.call("amsp-plan", step, *options, "--strategy", tmp_path / "plan.yaml")
    assert json.loads(again.stdout)["cluster"] == name


def test_the_table_is_not_the_cluster_file(tmp_path):
    cluster = tmp_path / "here.csv"
    with pytest.raises(tools.ToolError, match="here.csv' is given twice"):
        profile("-o", cluster, "--ranks", 2, *TINY)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options,message",
    [
        (("--ranks", 0), "--ranks must be from 1 to 4096"),
        (("--ranks", 2, "--max-bytes", 4), "--max-bytes must be at least 4096"),
        (("--ranks", 2, "--transport", "pigeon"), "--transport must be threads or mpi"),
        (("--ranks", 2, "--seconds", 0), "--seconds must be positive"),
    ],
)
def test_bad_options(options, message, tmp_path):
    cluster = tmp_path / "here.yaml"
    command = tools.command("amsp-profile", "-o", cluster, *options)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"error: {message}\n"
    assert not list(tmp_path.iterdir())


def test_no_directory(tmp_path):
    with pytest.raises(tools.ToolError, match="there is no directory"):
        profile("-o", tmp_path / "none" / "here.yaml", "--ranks", 2, *TINY)
