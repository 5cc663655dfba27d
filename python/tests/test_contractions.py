"""Contractions of every layout against numpy's einsum."""

import string

import numpy as np
import pytest

from amsp import tools

pytestmark = pytest.mark.needs_tools

SIZES = dict(zip(string.ascii_lowercase, (2, 3, 4, 5, 6, 7, 3, 2), strict=False))
REPLICATED = "amsp.placement = #amsp.placement<replicated>"
SPECS = [
    "ab,bc->ac",
    "ba,bc->ac",
    "ab,cb->ac",
    "ba,cb->ac",
    "ab,bc->ca",
    "ab,b->a",
    "a,ab->b",
    "a,a->",
    "abc,cd->abd",
    "abc,abd->cd",
    "abcd,cde->abe",
    "abe,cde->abcd",
    "abcd,aecd->acbe",  # q k^T of attention
    "acbe,aecd->abcd",  # p v
    "acbe,aecd->acbd",
    "acbe,abcd->aecd",  # p^T dO
    "acbe,abcd->acde",
    "acbd,aced->acbe",
    "acbe,aced->acbd",
    "acbe,acbd->aced",
    "abc,abd->acd",
    "abc,adc->bad",
    "abc,dcb->ad",  # two contracted dimensions, no common stride
    "abc,bcad->bd",
    "abc,cbd->dba",
    "abcd,dbe->cae",
]


def program(spec, dtype):
    inputs, output = spec.split("->")
    a, b = inputs.split(",")
    loops = sorted(set(a + b))

    def tensor(dims):
        return "tensor<" + "".join(f"{SIZES[d]}x" for d in dims) + f"{dtype}>"

    def affine(dims):
        return f"affine_map<({', '.join(loops)}) -> ({', '.join(dims)})>"

    maps = ", ".join(map(affine, (a, b, output)))
    return f"""
module @contraction attributes {{amsp.levels = array<i64: 1>,
    amsp.strategy = {{p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}}}} {{
  func.func @main(%a: {tensor(a)} {{{REPLICATED}}}, %b: {tensor(b)} {{{REPLICATED}}})
      -> ({tensor(output)} {{{REPLICATED}}}) {{
    %zero = arith.constant 0.0 : {dtype}
    %e = tensor.empty() : {tensor(output)}
    %z = linalg.fill ins(%zero : {dtype}) outs(%e : {tensor(output)}) -> {tensor(output)}
    %c = linalg.contract indexing_maps = [{maps}]
      ins(%a, %b : {tensor(a)}, {tensor(b)}) outs(%z : {tensor(output)}) -> {tensor(output)}
    return %c : {tensor(output)}
  }}
}}
"""


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("spec", SPECS)
def test_contraction(spec, dtype, tmp_path):
    source, step = tmp_path / "step.mlir", tmp_path / "step.so"
    source.write_text(program(spec, dtype))
    tools.call("amsp-compile", source, "-o", step)
    random = np.random.default_rng(0)
    kind = {"f32": np.float32, "f64": np.float64}[dtype]
    operands = [
        random.integers(-4, 5, size=[SIZES[d] for d in dims]).astype(kind)
        for dims in spec.split("->")[0].split(",")
    ]
    inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(inputs, arg0=operands[0], arg1=operands[1])
    tools.run_step(step, inputs, outputs, 1, timeout=60)
    # Small integers: every order of summation gives the same.
    np.testing.assert_array_equal(np.load(outputs)["out0"], np.einsum(spec, *operands))
