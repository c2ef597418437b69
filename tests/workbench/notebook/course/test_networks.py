"""Notebook 11: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

from fuseloom_workbench.notebook.course.networks import EXERCISES, best_of_each_way

from .answers import tried

CHAIN = (
    "forall(i, forall(k, where(forall(l, R(i,l) += X1() * C(k,l)), "
    "forall(j, X1() += A(i,j) * B(k,j)))))"
)
ROW = (
    "forall(i, where(forall(k, forall(l, R(i,l) += X1(k) * C(k,l))), "
    "forall(j, forall(k, X1(k) += A(i,j) * B(j,k)))))"
)
ANSWERS = {
    "11.1": (1, [(0, "too few"), (2, "too many"), ("one", "is no number")]),
    "11.2": (24, [(12, "too few"), (432, "too many"), (None, "no answer yet")]),
    "11.3": (48, [(6, "too few"), (240, "too many"), ("48", "is no number")]),
    "11.4": (
        "outermost p",
        [("outermost r", "there is still a solution"), ("outermost z", "z"), (5, "5")],
    ),
    "11.5": (
        [0, 2, 0],
        [([0, 1, 2], "bound 2 is not 1"), ([0, 2], "bound 3 is missing"), ("020", "is no list")],
    ),
    "11.6": (1512, [(432, "too few"), (2592, "too many"), ("n", "is no number")]),
    "11.7": (
        CHAIN,
        [(ROW, "X1 keeps 6 numbers"), (CHAIN.replace(" * B(k,j)", ""), "does without B"),
         ("forall(i, forall(j, forall(k, forall(l, R(i,l) += A(i,j) * B(j,k) * C(k,l)))))",
          "2,592 multiplications")],
    ),
}  # fmt: skip


test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_the_table_shows_right_results_alone():
    table = best_of_each_way()
    assert set(table.index) == {"fused", "unfused", "n-ary"}
    assert (table["largest error"] < 1e-9).all()
    assert (table["measured, µs"] > 0).all()
