"""Notebook 18: right answers are accepted, three wrong ones of each refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.estimate import estimate
from fuseloom.program import StoredTensor, parse
from fuseloom_workbench.notebook.course.forms import (
    EXERCISES,
    FIGURE_8,
    INNER,
    SQUARE,
    friends,
    guess,
    squared,
    turned,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried


def hubs(full: int, elements: int = 156) -> np.ndarray:
    """A matrix with some full rows and columns, and the rest of its elements on the diagonal."""
    made = np.zeros((34, 34))
    made[:full], made[:, :full] = 1.0, 1.0
    for place in zip(range(full, 34), range(full, 34), strict=True):
        if np.count_nonzero(made) < elements:
            made[place] = 1.0
    return made


SHARED = "A: 8x8 dcsr\nm[i] = max[k] A[i,k]\nU[i,j] = A[i,j] / m[i]"
ANSWERS = {
    "18.1": (
        {"a": "POF", "b": "IIF", "c": "EKF"},
        [({"a": "EKF", "b": "IIF", "c": "POF"}, "a is not EKF"),
         ({"a": "POF", "b": "IIF"}, "c has no answer yet"),
         ({"a": "loop fusion"}, "a: loop fusion is none of POF, IIF and EKF")],
    ),
    "18.2": (
        "fuse T1..H; fuse T5..Y",
        [("fuse T1..Y", "nothing goes through memory, and H should"),
         ("fuse T1..T3; fuse H..Y", "T3 goes through memory, and H should"),
         ("fuse T1..H; fuse T7..Y", "T5, T6 go through memory, too")],
    ),
    "18.3": (
        "k'",
        [("k", "k is not among them"), (["k'", "i"], "i is not among them"), ([], "missing")],
    ),
    "18.4": (3, [(24, "24 orders are too many"), (1, "1 order is too few"), ("3", "no number")]),
    "18.5": (
        "i, k, k', j",
        [("i, j, k, k'", "k' must stay outside j"), ("i, k, j, k'", "k' must stay outside j"),
         ("k, i, k', j", "i must stay outside k")],
    ),
    "18.6": (
        SHARED,
        [("A: 8x8 dcsr\nT[i,j] = A[i,j] * A[i,j]", "A is read by 1 of its statements"),
         ("A: 8x8 dcsr\nT[i,j] = relu(A[i,j])\nU[i,j] = T[i,j] + A[j,i]", "a second time"),
         ("A: 8x8 dcsr\nB: 8x8 dcsr\nT[i,j] = A[i,k] * B[k,j]\nU[i,j] = A[i,k] * T[k,j]",
          "A has 4 scanners, and two are enough")],
    ),
    "18.7": (
        "fuse T..U; permute A to k,i",
        [("fuse T..U; permute B to j,k", "it moves 172,324 bytes, and not fewer than 42,260"),
         ("fuse T..U", "it moves 42,260 bytes, and not fewer"),
         ("", "it has 2 regions, and should have one")],
    ),
    "18.8": (
        2 * 156**2 / 34,
        [(2424, "2424 FLOPs are too many"), (715.8, "are too few"), (None, "no answer yet")],
    ),
    "18.9": (
        hubs(2),
        [(friends(), "its run does 1.69 times the FLOPs of the guess, less than 3 times"),
         (hubs(3), "it has 195 elements, and should have 156"),
         (np.ones((4, 4)), "a matrix of (4, 4), and not of (34, 34)")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


@pytest.mark.parametrize(
    "text",
    [
        "A: 8x8 csr\nT[i,j] = relu(A[i,j])\nU[i,j] = A[i,j] * T[i,j]",
        "A: 6x9 dcsr\ns[i] = A[i,k]\nU[i,j] = A[i,j] / s[i]",
    ],
)
def test_other_programs_whose_views_merge(text):
    assert check("18.6", text).ok


def test_programs_that_are_not_asked_for():
    assert "no input A" in check("18.6", "B: 4x4 csr\nT[i] = B[i,j]").problem
    assert (
        "A has more than 4,096 elements" in check("18.6", SHARED.replace("8x8", "900x900")).problem
    )
    assert "no matrix" in check("18.9", "friends").problem
    assert "no finite" in check("18.9", np.full((34, 34), np.nan)).problem
    assert "give a dict" in check("18.1", "POF").problem


def test_the_estimate_knows_what_the_guess_misses():
    program = parse(SQUARE)
    for matrix in (friends(), hubs(2)):
        data = {
            name: StoredTensor.from_dense(program.tensor(name), matrix) for name in program.inputs
        }
        run = squared(matrix)
        assert run.check().ok
        assert estimate(compile_program(program), data).flops == pytest.approx(run.work.flops)
        assert guess(matrix) < run.work.flops


def test_figure_8_under_the_orders_of_the_text():
    (region,) = compile_program(parse(FIGURE_8), INNER).regions
    assert region.order == ("i", "j", "k", "k'")
    assert turned().check().ok
