"""Notebook 7: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

import numpy as np

from fuseloom_workbench.notebook.course.attention import EXERCISES, in_blocks, run, scattered

from .answers import tried

ANSWERS = {
    "7.1": (46.1, [(53.9, "53.9 % is too large"), (0.461, "too small"), ("46 %", "is no number")]),
    "7.2": (118, [(1888, "1888 blocks are too many"), (29, "29 blocks are too few"), (..., "yet")]),
    "7.3": (41, [(16, "16 times is too few"), (64, "64 times is too many"), (11, "too few")]),
    "7.4": (64, [(512, "too many"), (8, "8 multiplications are too few"), ("8³", "is no number")]),
    "7.5": (8, [(16, "16 rows are too many"), (4, "4 rows are too few"), ([8], "is no number")]),
    "7.6": (
        "2, 4",
        [("2 4 8", "8 is not among them"), ({4}, "1 more is missing"), (4, "is no set of names")],
    ),
    "7.7": (118, [(192, "192 zeros are too many"), (74, "74 zeros are too few"), (None, "yet")]),
}

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_the_mask_of_blocks_costs_no_arithmetic_and_fewer_tokens():
    single, blocked = run(4), run(4, 4)
    assert single.work.flops == blocked.work.flops
    assert single.check().ok
    assert blocked.check().ok


def test_blocks_hold_what_the_mask_has():
    mask = scattered()
    assert in_blocks(mask, 1).nnz == np.count_nonzero(mask)
    np.testing.assert_array_equal(in_blocks(mask, 4).to_dense(), mask)
