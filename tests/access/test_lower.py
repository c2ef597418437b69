"""Terms as machine code, against their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from fuseloom.access.constructs import ShapeError
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import (
    Convolution,
    apply,
    batched_matmul,
    conv2d,
    dense,
    matmul,
    pool2d,
)
from fuseloom.access.loops import TOGETHER
from fuseloom.access.lower import MOST_UNROLLED, CompiledTerm, compile_term, lower_term
from fuseloom.access.mapping import map_term
from fuseloom.access.meaning import evaluate, random_data, shapes_of
from fuseloom.access.rules.soundness import random_term
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, subterms, tensor, tensors
from fuseloom.codegen.code_folder import ENVIRONMENT
from fuseloom.codegen.compile import Backend
from fuseloom.errors import DataError, LoweringError
from tests.access.test_kernels import LAYERS

TERMS = [
    *map(conv2d, LAYERS),
    dense(3, 20, 11),
    batched_matmul(2, 3, 4, 5),
    pool2d(Convolution(1, 2, 6, 6, 2, (3, 3), (2, 2), (1, 1)), "max"),
    pool2d(Convolution(1, 2, 6, 6, 2, (2, 2), (2, 2)), "mean"),
]


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))


@pytest.mark.parametrize("term", TERMS)
def test_a_kernel_and_its_mapping_compute_what_they_mean(term: Term) -> None:
    data = random_data(term)
    for made in (term, map_term(term, SystolicArray(4, 4)).after):
        compiled = compile_term(made)
        assert np.allclose(compiled(data), evaluate(made, data))
        assert all(len(routine.body) <= TOGETHER for routine in compiled.routines)


def _compiled(term: Term) -> CompiledTerm | None:
    try:
        return compile_term(term)
    except LoweringError:
        return None


def _is_refused(part: Term, shapes: Mapping[Term, AccessShape]) -> bool:
    if part.construct != "compute":
        return False
    tuples = part.attributes[0] in ("dotProd", "elementwiseAdd", "elementwiseMul")
    large = shapes[part.operands[0]].compute[:1] > (MOST_UNROLLED,)
    return part.attributes[0] == "softmax" or (tuples and large)


def test_random_terms_compute_what_they_mean() -> None:
    """Every construct; those with powers of e or large tuples are refused."""
    random = np.random.default_rng(5)
    seen: set[str] = set()
    while len(seen) < 60:
        term = random_term(random, int(random.integers(1, 4)))
        try:
            shapes = shapes_of(term)
        except ShapeError:
            continue
        if max(shape.elements for shape in shapes.values()) > 20_000:
            continue
        data = {n: random.integers(-4, 5, size=dims) for n, dims in tensors(term).items()}
        compiled = _compiled(term)
        if compiled is None:
            assert any(_is_refused(x, shapes) for x in subterms(term))
            continue
        with np.errstate(all="ignore"):
            wanted = evaluate(term, data)
        assert np.allclose(compiled(data), wanted, equal_nan=True), term
        seen.add(str(sorted(x.construct for x in subterms(term))))


def test_numba_computes_the_same() -> None:
    for term in (conv2d(LAYERS[0]), BLOCKED):
        data = random_data(term)
        assert np.allclose(compile_term(term, Backend.NUMBA)(data), evaluate(term, data))


def test_what_is_not_compiled_is_refused() -> None:
    row = apply("access", tensor("A", (40, 2)), 0)
    with pytest.raises(LoweringError, match="powers of e"):
        lower_term(apply("compute", "softmax", row))
    with pytest.raises(LoweringError, match="40 elements"):
        lower_term(apply("compute", "elementwiseAdd", row))
    assert lower_term(apply("compute", "reduceSum", row))


def test_a_tensor_alone_is_copied() -> None:
    assert compile_term(tensor("A", (2,)))({"A": [1.0, 2.0]}).tolist() == [1.0, 2.0]
    assert compile_term(apply("literal", 2.5))({}) == 2.5


BLOCKED = map_term(matmul(24, 16, 24), SystolicArray(8, 8)).after


def test_what_is_used_once_is_computed_where_it_belongs() -> None:
    """Products of blocks, joined and summed, need no buffer but the result; nor do windows."""
    constructs = {part.construct for part in subterms(BLOCKED)}
    assert {"systolicArray", "concat", "pair", "compute"} <= constructs
    compiled = compile_term(BLOCKED)
    assert list(compiled.buffers.values()) == [24 * 24]
    image = map_term(conv2d(Convolution(1, 3, 12, 12, 8, (3, 3))), SystolicArray(64, 64)).after
    assert "flatten" in {part.construct for part in subterms(image)}
    assert list(compile_term(image).buffers.values()) == [8 * 10 * 10]


A, B = tensor("A", (6, 5)), tensor("B", (5, 6))
ROWS = apply("access", A, 2)
COLUMNS = apply("access", B, 2)
TURNED = apply("transpose", COLUMNS, (1, 0))
RELU = apply("compute", "relu", ROWS)


def _sum(left: Term, right: Term) -> Term:
    return apply("compute", "reduceSum", apply("access", apply("pair", left, right), 2))


SUMS = [
    _sum(RELU, RELU),
    _sum(ROWS, RELU),
    _sum(_sum(RELU, TURNED), RELU),
    _sum(TURNED, _sum(ROWS, apply("compute", "relu", TURNED))),
    _sum(
        apply("concat", apply("box", RELU, (0, 0), (2, 5)), apply("compute", "relu",
              apply("box", TURNED, (0, 0), (4, 5))), 0),
        apply("compute", "relu", TURNED),
    ),
    _sum(
        apply("pad", apply("compute", "relu", apply("box", ROWS, (0, 0), (3, 5))), "zero", 0, 1, 2),
        apply("pad", apply("compute", "relu", apply("box", ROWS, (1, 0), (4, 5))), "zero", 0, 2, 1),
    ),
    apply("transpose", apply("compute", "reduceMax", apply("access", apply("reshape",
          apply("transpose", ROWS, (1, 0)), AccessShape((10, 3), ())), 1)), (0,)),
    apply("transpose", apply("reshape", apply("compute", "reduceMax", apply("access", apply(
          "reshape", A, AccessShape((), (3, 5, 2))), 2)), AccessShape((3, 5), ())), (1, 0)),
    apply("squeeze", apply("insert-axis", apply("compute", "relu", ROWS), 1), 1),
]  # fmt: skip


@pytest.mark.parametrize("term", SUMS)
def test_sums_in_place_of_what_is_used_once_or_twice(term: Term) -> None:
    random = np.random.default_rng(9)
    data = {name: random.integers(-9, 9, dims) for name, dims in tensors(term).items()}
    assert np.array_equal(compile_term(term)(data), evaluate(term, data))


def test_infinities_stay_what_they_are() -> None:
    data = random_data(BLOCKED)
    data["activations"][3, 2], data["activations"][5, 1] = np.inf, np.nan
    with np.errstate(all="ignore"):
        wanted = evaluate(BLOCKED, data)
    assert np.allclose(compile_term(BLOCKED)(data), wanted, equal_nan=True)


def test_arrays_of_other_layouts_and_kinds() -> None:
    compiled = compile_term(BLOCKED)
    data = {name: np.trunc(9 * array) for name, array in random_data(BLOCKED).items()}
    wanted = compiled(data)
    fixed = {name: array.copy() for name, array in data.items()}
    for array in fixed.values():
        array.flags.writeable = False
    others: list[Mapping[str, npt.ArrayLike]] = [
        {name: np.asfortranarray(array) for name, array in data.items()},
        {name: array.astype(np.int8) for name, array in data.items()},
        {name: array.astype(">f8") for name, array in data.items()},
        {name: array.tolist() for name, array in data.items()},
        fixed,
    ]
    for given in others:
        assert np.array_equal(compiled(given), wanted)
    with pytest.raises(DataError, match="not given"):
        compiled({})
    with pytest.raises(DataError, match="has shape"):
        compiled({name: array[:-1] for name, array in data.items()})


def test_calls_share_no_memory() -> None:
    """Results stay as they are, and calls of several threads do not mix."""
    term = conv2d(Convolution(1, 6, 20, 20, 16, (3, 3), (2, 2), (1, 1)))
    compiled = compile_term(term)
    assert len(compiled.buffers) > 1
    several = [random_data(term, seed) for seed in range(4)]
    wanted = [evaluate(term, data) for data in several]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(compiled, several * 50))
    assert all(np.allclose(x, wanted[k % 4]) for k, x in enumerate(made))
