"""Notebook 14: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.stitch.schedules import BlockSchedule, SplitType
from fuseloom_workbench.notebook.course.stitch import (
    EXERCISES,
    TOLERANCE,
    attention_text,
    errors_by_order,
    without_barrier,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

ROWS = """
x = f32[64,32] parameter(0)
zero = f32[] constant(0)
q = f32[64,32] multiply(x, x)
s = f32[64] reduce(q, zero), dimensions={1}, to_apply=total
length = f32[64] sqrt(s)
wide = f32[64,32] broadcast(length), dimensions={0}
ROOT y = f32[64,32] divide(x, wide)
"""
CALLED = ROWS.replace("zero = f32[] constant(0)", "").replace(
    "s = f32[64] reduce(q, zero), dimensions={1}, to_apply=total",
    """one = f32[] constant(1)
ones = f32[32] broadcast(one), dimensions={}
s = f32[64] dot(q, ones), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
)
"""The same with sums by a call of a library."""
BESIDE_A_CALL = """
x = f32[8,8] parameter(0)
e = f32[8,8] exponential(x)
c = f32[8,8] dot(e, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ROOT y = f32[8,8] add(e, c)
"""
COLUMN = SplitType.COLUMN
WHOLE = attention_text()
ANSWERS = {
    "14.1": (4, [(2, "2 is too small"), (7, "7 is too large"), ("4", "is no number")]),
    "14.2": (
        ROWS,
        [(CALLED, "it is 4 kernels, with roots ones, q, s, y"),
         (ROWS.replace("sqrt", "abs"), "are not those of x, divided by their lengths"),
         (ROWS.replace("sqrt(s)", "sqrt(sum)"), "line 6, column 23: length reads sum")],
    ),
    "14.3": (
        BlockSchedule(1, 2),
        [(BlockSchedule(1, 4), "it fits, and has 8 blocks, not 4"),
         (BlockSchedule(2, 2), "does not fit p, which y reads"),
         (BlockSchedule(1, 3), "3 parts do not divide dimension 1")],
    ),
    "14.4": (
        BlockSchedule(1, 32, COLUMN),
        [(BlockSchedule(1, 32), "does not fit s, which w reads"),
         (BlockSchedule(1, 16, COLUMN), "it fits, and has 16 blocks, not 32"),
         (BlockSchedule(2, 32, COLUMN), "there is no dimension 2")],
    ),
    "14.5": (
        1088, [(1152, "1152 bytes are too many"), (1024, "too few"), ([64, 1024], "is no number")]
    ),
    "14.6": (
        "s", [("s, p", "p is not among them"), ("m", "m is not among them"), ([], "1 more")]
    ),
    "14.7": (
        2000,
        [(1151, "e and p are given up; the others take 128 bytes"),
         (2176, "all buffers fit: they take 2,176 bytes"), (1500.5, "this is no integer")],
    ),
    "14.8": (17, [(2, "2 times is too few"), (256, "too many"), ("often", "is no number")]),
    "14.9": (
        without_barrier(WHOLE, 1),
        [(without_barrier(WHOLE, 2), "wrong with threads in the order of their numbers, too"),
         (WHOLE, "it has 4 barriers, not 3"), (WHOLE.replace("16", "8"), "more than barriers")],
    ),
    "14.10": (
        BESIDE_A_CALL,
        [(ROWS, "nothing was refused; it is 1 kernel"),
         (BESIDE_A_CALL.replace("add(e, c)", "negate(c)"), "because: nothing takes in dot"),
         (BESIDE_A_CALL.replace("{0}", "{2}"), "attributes that do not fit it")],
    ),
    "14.11": (74, [(24, "24 KiB is too small"), (122, "too large"), ("74 KiB", "is no number")]),
    "14.12": (4, [(2.36, "2.36 times is too few"), (5, "too many"), (None, "no answer yet")]),
}  # fmt: skip


test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


@pytest.mark.parametrize(
    ("key", "answer", "said"),
    [
        ("14.2", ROWS.splitlines(), "this is no text of operations"),
        ("14.2", "", "main has no operation"),
        ("14.2", ROWS.replace("64,32", "32,64"), "and not f32[32,64]"),
        ("14.2", "ROOT y = f32[64,32] iota(), iota_dimension=0", "and not none"),
        ("14.2", ROWS.replace("ROOT y", "y") + "ROOT t = (f32[64,32], f32[64]) tuple(y, s)",
         "the result is not one array f32[64,32]"),
        ("14.2", ROWS.replace("ROOT y", "y") + "ROOT z = f64[64,32] convert(y)",
         "the result is not one array f32[64,32]"),
        ("14.3", (1, 2), "this is no BlockSchedule"),
        ("14.3", BlockSchedule(1, 2.0), "2.0 is no integer"),
        ("14.4", (1, 32, "column"), "this is no BlockSchedule"),
        ("14.7", 127, "reductions and products need 128 bytes"),
        ("14.7", 0, "a block has 0 bytes of shared memory"),
        ("14.9", 1, "this is no text of a kernel"),
        ("14.10", 1, "this is no text of operations"),
        ("14.10", BESIDE_A_CALL.replace("dot(e", "dt(e"), "the opcode is not known"),
        ("14.10", BESIDE_A_CALL.replace("8,8", "999999999,999999999"), "x has more than 1,048,576"),
    ],
)  # fmt: skip
def test_other_answers_are_refused_in_words(key: str, answer: object, said: str) -> None:
    verdict = check(key, answer)
    assert not verdict.ok
    assert said in verdict.problem


def test_other_right_answers_are_accepted() -> None:
    assert check("14.2", ROWS.replace("sqrt", "rsqrt").replace("divide", "multiply")).ok
    assert check("14.7", 1152).ok
    assert check("14.7", 2175).ok
    assert check("14.9", without_barrier(WHOLE, 3)).ok
    assert check("14.12", 3.99).ok


def test_a_kernel_with_its_barriers_is_right_in_each_order() -> None:
    assert max(errors_by_order(WHOLE).values()) <= TOLERANCE


def test_nan_of_a_kernel_is_an_error() -> None:
    text = WHOLE.replace("= sums[row];", "= sums[row] * NAN;")
    assert [*errors_by_order(text).values()] == [np.inf] * 3
