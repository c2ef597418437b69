"""Exercises: what is right is accepted, what is wrong is named, and odd answers are told."""

from __future__ import annotations

import numpy as np
import pytest

from engine.dataflow.sim.twins.registry import IMPLEMENTATIONS
from engine.errors import DataError
from workbench.notebook.exercises import (
    Checked,
    cells,
    check,
    exercises,
    names,
    number,
    primitive_of,
    sequence,
    tokens,
)

TABLE = {("A", "i"): "LS(root)", ("A", "j"): "LS(<A.i>)"}
JUDGES = {
    "number": (number(lambda: 4, "rows"), [4, 4.0, np.int64(4)]),
    "share": (number(lambda: 100.0, tolerance=0.05), [100, 97.0]),
    "tokens": (tokens(lambda: "0 2 S0 D"), ["0 2 S0 D", "0 2  S0 D", ["0", "2", "S0", "D"]]),
    "sequence": (sequence(lambda: [0, 1, 3]), [[0, 1, 3], (0, 1, 3), np.array([0, 1, 3])]),
    "names": (names(lambda: {"i", "j"}), [{"i", "j"}, "j, i", ["i", "j"]]),
    "cells": (cells(lambda: TABLE), [TABLE, {k: f" {v}" for k, v in TABLE.items()}]),
    "primitive": (primitive_of("repsig"), [IMPLEMENTATIONS["repsig"].generator]),
}


@pytest.mark.parametrize("name", JUDGES)
def test_right_answers(name):
    wrong, right = JUDGES[name]
    assert [wrong(answer) for answer in right] == [""] * len(right)


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("number", 5, "5 rows is too many"),
        ("number", 3, "3 rows is too few"),
        ("number", "4", "4 is no number"),
        ("number", True, "True is no number"),
        ("number", float("nan"), "nan is no number"),
        ("share", 90, "90 is too few"),
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
        ("primitive", 3, "3 is no function"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named(name, answer, said):
    assert said in JUDGES[name][0](answer)


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
    assert "Hint: count" in html


def test_long_answers_are_not_repeated_whole():
    assert len(JUDGES["number"][0]("9" * 1000)) < 80


def test_every_exercise_asks_and_helps():
    for key, exercise in exercises().items():
        assert key.partition(".")[0].isdigit()
        assert exercise.asks
        assert exercise.hint
