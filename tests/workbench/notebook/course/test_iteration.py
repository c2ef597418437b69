"""Notebook 5: right answers are accepted, three wrong ones of each refused with the right words."""

from __future__ import annotations

import numpy as np

from fuseloom_workbench.notebook.course.iteration import (
    DATA,
    EXERCISES,
    compiled,
    large,
    products,
    ran,
    walked,
    walks,
    whole,
)

from .answers import tried

COLUMN = {
    ("C", "i"): "Rep(root,<A.i>)",
    ("C", "k"): "Rep(<C.i>,I_k)",
    ("C", "j"): "LS(<C.k>) -> I_j",
    ("C", "l"): "LS(<C.j>)",
    ("C", "val"): "Val(<C.l>)",
}
ANSWERS = {
    "5.1": (11, [(6, "6 multiplications are too few"), (64, "too many"), ("11", "no number")]),
    "5.2": (14, [(11, "11 multiplications are too few"), (16, "too many"), (None, "no answer")]),
    "5.3": (
        32,
        [(16, "16 multiplications are too few"), (25, "too few"), (256, "256 multiplications are")],
    ),
    "5.4": (
        COLUMN,
        [({**COLUMN, ("C", "k"): "pass"}, "cell C, row k is not pass"),
         ({**COLUMN, ("C", "j"): "LS(<C.i>) -> I_j"}, "cell C, row j is not LS(<C.i>) -> I_j"),
         ({**COLUMN, ("C", "i"): "LS(root)"}, "cell C, row i is not LS(root)")],
    ),
    "5.5": (
        1806,
        [(233, "233 walks are too few"), (11289, "11289 walks are too many"), ([], "no number")],
    ),
    "5.6": (6, [(5, "rows are too few"), (7, "7 rows are too many"), (40, "40 rows are too many")]),
    "5.7": (
        "fuse T..H; order T..H: i,k,p,n",
        [("global T..H", "takes 440,604 bytes, more than 127,083"),
         ("fuse T..H", "takes 167,708 bytes"),
         ("fuse T..H; order T..H: k,i,p,n", "i must stay outside k")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_what_the_machine_multiplies_is_what_einsum_counts():
    a, b, c = ((DATA[name] != 0).astype(int) for name in "ABC")
    assert products("factored", "E") == np.einsum("ik,kj->", a, b)
    assert products("factored", "D") == np.einsum("ij,jl->", (a @ b > 0).astype(int), c)
    assert products("global") == 2 * np.einsum("ik,kj,jl->", a, b, c)


def test_both_ways_are_one_region():
    assert [len(compiled(scheme).regions) for scheme in ("factored", "global")] == [1, 1]


def test_walks_are_counted_for_the_first_members():
    program = walks(2)
    assert whole(program, "global").startswith("global ")
    data = walked(program)
    friends = data["A"].to_dense()
    assert (friends @ friends @ data["X"].to_dense()).sum() == 233


def test_rows_of_the_last_matrix():
    assert np.count_nonzero(large(3)["C"].any(axis=1)) <= 3
    assert ran("global", 2) is ran("global", 2)
    assert ran("global", 2).check().ok
