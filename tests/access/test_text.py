"""Terms as text: what is read is printed, and every fault has its place."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.access.constructs import ShapeError
from fuseloom.access.kernels import Convolution, conv2d, matmul, pool2d
from fuseloom.access.meaning import shape_of
from fuseloom.access.rules.soundness import random_term
from fuseloom.access.terms import Term
from fuseloom.access.text import MOST_CHARACTERS, read_term, to_text
from fuseloom.errors import FuseloomError

FIGURE_2 = """
(tensor activations 2 3 8 8)
(tensor weights 4 3 3 3)
(transpose                                  ; ((N, O, H', W'), ())
 (squeeze                                   ; ((N, H', W', O), ())
  (compute dotProd                          ; ((N, 1, H', W', O), ())
   (cartProd                                ; ((N, 1, H', W', O), (2, C, Kh, Kw))
    (windows                                ; ((N, 1, H', W'), (C, Kh, Kw))
     (access activations 1)                 ; ((N), (C, H, W))
     (shape 3 3 3)
     (shape 1 1 1))
    (access weights 1)))                    ; ((O), (C, Kh, Kw))
  1)
 (list 0 3 1 2))
"""


def test_a_figure_of_the_paper_is_the_kernel() -> None:
    layer = Convolution(2, 3, 8, 8, 4, (3, 3))
    assert read_term(FIGURE_2).term == conv2d(layer)


def test_random_terms_round_trip() -> None:
    random = np.random.default_rng(3)
    read = 0
    for _ in range(600):
        term = random_term(random, int(random.integers(1, 5)))
        try:
            shape_of(term)
        except ShapeError:
            continue
        assert read_term(to_text(term)).term == term
        assert read_term(to_text(term, shapes=True)).term == term
        read += 1
    assert read > 200


@pytest.mark.parametrize(
    "term", [matmul(3, 4, 5), pool2d(Convolution(1, 2, 6, 6, 2, (2, 2), (2, 2)), "mean")]
)
def test_kernels_round_trip(term: Term) -> None:
    assert read_term(to_text(term)).term == term


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("(tensor A 3)\n(access A 1", 2, 1, "never closed"),
        ("(tensor A 3) A)", 1, 15, "closes nothing"),
        ("(tensor A 3)\n(acces A 1)", 2, 2, "did you mean 'access'"),
        ("(tensor A 3)\n(access A)", 2, 1, "takes 2 arguments, not 1"),
        ("(tensor A 3)\n(access A one)", 2, 11, "no integer"),
        ("(tensor A 3)\n(access B 1)", 2, 9, "B is no tensor"),
        ("(tensor A 3)\n(access A 5)", 2, 1, "5 is not between 0 and 1"),
        ("(tensor A 3 4)\n(transpose A (list 0 0))", 2, 1, "no permutation"),
        ("(tensor A 3)(tensor B 4)\n(cartProd A B)", 2, 1, "differ"),
        ("(tensor A 3)\n(windows A (shape 4) (shape 1))", 2, 1, "a window of 4"),
        ("(tensor A 3)\n(windows A (shape 1) (shape 0))", 2, 1, "0 is less than 1"),
        ("(tensor A 3)\n(pair A\n  (slice A 0 2 9))", 3, 3, "outside a dimension of 3"),
        ("(tensor A 3)\n(slice A 0 2 2)", 2, 1, "empty"),
        ("(tensor A 3)\n(slice A -1 0 1)", 2, 1, "no dimension -1"),
        ("(tensor A 3)\n(squeeze A 0)", 2, 1, "not 1"),
        ("(tensor A 6)\n(reshape A (access-shape (shape) (shape 2 2)))", 2, 1, "6 positions"),
        ("(tensor A 3)\n(compute reduceSum (access A 1))", 2, 1, "needs compute dimensions"),
        ("(tensor A 3)\n(compute product A)", 2, 1, "no operator"),
        ("(tensor A 3)(tensor A 4) A", 1, 13, "two shapes"),
        ("(tensor A 0) A", 1, 11, "extent of 0"),
        ("(tensor A 3)\n(pad A round 0 1 1)", 2, 1, "none of zero, minimum"),
        ("(tensor A 3)\n(literal x)", 2, 10, "no number"),
        ("(tensor A 3)\n(literal inf)", 2, 10, "no number"),
        ("(tensor A 3)\n(reshape A 3)", 2, 12, "a pair of shapes"),
        ("(tensor pair 3) pair", 1, 9, "name of a construct"),
        ("(tensor A 3)", 1, 1, "no term follows"),
        ("(tensor A 3) A A", 1, 16, "second term"),
        ("()", 1, 1, "construct is missing"),
        ("(tensor A 99999999999999999999) A", 1, 11, "no integer"),
        ("(" * 500, 1, 401, "within each other"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        read_term(text, "x.sexp")
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column, caught.value.source) == (line, column, "x.sexp")


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(FuseloomError, match="characters"):
        read_term(" " * (MOST_CHARACTERS + 1))
