"""Notebook 9: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

from fuseloom_workbench.notebook.course.exploring import EXERCISES, searched, swept
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

ANSWERS = {
    "9.1": (7, [(5, "5 ways are too few"), (255, "255 ways are too many"), ("seven", "no number")]),
    "9.2": (
        52286 / 10860,
        [(0.2077, "0.2077 times is too few"), (41426, "too many"), (None, "no answer yet")],
    ),
    "9.3": (1, [(7, "7 ways are too many"), (2, "2 ways are too many"), (0, "0 ways are too few")]),
    "9.4": (
        "bound",
        [("rule", "rule is not among them"), ("rival", "rival is not among them"),
         (16011, "16011 is no set of names")],
    ),
    "9.5": (
        "fuse T..D; parallel i by 4",
        [("fuse T..D; order T..D: i,j,k,l", "takes 10,860 cycles, more than 10,859"),
         ("", "takes 16,011 cycles"), ("fuse T..D; order T..D: l,k,j,i", "rejected")],
    ),
    "9.6": (
        5628,
        [(3105, "cycles are too few"), (10497, "10497 cycles are too many"), ("x", "no number")],
    ),
    "9.7": (
        3.3,
        [(0.033, "0.033 % is too small"), (97, "97 % is too large"), ("3 %", "no number")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_blocks_are_faster_than_the_best_without():
    assert check("9.5", "fuse T..D; block 2").ok


def test_estimates_are_bounds_here_as_the_notebook_says():
    assert all(row.estimated <= row.cycles for row in swept())
    assert searched().certificate.gap == 0


def test_runs_stay_in_a_store_of_their_own():
    assert not swept().store.exists()
