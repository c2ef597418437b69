"""Notebook 12: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

from fuseloom_workbench.notebook.course.access import EXERCISES

from .answers import tried

SLICES = (
    '(rule slices "x" (slice (slice ?a ?d ?low ?high) ?d ?from ?to) => (slice ?a ?d ?first ?last) '
    "(let ?first (+ ?low ?from)) (let ?last (+ ?low ?to)))"
)
ANSWERS = {
    "12.1": (
        [1, 1, 30, 30, 8],
        [([1, 30, 30, 8], "dimension 2 is not 30"), ([1, 1, 30, 30], "dimension 5 is missing"),
         (8, "is no list")],
    ),
    "12.2": (24_300, [(3072, "too few"), (27_000, "too many"), ("27", "is no number")]),
    "12.3": (138, [(100, "too few"), (140, "too many"), (None, "no answer yet")]),
    "12.4": (
        SLICES,
        [(SLICES.replace("?low ?to)", "?high ?to)"), "is unsound"),
         (SLICES.replace("(slice ?a ?d ?first ?last)", "(slice ?a ?d ?first ?lost)"), "?lost"),
         ('(rule x "x" (slice ?a ?d ?l ?h) => (slice ?a ?d ?l ?h))', "no slice of a slice")],
    ),
    "12.5": (
        "(> ?d (length (access-dims ?a)))",
        [("(>= ?d (length (access-dims ?a)))", "is unsound"), ("(= 1 2)", "applied to none"),
         ("(> ?d", "never closed")],
    ),
    "12.6": (
        "split-vectors",
        [("split-groups", "every dot product is mapped"), ("cut", "there is no rule cut"),
         (3, "there is no rule 3")],
    ),
    "12.7": (
        (400, 1),
        [((32, 32), "more than half"), ((400, 3), "1,200 multipliers"), ("400x1", "no pair")],
    ),
}  # fmt: skip


test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)
