"""Terms as machine code, against their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from fuseloom.access.constructs import ShapeError
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import Convolution, apply, batched_matmul, conv2d, dense, pool2d
from fuseloom.access.loops import TOGETHER
from fuseloom.access.lower import MOST_UNROLLED, CompiledTerm, compile_term, lower_term
from fuseloom.access.mapping import map_term
from fuseloom.access.meaning import evaluate, random_data, shapes_of
from fuseloom.access.rules.soundness import random_term
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, subterms, tensor, tensors
from fuseloom.codegen.code_folder import ENVIRONMENT
from fuseloom.codegen.compile import Backend
from fuseloom.errors import LoweringError
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
    term = conv2d(LAYERS[0])
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
