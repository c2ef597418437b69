"""Every file of the corpus: read, printed, read again, run, and compared with numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import erf

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.frontends.algebra.expressions import Unsupported
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import evaluate

from .files import CORPUS, MALFORMED, NAMES, data_of, imported, printed, text_of

Array = npt.NDArray[np.float64]


def test_the_corpus_is_there() -> None:
    assert len(NAMES) >= 40
    assert len(MALFORMED) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str) -> None:
    first = imported(name)
    again = from_mlir(printed(first))
    assert again.program == first.program
    assert again.schedule == first.schedule


@pytest.mark.parametrize("name", [n for n in NAMES if "arith.constant dense<[" in text_of(n)])
def test_round_trip_with_data(name: str) -> None:
    first = imported(name)
    again = from_mlir(printed(first, data=True))
    assert {t.name: t for t in again.program.tensors} == first.program.by_name
    for tensor, stored in first.data.items():
        np.testing.assert_array_equal(again.data[tensor].to_dense(), stored.to_dense())


@pytest.mark.parametrize("name", NAMES)
def test_simulated(name: str) -> None:
    given = imported(name)
    run = simulate(compile_program(given.program, given.schedule), data_of(given))
    check = run.check()
    assert check.ok, check


def _softmax(a: Array) -> Array:
    """Over what is stored: absent elements are minus infinity."""
    logits = np.where(a != 0, a, -np.inf)
    rows = (a != 0).any(axis=1)
    made = np.zeros(a.shape)
    raised = np.exp(logits[rows] - logits[rows].max(axis=1, keepdims=True))
    made[rows] = raised / raised.sum(axis=1, keepdims=True)
    return made


def _norm(x: Array) -> Array:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


_W = np.array([[1.0, 2.0], [0.0, -3.5], [0.4, 5.0]])
_BYTES = np.array([[1.0, 2.0], [3.0, -1.0]])
_FEW = np.array([[0.0, 2.0], [-1.0, 0.0]])


def _decoder_tail(*given: Array) -> Array:
    """From the output projection to the next decoder's; the batch of one is no dimension."""
    attended, residual, wo, bo, w1, b1, w2, b2, wq, bq = given
    state = attended[0] @ wo.T + bo + residual[0]
    out = np.maximum(_norm(state) @ w1.T + b1, 0.0) @ w2.T + b2 + state
    made: Array = _norm(out) @ wq.T + bq
    return made


def _rows_like(a: Array, b: Array) -> Array:
    """A bias in the rows that have elements."""
    return np.where((a != 0).any(axis=1, keepdims=True), a + b, 0.0)


# What files compute, from their inputs in the order of the arguments.
MEANINGS: dict[str, Callable[..., Array]] = {
    "spmv": lambda a, x: np.einsum("ij,j->i", a, x),
    "spmm_gustavson": lambda a, b: np.einsum("ik,kj->ij", a, b),
    "inner_product": lambda a, b: np.einsum("ik,kj->ij", a, b),
    "outer_product": lambda a, b: np.einsum("ik,kj->ij", a, b),
    "csf3": lambda b, c: np.einsum("ijk,k->ij", b, c),
    "sddmm": lambda m, a, b: np.einsum("ij,ik,jk->ij", m, a, b),
    "old_encoding": lambda a, b: a * b,
    "older_encoding": lambda a, b: a + b,
    "coo": lambda a, x: a @ x,
    "softmax_argmax": _softmax,
    "layer_norm": _norm,
    "decoder_tail": _decoder_tail,
    "relu_select": lambda a: np.maximum(a, 0.0),
    "scale_shift": lambda a: np.where(a != 0, 2.0 - a / 8.0, 0.0),
    "named_ops": lambda a, b, c: np.exp(a @ b + c) * (a @ b),
    "matmul_maps": lambda a, b: a @ b.T,
    "batch_matmul": lambda a, b, v: np.einsum("bik,bkj->bij", a, b) - v,
    "accumulate": lambda a, x, y: y + a @ x,
    "in_place": lambda a, b: a + b,
    "constants": lambda x: (x @ _W + 1.0 - _BYTES) * _FEW,
    "transposed_constant": lambda x: x @ np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).T,
    "transpose": lambda a, b: (a * b).T,
    "reshape_by_shape": lambda x: np.exp(2 * x).reshape(3, 8),
    "keep_dim_reshape": lambda x: np.exp(2 * x.sum(1)),
    "unit_dimension": lambda x, b: x + b,
    "concat": lambda a, b, c: np.concatenate([a + c, b, c], axis=1),
    "two_regions": lambda a, x, w, v: a @ (a @ x @ w) @ v,
    "casts": lambda x: np.exp(x.sum(1)),
    "shadowed": lambda a, b: np.exp(b - a),
    "unknown_sizes": lambda a, x, b: a @ x + b,
    "scalars": lambda a, alpha, beta: a * alpha / beta * 2.0,
    "broadcast_bias": _rows_like,
    "dense_broadcast": lambda a, b: a + b,
    "multi_result": lambda a: a.max(1) - a.sum(1),
    "zero_dimensional_sum": lambda a: a.sum(),
    "compound_body": lambda a, b: np.where((a != 0) & (a + b != 0) | (b != 0),
                                           np.exp(a * a - b * b), 0.0).sum(1),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(MEANINGS))
@pytest.mark.parametrize("seed", [1, 2])
def test_meaning(name: str, seed: int) -> None:
    """Against numpy, by argument and not through anything the importer decided."""
    given = imported(name)
    data = data_of(given, seed)
    numbers = {tensor: number for tensor, (_, number) in given.arguments.items()}
    arguments = [data[t].to_dense() for t in sorted(numbers, key=numbers.__getitem__)]
    (output,) = given.program.outputs
    got = evaluate(given.program, data)[output].dense()
    np.testing.assert_allclose(got, MEANINGS[name](*arguments), rtol=1e-5, atol=1e-6)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    ("orders", "regions"), [(True, 2), (False, 1)], ids=["as the file reads", "in any order"]
)
def test_a_region_is_cut_where_it_cannot_be_built_as_the_file_reads(
    orders: bool, regions: int
) -> None:
    given = imported("decoder_tail")
    lines = given.schedule.splitlines()
    assert lines[0].endswith(" where possible")
    assert [line.split()[0] for line in lines] == ["fuse", *["order"] * 4]
    compiled = compile_program(given.program, given.schedule if orders else lines[0])
    assert len(compiled.regions) == regions
    assert simulate(compiled, data_of(given)).check().ok
    if orders:
        with pytest.raises(FuseloomError, match="cut the region after") as problem:
            compile_program(given.program, given.schedule.replace(" where possible", ""))
        assert problem.value.hint


def test_meaning_of_functions() -> None:
    given = imported("functions")
    data = data_of(given)
    a = data["a"].to_dense()
    values = evaluate(given.program, data)
    sigmoid = 1 / (1 + np.exp(-a))
    np.testing.assert_allclose(values["logarithm"].dense(), -0.5 * np.log(sigmoid), rtol=1e-6)
    gelu = 0.5 * a * (1 + erf(a / np.sqrt(2)))
    np.testing.assert_allclose(values["gelu_"].dense(), gelu, rtol=1e-6)
    ops = [s.op.value for s in given.program.statements]
    assert ops == ["sigmoid", "rsqrt", "log", "gelu"]


def test_meaning_of_a_transposed_resource() -> None:
    given = imported("transposed_weights")
    assert given.wanted == ("x", "wt")
    assert given.resources == {"wt": "torch_tensor_4_6_torch.float32"}
    data = data_of(given)
    x, w = data["x"].to_dense(), data["wt"].to_dense()
    assert w.shape == (6, 4)
    (output,) = given.program.outputs
    product = x @ w
    bias = np.array([0.5, -0.5, 0.25, 1.0])
    met = ((x != 0).astype(int) @ (w != 0).astype(int)).any(axis=1, keepdims=True)
    expected = np.where(met, product + bias, 0.0)
    np.testing.assert_allclose(evaluate(given.program, data)[output].dense(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name: str) -> None:
    """The first line of a file says where its error is, and a part of its message."""
    text = (CORPUS / "malformed" / f"{name}.mlir").read_text(encoding="utf-8")
    first, _, rest = text.partition("\n")
    place, _, message = first.removeprefix("// ").partition(" ")
    with pytest.raises(FuseloomError) as problem:
        from_mlir(rest, source="bad.mlir")
    found = problem.value
    assert f"{found.line}:{found.column}" == place
    assert message in found.message
    assert found.hint
    assert found.source == "bad.mlir"
    assert not isinstance(found, Unsupported)
