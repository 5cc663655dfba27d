"""Steps that come as bytecode or as artifacts of jax.export."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import export
from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from amsp import arrays, importer, tools, xla_executor
from amsp import export as exporter


def step(params, x):
    def loss(params):
        y = jax.nn.silu(x @ params["w"])
        return (y * y).mean()

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, gradients), value


SHAPES = ({"w": jax.ShapeDtypeStruct((4, 3), "f")}, jax.ShapeDtypeStruct((8, 4), "f"))
VALUES = (
    {"w": np.linspace(-1, 1, 12, dtype="f").reshape(4, 3)},
    np.linspace(-2, 2, 32, dtype="f").reshape(8, 4),
)


def text(locations=True):
    return jax.jit(step, donate_argnums=0).lower(*SHAPES).as_text(debug_info=locations)


def bytecode(locations=True):
    with make_ir_context():
        module = ir.Module.parse(text(locations))
        oldest = stablehlo.get_minimum_version()
        return stablehlo.serialize_portable_artifact(module, oldest)


def plain_bytecode():
    with make_ir_context():
        path = ir.Module.parse(text()).operation
        with open(os.memfd_create("bytecode"), "w+b") as file:
            path.write_bytecode(file)
            file.seek(0)
            return file.read()


def artifact(function=step, shapes=SHAPES, **options):
    pytest.importorskip("flatbuffers")
    jitted = jax.jit(function, donate_argnums=0)
    return bytes(export.export(jitted, **options)(*shapes).serialize())


def run_importer(data, directory, capsys):
    source, out = directory / "step.in", directory / "step.mlir"
    source.write_bytes(data)
    status = importer.main([str(source), "-o", str(out)])
    error = capsys.readouterr().err
    if status:
        assert not out.exists()
        assert error.startswith(f"error: {source}: ") and error.count("\n") == 1
        return error
    assert not error
    return out


FORMATS = {
    "text": lambda: text().encode(),
    "bytecode": bytecode,
    "plain_bytecode": plain_bytecode,
    "artifact": artifact,
}


@pytest.mark.parametrize("kind", FORMATS)
def test_names_and_aliases_are_kept(kind, tmp_path, capsys):
    out = run_importer(FORMATS[kind](), tmp_path, capsys)
    found = out.read_text()
    assert "loc(\"params['w']\")" in found and 'loc("x")' in found
    assert exporter.aliases(found) == {0: 0}
    program = xla_executor.ReplicatedProgram(found, 1)
    got = [shards[0] for shards in program([[a] for a in jax.tree.leaves(VALUES)])]
    want = jax.tree.leaves(jax.jit(step)(*VALUES))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_without_locations(tmp_path, capsys):
    found = run_importer(bytecode(locations=False), tmp_path, capsys).read_text()
    assert "params" not in found
    assert exporter.aliases(found) == {0: 0}


@pytest.mark.needs_tools
@pytest.mark.parametrize(
    "data",
    [artifact, bytecode, lambda: bytecode(locations=False)],
    ids=["artifact", "bytecode", "bytecode-without-locations"],
)
def test_what_is_imported_compiles_and_runs(data, tmp_path, capsys):
    imported = run_importer(data(), tmp_path, capsys)
    compiled, inputs = tmp_path / "step.so", tmp_path / "in.npz"
    tools.compile_step(imported, compiled, "levels=2", "zero3")
    arrays.save_arguments(inputs, jax.tree.leaves(VALUES))
    tools.run_step(compiled, inputs, tmp_path / "out.npz", 1)
    want = jax.tree.leaves(jax.jit(step)(*VALUES))
    with np.load(tmp_path / "out.npz") as out:
        for i, value in enumerate(want):
            np.testing.assert_allclose(out[f"out{i}"], value, rtol=1e-5)


@pytest.mark.needs_tools
@pytest.mark.parametrize("kind", ["bytecode", "plain_bytecode"])
@pytest.mark.parametrize("tool", ["amsp-compile", "amsp-plan"])
def test_the_tools_name_the_importer(tool, kind, tmp_path):
    source = tmp_path / "step.mlirbc"
    source.write_bytes(FORMATS[kind]())
    with pytest.raises(tools.ToolError) as error:
        tools.call(tool, source, "-o", tmp_path / "out", "--cluster", "levels=2")
    assert str(error.value) == (
        f"error: '{source}' is bytecode of another version; make text of it: "
        f"python -m amsp.importer {source} -o STEP.mlir"
    )
    assert not (tmp_path / "out").exists()


def test_the_input_stays(tmp_path, capsys):
    source = tmp_path / "step.mlirbc"
    source.write_bytes(bytecode())
    os.link(source, tmp_path / "link")
    assert importer.main([str(source), "-o", str(tmp_path / "link")]) == 1
    assert "is the input" in capsys.readouterr().err
    assert source.read_bytes() == bytecode()


def test_symbolic_shapes_are_refused(tmp_path, capsys):
    rows = jax.ShapeDtypeStruct(export.symbolic_shape("b, 4"), "f")
    error = run_importer(artifact(shapes=(SHAPES[0], rows)), tmp_path, capsys)
    assert "argument 1 has a symbolic shape: tensor<?x4xf32>" in error


def test_several_platforms_are_refused(tmp_path, capsys):
    error = run_importer(artifact(platforms=("cpu", "cuda")), tmp_path, capsys)
    assert "for several platforms (cpu, cuda)" in error


@pytest.mark.parametrize(
    "data,reason",
    [
        (b"\x08\x00\0\0 nothing that is known", "neither text, nor portable bytecode"),
        (b"module {", "cannot be read"),
        (importer.BYTECODE + b"\x0dStableHLO_v1.0.0\0\x01", "cannot be read"),
    ],
)
def test_what_cannot_be_read(data, reason, tmp_path, capsys):
    assert reason in run_importer(data, tmp_path, capsys)


SHARDED = """
import sys, jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(jax.devices(), ("x",))
x = jax.ShapeDtypeStruct((8, 4), "f", sharding=NamedSharding(mesh, P("x")))
jitted = jax.jit(lambda x: x * 2)
if sys.argv[1] == "artifact":
    data = bytes(jax.export.export(jitted)(x).serialize())
else:
    data = jitted.lower(x).as_text().encode()
sys.stdout.buffer.write(data)
"""


def sharded(kind, devices):
    flags = f"--xla_force_host_platform_device_count={devices}"
    return subprocess.run(
        [sys.executable, "-c", SHARDED, kind],
        env=dict(os.environ, XLA_FLAGS=flags),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout


@pytest.mark.parametrize("kind", ["text", "artifact"])
def test_a_partitioned_step_is_refused(kind, tmp_path, capsys):
    if kind == "artifact":
        pytest.importorskip("flatbuffers")
    error = run_importer(sharded(kind, 4), tmp_path, capsys)
    assert "for 4 devices" in error


def test_a_mesh_of_one_device_is_fine(tmp_path, capsys):
    assert run_importer(sharded("text", 1), tmp_path, capsys).exists()
