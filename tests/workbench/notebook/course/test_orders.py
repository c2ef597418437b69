"""Notebook 3: right answers are accepted, three wrong ones of each refused with the right words."""

from __future__ import annotations

import pytest

from fuseloom.errors import DataError
from fuseloom.program import parse
from fuseloom_workbench.notebook.course.orders import CHAIN, EXERCISES, GRAM, club, product_of
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

ANSWERS = {
    "3.1": (6, [(3, "3 orders are too few"), (9, "9 orders are too many"), ("6", "is no number")]),
    "3.2": (
        {"i", "k"},
        [({"k"}, "1 more is missing"), ("i, j, k", "j is not among them"), (2, "is no set of")],
    ),
    "3.3": (
        "i, k, j",
        [("k, i, j", "i must stay outside k, because A is stored (i, k)"),
         (["i", "j", "k"], "k must stay outside j, because X is stored (k, j)"),
         ("i, k", "order i→k lacks j")],
    ),
    "3.4": (
        "i → j → k",
        [("i, k, j", "j must stay outside k, because X is stored (j, k)"),
         ("j, i, k", "i must stay outside j, because T is written (i, j)"),
         ("i, j, k, l", "names l")],
    ),
    "3.5": (3, [(6, "6 orders are too many"), (2, "2 orders are too few"), ([3], "is no number")]),
    "3.6": (5, [(24, "24 orders are too many"), (4, "4 orders are too few"), (None, "no answer")]),
    "3.7": (
        "i, p, n, k",
        [("i, k, p, n", "n must stay outside k"),
         ("i, n, p, k", "p must stay outside n, because W is stored (p, n)"),
         (7, "7 is no order")],
    ),
    "3.8": (
        3744,
        [(1872, "1872 bytes are too few"), (27744, "27744 bytes are too many"), ("x", "no number")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_both_orders_under_which_t_is_added_up_anew_are_right():
    assert check("3.7", ["p", "i", "n", "k"]).ok


def test_data_of_the_club_fit_all_programs():
    for program in (parse(CHAIN), parse(GRAM), product_of("dcsr", "dcsc", 34)):
        data = club(program)
        assert data.keys() == set(program.inputs)
        assert data["A"].nnz == 156
    with pytest.raises(DataError):
        club(product_of("dcsr", "dcsr", 5))
