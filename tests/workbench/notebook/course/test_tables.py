"""Notebook 4: right answers are accepted, three wrong ones of each refused with the right words."""

from __future__ import annotations

from fuseloom_workbench.notebook.course.tables import (
    DATA,
    EXERCISES,
    FIGURE_9,
    INNER,
    TWO,
    compiled,
    table,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

X = {("X", "k"): "LS(<X.i>)", ("X", "j"): "LS(<X.k>)", ("X", "val"): "Val(<X.j>)"}
REPEATS = {("A", "j"): "Rep(<A.k>,<X.j>)", ("X", "i"): "Rep(root,<A.i>)"}
COMPUTE = {("T", "i"): "<A.i>", ("T", "val"): "MUL(<A.val>,<X.val>)"}
REDUCE = {("T", "k"): "reduced", ("T", "j"): "Acc1_k.crd", ("T", "val"): "Acc1_k.val"}
MERGE = {("A", "k"): "LS(<A.i>) -> I_k", ("X", "k"): "LS(<X.i>) → I_k"}
OTHER = {
    ("A", "j"): "Rep(<A.i>, <X.j>)",
    ("X", "j"): "LS(<X.i>)",
    ("T", "j"): "<X.j>",
    ("T", "k"): "reduced",
    ("T", "val"): "Reduce_k(MUL(<A.val>, <X.val>))",
}
ANSWERS = {
    "4.1": (
        X,
        [({**X, ("X", "k"): "LS(root)"}, "cell X, row k is not LS(root)"),
         ({("X", "k"): "LS(<X.i>)"}, "cell X, row j is missing"),
         ({**X, ("X", "val"): "Val(<X.k>)"}, "cell X, row val is not Val(<X.k>)")],
    ),
    "4.2": (
        REPEATS,
        [({**REPEATS, ("A", "j"): "Rep(<A.i>,<X.j>)"}, "cell A, row j is not Rep(<A.i>,<X.j>)"),
         ({**REPEATS, ("X", "i"): "root"}, "cell X, row i is not root"),
         ({**REPEATS, ("X", "k"): "LS(<X.i>)"}, "was not asked for")],
    ),
    "4.3": (
        COMPUTE,
        [({**COMPUTE, ("T", "i"): "LS(root)"}, "cell T, row i is not LS(root)"),
         ({**COMPUTE, ("T", "val"): "MUL(<A.j>,<X.j>)"}, "cell T, row val is not MUL(<A.j>,<X.j>)"),
         ("<A.i>", "is no table")],
    ),
    "4.4": (
        REDUCE,
        [({**REDUCE, ("T", "k"): "<A.k>"}, "cell T, row k is not <A.k>"),
         ({**REDUCE, ("T", "j"): "<X.j>"}, "cell T, row j is not <X.j>"),
         ({**REDUCE, ("T", "val"): ...}, "cell T, row val has no answer yet")],
    ),
    "4.5": (
        MERGE,
        [({**MERGE, ("A", "k"): "I_k"}, "cell A, row k is not I_k"),
         ({**MERGE, ("X", "k"): "LS(<X.i>)"}, "cell X, row k is not LS(<X.i>)"),
         ({}, "cell A, row k is missing")],
    ),
    "4.6": (
        ["A.k", "X.i", "T.i"],
        [(["A.k", "X.i"], "1 more is missing"), (["A.i"], "A.i is not among them"),
         (3, "is no set of names")],
    ),
    "4.7": (
        OTHER,
        [({**OTHER, ("A", "j"): "Rep(<A.k>,<X.j>)"}, "cell A, row j is not Rep(<A.k>,<X.j>)"),
         ({**OTHER, ("T", "val"): "Acc1_k.val"}, "cell T, row val is not Acc1_k.val"),
         ({**OTHER, ("T", "j"): "<A.j>"}, "cell T, row j is not <A.j>")],
    ),
    "4.8": ("T", [("W", "W is not among them"), ([], "1 more is missing"), (1, "is no set")]),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_the_answers_together_are_the_figure():
    a = {("A", "i"): "LS(root)", ("A", "val"): "Val(<A.j>)"}
    whole = {**a, **X, **REPEATS, **COMPUTE, **REDUCE, **MERGE}
    cells = {place: cell.text for place, cell in table(FIGURE_9).cells.items()}
    assert {p: text.replace("→", "->") for p, text in whole.items()} == cells


def test_all_programs_have_a_table_and_data_fit_the_first():
    assert [len(table(text).columns) for text in (FIGURE_9, INNER, TWO)] == [3, 3, 5]
    assert DATA.keys() == set(compiled().program.inputs)


def test_an_empty_dict_of_places_is_no_answer_yet():
    verdict = check("4.2", {("A", "j"): ..., ("X", "i"): ...})
    assert verdict.problem == "there is no answer yet"
