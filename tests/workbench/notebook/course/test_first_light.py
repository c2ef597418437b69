"""Notebook 0: right answers are accepted, three wrong ones of each refused with the right words."""

from __future__ import annotations

from fuseloom_workbench.notebook.course.first_light import EXERCISES, network, ran

from .answers import tried

ANSWERS = {
    "0.1": (
        "partial",
        [("full", "full is not among them"), ("unfused", "unfused is not among them"),
         (2, "no set of names")],
    ),
    "0.2": (
        "Acc1_p",
        [("Acc1_m", "Acc1_m is not among them"), ([], "1 more is missing"), (None, "no answer")],
    ),
    "0.3": (
        "i",
        [("k", "k is not among them"), (["i", "n"], "n is not among them"), (0, "no set of names")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_runs_are_right():
    assert all(ran(name).check().ok for name in network().model.presets)
