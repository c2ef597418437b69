"""Exercises: what is right is accepted, what is wrong is named, and odd answers are told."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.sim.golden.registry import IMPLEMENTATIONS
from fuseloom.errors import DataError, FuseloomError
from fuseloom.program import parse
from fuseloom_workbench.notebook.exercises import (
    Checked,
    cells,
    check,
    exercises,
    hint,
    names,
    number,
    order,
    primitive_of,
    schedule,
    sequence,
    tokens,
)

TABLE = {("A", "i"): "LS(root)", ("A", "j"): "LS(<A.i>) -> I_j"}


@cache
def small():
    """A product by rows: its order, and data."""
    program = parse("A: 4x4 dcsr\nX: 4x4 dcsr\nT[i,j] = A[i,k] * X[k,j]\nH[i,j] = relu(T[i,j])")
    return program, {"A": np.eye(4), "X": np.eye(4)}


JUDGES = {
    "number": (number(lambda: 4, "rows"), [4, 4.0, np.int64(4)]),
    "share": (number(lambda: 100.0, tolerance=0.05), [100, 97.0]),
    "tokens": (tokens(lambda: "0 2 S0 D"), ["0 2 S0 D", "0 2  S0 D", ["0", "2", "S0", "D"]]),
    "sequence": (sequence(lambda: [0, 1, 3]), [[0, 1, 3], (0, 1, 3), np.array([0, 1, 3])]),
    "names": (names(lambda: {"i", "j"}), [{"i", "j"}, "j, i", ["i", "j"]]),
    "cells": (cells(lambda: TABLE), [TABLE, {k: v.replace("->", "→ ") for k, v in TABLE.items()}]),
    "order": (
        order(lambda: fuse(small()[0])[0].pog),
        ["i,k,j", "i → k → j", "i k j", ["i", "k", "j"], ("i", "k", "j")],
    ),
    "schedule": (schedule(small, lambda: 50), ["fuse T..H", "fuse T..H; order T..H: i,k,j"]),
    "best orders": (schedule(small, lambda: 50, orders="best"), ["fuse T..H"]),
    "traffic": (schedule(small, lambda: 399, "bytes"), ["fuse T..H"]),
    "primitive": (primitive_of("repsig"), [IMPLEMENTATIONS["repsig"].generator]),
}


@pytest.mark.parametrize("name", JUDGES)
def test_right_answers(name):
    wrong, right = JUDGES[name]
    assert [wrong(answer) for answer in right] == [""] * len(right)


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("number", 5, "5 rows are too many"),
        ("number", 3, "3 rows are too few"),
        ("number", "4", "4 is no number as a text: leave out the quotation marks"),
        ("number", True, "True is no number"),
        ("number", float("nan"), "nan is no number"),
        ("share", 90, "90 is too small"),
        ("tokens", "0 3 S0 D", "token 2 is not 3"),
        ("tokens", "0 2 S0", "token 4 is missing"),
        ("tokens", "0 2 S0 D D", "token 5, D, is one too many"),
        ("tokens", 7, "7 is no stream"),
        ("sequence", [0, 2, 3], "entry 2 is not 2"),
        ("sequence", [0, 1], "entry 3 is missing"),
        ("sequence", "013", "013 is no list"),
        ("names", ["i", "k"], "k is not among them"),
        ("names", ["i"], "1 more is missing"),
        ("names", 3, "3 is no set of names"),
        ("cells", {("A", "i"): "LS(root)"}, "cell A, row j is missing"),
        ("cells", {**TABLE, ("A", "j"): "pass"}, "cell A, row j is not pass"),
        ("cells", {**TABLE, ("B", "j"): "pass"}, "was not asked for"),
        ("cells", [], "[] is no table"),
        (
            "order",
            "k, i, j",
            "order k→i→j rejected: i must stay outside k, because A is stored (i, k)",
        ),
        ("order", ["i", "j"], "order i→j lacks k"),
        ("order", 3, "3 is no order"),
        ("schedule", "", "cycles, more than 50"),
        ("schedule", "fuse T..H; order T..H: k,i,j", "i must stay outside k"),
        ("schedule", "fuse T..Z", "Z"),
        ("schedule", 5, "5 is no schedule"),
        ("traffic", "", "bytes, more than 399"),
        ("primitive", 3, "3 is no function"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named(name, answer, said):
    try:
        problem = JUDGES[name][0](answer)
    except FuseloomError as reason:  # check tells it
        problem = str(reason)
    assert said in problem


def test_no_answer_yet_and_no_such_exercise():
    assert check("1.1", ...).problem == check("1.1", None).problem == "there is no answer yet"
    with pytest.raises(DataError, match=r"no exercise is called '9\.9'"):
        check("9.9", 1)


def test_what_the_engine_refuses_is_told():
    assert "'x' is not a token" in str(check("1.4", "x"))


def test_a_verdict_shows_itself():
    assert repr(Checked("1.1", "")) == "✓ 1.1: right"
    html = Checked("1.1", "5 is <too> many", "count")._repr_html_()
    assert "&lt;too&gt;" in html


def test_hints_are_told_on_request():
    """Nothing helps, or says that something is wrong, before the first try."""
    fresh = check("1.1", ...)
    assert repr(fresh) == "· 1.1: there is no answer yet"
    assert 'class="bad"' not in fresh._repr_html_()
    assert "details" not in fresh._repr_html_()
    wrong = check("1.1", 5)
    assert str(hint("1.1")) not in str(wrong)
    assert 'hint("1.1")' in str(wrong)
    assert "<details><summary>Hint</summary>" in wrong._repr_html_()
    assert "details" not in check("1.1", 4)._repr_html_()
    assert str(hint("1.1")) in hint("1.1")._repr_html_()
    with pytest.raises(DataError, match=r"no exercise is called '9\.99'"):
        hint("9.99")


def test_long_answers_are_not_repeated_whole():
    assert len(JUDGES["number"][0]("9" * 1000)) < 80


def test_every_exercise_asks_and_helps():
    for key, exercise in exercises().items():
        assert key.partition(".")[0].isdigit()
        assert exercise.asks
        assert exercise.hint


def test_exercises_come_by_number():
    numbers = [tuple(map(int, key.split("."))) for key in exercises()]
    assert numbers == sorted(numbers)


def test_exercises_are_named_after_their_notebook():
    folder = Path(__file__).parents[3] / "notebooks"
    numbers = [int(key.partition(".")[0]) for key in exercises()]
    assert numbers == sorted(numbers)
    assert sorted(set(numbers)) == [int(p.name[:2]) for p in sorted(folder.glob("[0-9]*.ipynb"))]
    assert len(numbers) == len(exercises()) >= 40
