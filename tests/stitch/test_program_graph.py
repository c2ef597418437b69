"""Modules of programs: what they compute is what the reference says of the dense program."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.models import (
    Model,
    autoencoder,
    bigbird_data,
    gcn,
    gpt3,
    graphsage,
    load,
    random_data,
)
from fuseloom.program import Op, Program, parse
from fuseloom.program import evaluate as reference
from fuseloom.program.functions import FUNCTIONS
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.hlo.printer import print_hlo
from fuseloom.stitch.hlo.reader import read_hlo
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.program_graph import dense_program, program_module
from tests.property.programs.filling import data_of
from tests.property.programs.making import Maker
from tests.tiers import counts

MODELS = {
    "gcn": gcn(nodes=12, features=6, hidden=5, classes=3),
    "graphsage": graphsage(nodes=11, features=6, hidden=5, classes=3),
    "autoencoder": autoencoder(batch=5, inputs=12, hidden=6),
    "gpt3": gpt3(tokens=16, width=8, heads=2, inner=12, decoders=2),
    **{name: load(name)[0] for name in ("attention", "heads", "spmm", "spmv", "nested")},
}
DENSE_FACTORS = "A: 3x4 dense\nB: 4x5 dense\nC: 3x4 dense\nu: 4 dense\nv: 3 dense\n"


def compare(
    program: Program, data: dict[str, Any], element: str = "f32", tolerance: float = 1e-5
) -> None:
    module = program_module(program, element)
    arrays = {name: np.asarray(data[name], np.float64) for name in program.given}
    if element == "f32":
        arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    expected = reference(dense_program(program), arrays)
    made = evaluate(module, arrays)
    assert len(made) == len(program.outputs)
    for name, array in zip(program.outputs, made, strict=True):
        assert array.shape == program.tensor(name).shape
        wanted = expected[name].dense()
        scale = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)))
        np.testing.assert_allclose(array, wanted, rtol=tolerance, atol=tolerance * scale)


def drawn(program: Program, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-2, 2, program.tensor(name).shape) for name in program.given}


def opcodes(text: str) -> list[str]:
    operations = program_module(parse(text)).main.operations
    return [one.opcode for one in operations if one.opcode not in ("parameter", "constant")]


@pytest.mark.parametrize("name", MODELS)
def test_shipped_models(name: str) -> None:
    model: Model = MODELS[name]
    stored = bigbird_data(model) if model.masks else random_data(model)
    compare(model.program, {key: one.to_dense() for key, one in stored.items()})


@pytest.mark.parametrize("name", MODELS)
def test_modules_are_printed_read_and_fused(name: str) -> None:
    module = program_module(MODELS[name].program)
    assert print_hlo(read_hlo(print_hlo(module))) == print_hlo(module)
    assert fuse_module(module).count <= fuse_module(module).baseline_count


@counts(60, 600)
def test_random_programs(count: int) -> None:
    refused = 0
    for seed in range(count):
        rng = random.Random(seed)
        maker = Maker(rng)
        text = maker.text(rng.randint(2, 6))
        try:
            program = parse(text)
        except ProgramError:
            continue
        positive = {x.name for x in maker.tensors if x.positive}
        data = {key: x.to_dense() for key, x in data_of(program, positive, rng).items()}
        try:
            program_module(program)
        except ProgramError:
            refused += 1
        else:
            compare(program, data, "f64", 1e-9)
    assert refused < count / 4


@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.value)
def test_functions_of_an_element(op: Op) -> None:
    low, high = FUNCTIONS[op].domain
    program = parse(f"x: 8x9 dense\ny[j,i] = {FUNCTIONS[op].name}(x[i,j])")
    values = np.linspace(max(low, -4) + 0.01, min(high, 4), 72).reshape(8, 9)
    compare(program, {"x": np.round(values * 8) / 8 + 0.0625})


STATEMENTS = {
    "dot": "y[i,j] = A[i,k] * B[k,j]",
    "transposed dot": "y[j,i] = A[i,k] * B[k,j]",
    "batches": "y[i,k,j] = A[i,k] * B[k,j]",
    "outer product": "y[i,k] = u[k] * v[i]",
    "a factor summed first": "y[j] = A[i,k] * B[k,j]",
    "squares": "y[i] = A[i,k] * A[i,k]",
    "inner product": "y = A[i,k] * C[i,k]",
    "three factors": "y[j] = product(v[i], A[i,k], B[k,j])",
    "three factors in one index": "y[k] = product(u[k], u[k], A[i,k])",
    "quotient": "y[k] = A[i,k] / v[i]",
    "difference": "y[k,i] = u[k] - A[i,k]",
    "a sum of rows": "z[i] = A[i,k] + u[k]\ny = z[i] * v[i]",
    "constants": "y[i,k] = max(2 - 0.5 * A[i,k], 0.25, C[i,k])",
    "minimum": "y[i] = min[k] A[i,k]",
    "maximum": "y[k] = max[i] A[i,k]",
    "transposition": "y[k,i] = A[i,k]",
    "concatenation": "y[i,c] = concat[c](A[i,c], C[i,c])",
    "reshape": "y: 2x6 dense\ny[a,b] = reshape(A[i,k])",
    "two results": "y[i] = A[i,k] * u[k]\nz[k] = A[i,k] * v[i]",
    "several terms": "y[i] = A[i,k] * u[k]\ny[i] += C[i,k] * u[k]",
    "convolution": "w: 2 dense\ny[i] = u[i+k] * w[k]",
    "padding": "w: 3 dense\ny: 4 csf\ny[i] = u[i+k-1] * w[k]",
    "diagonal": "y[i] = A[i,i]",
    "a row": "y[k] = A[1,k] * u[k]",
    "rows of a list": "p: list 2, 0, 2, 1\ny[r,k] = A[p[r],k]",
    "entries backwards": "p: list 2, 0, 1\ny[r] = max[k] A[p[2-r],k]",
    "pooling": "q: index 2\ny[i] = max[q] u[2*i+q]",
    "zeros left out": "y[i] = nonzero(relu(v[i]))",
    "only an input": "y[i,k] = A[i,k]",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str) -> None:
    program = parse(DENSE_FACTORS + STATEMENTS[name])
    compare(program, drawn(program))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dot", ["dot"]),
        ("transposed dot", ["dot"]),
        ("batches", ["broadcast", "broadcast", "multiply"]),
        ("a factor summed first", ["reduce", "dot"]),
        ("squares", ["multiply", "reduce"]),
        ("three factors", ["dot", "dot"]),
        ("transposition", ["transpose"]),
        ("difference", ["broadcast", "transpose", "subtract"]),
        ("only an input", []),
    ],
)
def test_operations(name: str, expected: list[str]) -> None:
    assert opcodes(DENSE_FACTORS + STATEMENTS[name]) == expected


def test_a_batched_product_has_batch_dimensions() -> None:
    program = parse("Q: 5x2x3 dense\nK: 6x2x3 dense\nS[h,i,j] = Q[i,h,e] * K[j,h,e]")
    (made,) = [one for one in program_module(program).main.operations if one.opcode == "dot"]
    assert made.attributes == {
        "lhs_batch_dims": (1,), "lhs_contracting_dims": (2,),
        "rhs_batch_dims": (1,), "rhs_contracting_dims": (2,),
    }  # fmt: skip
    compare(program, drawn(program))


def test_parameters_and_names() -> None:
    program = parse("x: 4 dense\nunused: 3 dense\ny[i] = exp(x[i])\nz[i] = y[i] + 1\noutput y")
    module = program_module(program)
    assert [one.name for one in module.main.parameters] == ["x", "unused"]
    assert [one.name for one in module.main.operations] == ["x", "unused", "y"]
    assert module.main.outputs == ("y",)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("y: 4 csf\ny[i] = max[k] x[i+k-1]\nk: index 3", "a maximum skips elements"),
        ("z[i] = nonzero(x[i])\ny[i] = exp(z[i])", "exp is applied to those elements"),
        ("z[i] = nonzero(x[i])\ny[i] = z[i] + 1", "adds a number to those elements"),
        ("z[i] = nonzero(x[i])\ny[i] = max(z[i], 1)", "raises those elements"),
        ("z[i] = nonzero(x[i])\ny[i] = x[i] / z[i]", "divides by z"),
        ("z[i] = nonzero(x[i])\ny[i] = max(x[i], z[i])", "a maximum skips"),
        ("z[i] = nonzero(x[i])\ny[i,j] = z[i] + w[i,j]", None),
        ("z[i,j] = nonzero(w[i,j])\ny[i,j] = z[i,j] + x[i]", "only where z has"),
        ("option broadcast_add dense\nz[i,j] = nonzero(w[i,j])\ny[i,j] = z[i,j] + x[i]", None),
        ("z[i] = nonzero(x[i])\ny[i] = tanh(z[i]) * x[i]", None),
    ],
)
def test_absent_elements_are_refused_where_they_are_no_zeros(
    statement: str, reason: str | None
) -> None:
    lines = statement.split("\n")
    options = [line for line in lines if line.startswith("option")]
    rest = [line for line in lines if line not in options]
    program = parse("\n".join([*options, "x: 4 dense", "w: 4x3 dense", *rest]))
    if reason is None:
        compare(program, drawn(program))
        return
    with pytest.raises(ProgramError, match=reason) as caught:
        program_module(program)
    assert caught.value.line is not None


def test_elements_are_floats() -> None:
    program = parse("x: 4 dense\ny[i] = exp(x[i])")
    with pytest.raises(ProgramError, match="no elements of the type s32"):
        program_module(program, "s32")
