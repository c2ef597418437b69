"""Notebook 6: right answers are accepted, three wrong ones of each refused with the right words."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom_workbench.notebook.course.recompute import (
    EXERCISES,
    club,
    compiled,
    cora,
    cut_after,
    few,
    places,
    ran,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

ELEMENTS = cora().data["A"].nnz
ANSWERS = {
    "6.1": ("H", [("T1", "T1 is not among them"), ([], "1 more is missing"), (1, "no set of")]),
    "6.2": ("i", [("k", "k is not among them"), ("i, n", "n is not among them"), ([], "missing")]),
    "6.3": (156, [(34, "rows are too few"), (1156, "1156 rows are too many"), ("H", "no number")]),
    "6.4": (
        39,
        [(34, "34 elements are too few"), (40, "are too many"), (None, "no answer yet")],
    ),
    "6.5": (
        ["T2", "T3", "H"],
        [(["T2", "T3", "H", "T5"], "T5 is not among them"), ("H", "2 more are missing"),
         ("T1", "T1 is not among them")],
    ),
    "6.6": (
        ELEMENTS,
        [(2708, "2708 rows are too few"), (ELEMENTS + 1, "are too many"), ([1], "is no number")],
    ),
    "6.7": (
        "fuse T1..H; fuse T5..Y; order T1..H: i,p,k,n",
        [("fuse T1..Y", "takes 49,474 cycles, more than 14,104"),
         ("fuse T1..H; fuse T5..Z", "Z"),
         ("fuse T1..H; fuse T5..Y; order T1..H: k,i,p,n", "i must stay outside k")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_other_ways_to_beat_a_single_cut():
    assert check("6.7", "fuse T1..H; fuse T5..Y; parallel i by 2").ok


@pytest.mark.parametrize("elements", [1, 34, 40, 156])
def test_elements_are_spread_evenly(elements):
    made = few(elements)
    assert np.count_nonzero(made) == elements
    assert np.ptp(made.sum(axis=0)) <= 1
    assert np.ptp(made.sum(axis=1)) <= 1


def test_cuts_are_schedules_of_two_regions():
    assert cut_after("H") == club().model.presets["partial"]
    assert cut_after("T1") == "fuse T2..Y"
    assert places()[-1] == "s"


def test_runs_of_the_presets_are_those_of_the_readme():
    assert (ran("partial").cycles, ran("full").cycles) == (14106, 49474)
    assert ran("partial", 40).check().ok
    assert len(compiled("unfused").regions) == 8
