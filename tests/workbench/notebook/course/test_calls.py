"""Notebook 13: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.commands import BreakBefore, Parallelize, Reorder, ReuseOverlap
from fuseloom.calls.fused import FusedFunction
from fuseloom_workbench.notebook.course.calls import EXERCISES, WRONG, fork
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

MAXIMUM = """\
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes { a { row: i, col: 0, rows: n, cols: width } }
}"""
BY_ROWS = """\
n: Symbolic
for i in [0, out.rows, n] {
  produces { out { row: i, col: 0, rows: n, cols: width } }
  when consumes { a { row: i, col: 0, rows: n, cols: width } }
}"""
ALL_AT_ONCE = """\
produces { out { row: 0, col: 0, rows: out.rows, cols: width } }
when consumes { a { row: 0, col: 0, rows: out.rows, cols: width } }"""
ONE_ROW = """\
for i in [0, out.len, 1] {
  produces { out { start: i, len: 1 } }
  when consumes { a { row: i, col: 0, rows: 1, cols: width } }
}"""
INSIDE = [Reorder(0, 1), ReuseOverlap("t1", 1)]
ANSWERS = {
    "13.1": (32, [(8, "too small"), (40, "too large"), ("32 MiB", "is no number")]),
    "13.2": (
        MAXIMUM,
        [(MAXIMUM.replace("width", "a.cols"), "make the extent an integer argument"),
         (MAXIMUM.replace("rows: n", "rows: n + 1"), "a part lies outside its data"),
         (MAXIMUM.replace("when", "if"), "expected 'when'")],
    ),
    "13.3": (180, [(128, "128 pixels are too few"), (240, "too many"), ([10, 18], "no number")]),
    "13.4": (
        [8, 15],
        [([16, 7], "entry 1 is not 16"), ([8, 23], "entry 2 is not 23"), (15, "is no list")],
    ),
    "13.5": (6, [(1, "1 time is too few"), (5.33, "too few"), (256, "256 times is too many")]),
    "13.6": (
        {"n": 8, "m": 256},
        [({"n": 64, "m": 48}, "6 elements of t1 are computed per element that is needed"),
         ({"n": 16, "m": 256}, "intermediates have 32,832 bytes, more than 32,768"),
         ({"n": 8, "k": 256}, "nothing is called k")],
    ),
    "13.7": (
        INSIDE,
        [([ReuseOverlap("t1", 1)], "1.212 elements of t1"),
         ([BreakBefore(1)], "intermediates have 16,896 bytes, more than 1,024"),
         (["reuse t1 1"], "reuse t1 1 is no command")],
    ),
    "13.8": (
        [*INSIDE, Parallelize(0)],
        [([*INSIDE, Parallelize(1)], "do not run that loop in parallel"),
         (INSIDE, "no loop runs in parallel"), ([Parallelize(0)], "1.212 elements of t1")],
    ),
    "13.9": (
        BY_ROWS,
        [(WRONG, "is not that part of the whole result"),
         (ALL_AT_ONCE, "its parts are larger than a row"), (9, "no text of an annotation")],
    ),
    "13.10": (64, [(8, "8 FLOPs are too few"), (1024, "too many"), (None, "no answer yet")]),
}  # fmt: skip


test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


@pytest.mark.parametrize(
    ("key", "answer", "said"),
    [
        ("13.2", ONE_ROW, ""),
        ("13.2", "for i in [0, out.len, 1] { }", "does not fit here"),
        ("13.2", MAXIMUM.replace("a {", "b {"), "which is no argument of it"),
        ("13.2", MAXIMUM.replace("[0", "[1"), "the parts do not tile the output"),
        ("13.2", MAXIMUM.splitlines(), "this is no text of an annotation"),
        ("13.6", 8, "this is no dict of sizes"),
        ("13.6", {"n": 8, "m": ...}, "m is an integer of 1 or more"),
        ("13.7", [ReuseOverlap("t1", 0)], "exchange the loops"),
        ("13.7", ReuseOverlap("t2", 1), "t2 is no intermediate"),
        ("13.7", "reuse t1 1", "this is no list of commands"),
    ],
)
def test_other_answers_are_refused_in_words(key: str, answer: object, said: str) -> None:
    verdict = check(key, answer)
    assert not verdict.ok
    assert said in verdict.problem


def test_other_right_answers_are_accepted() -> None:
    assert check("13.6", {"n": 15}).ok
    assert check("13.8", [Reorder(1, 0), Parallelize(0), ReuseOverlap("t1", 1)]).ok
    assert check("13.9", BY_ROWS.replace("width", "out.cols")).ok


def test_the_fork_computes_what_is_expected() -> None:
    case = fork()
    FusedFunction(case.composition)(**case.arguments, n=4)
    np.testing.assert_array_equal(case.result, case.expected)
