"""Notebook 8: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

from fuseloom_workbench.notebook.course.bottleneck import (
    EXERCISES,
    FEWER_BYTES,
    LANES,
    LAYERS,
    compiled,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

ANSWERS = {
    "8.1": (
        79.9,
        [(20.1, "20.1 % is too small"), (0.8, "0.8 % is too small"), ("80 %", "is no number")],
    ),
    "8.2": (
        "Acc1_p",
        [("T1", "T1 is not among them"), ({"Acc1_p", "Acc1_n"}, "Acc1_n is not among them"),
         ([], "1 more is missing")],
    ),
    "8.3": (
        9734,
        [(10676, "10676 cycles are too many"), (4867, "cycles are too few"), (..., "no answer")],
    ),
    "8.4": (
        9002,
        [(6215, "cycles are too few"), (6934, "too few"), (11082, "11082 cycles are too many")],
    ),
    "8.5": (
        4121,
        [(13869 / 4, "too few"), (7203, "7203 cycles are too many"), ("4121", "is no number")],
    ),
    "8.6": (
        7888,
        [(788.8, "788.8 cycles are too few"), (13869, "too many"), ([7888], "is no number")],
    ),
    "8.7": (
        "W1",
        [("A", "A is not among them"), ("X", "X is not among them"), (1, "1 is no set of names")],
    ),
    "8.8": (
        FEWER_BYTES,
        [(LANES, "takes 8,648 cycles, more than 7,717"), (LAYERS, "cycles, more than 7,717"),
         ("fuse T1 to H", "fuse")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_the_notebook_predicts_a_lane_within_what_is_accepted():
    assert compiled().regions[0].order == ("i", "p", "k", "n")
    assert not check("8.5", 4121 * 1.03).ok
