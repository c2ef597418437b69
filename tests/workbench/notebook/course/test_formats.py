"""Notebook 1: right answers are accepted, three wrong ones of each refused with the right words."""

from __future__ import annotations

from fuseloom_workbench.notebook.course.formats import EXERCISES

from .answers import tried

ANSWERS = {
    "1.1": (4, {16: "16 elements are too many", 3: "3 elements are too few", "4": "is no number"}),
    "1.2": (
        [0, 1, 1, 3, 4],
        {(0, 1, 3, 4): "entry 3 is not 3", (0, 1, 1, 3): "entry 5 is missing", 4: "is no list"},
    ),
    "1.3": (
        [0, 2, 3],
        {(0, 1, 2, 3): "entry 2 is not 1", (0, 2): "entry 3 is missing",
         (0, 2, 3, 4): "entry 4, 4, is one too many"},
    ),
    "1.4": (
        "0 1 2 3 S0 D",
        {"0 2 3 S0 D": "token 2 is not 2", "0 1 2 3 D": "token 5 is not D",
         "0 1 2 3 S0": "token 6 is missing"},
    ),
    "1.5": (
        "1 S0 0 2 S0 3 S1 D",
        {"1 S0 0 2 S0 3 S0 D": "token 7 is not S0", "1 0 2 3 S0 D": "token 2 is not 0",
         "1 S0 0 2 S0 3 S0 S1 D": "token 7 is not S0"},
    ),
    "1.6": (13, {9: "9 words are too few", 17: "17 words are too many", "x": "is no number"}),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)
