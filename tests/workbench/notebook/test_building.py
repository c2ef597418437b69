"""Judges of what is built: the answer is run, and the first thing that is wrong is told."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.errors import FuseloomError
from fuseloom.program import parse
from fuseloom_workbench.notebook.building import (
    at_most,
    compiled,
    contains,
    graph,
    machine,
    program,
    run_by_hand,
)

PROGRAM = parse("a: 4 compressed\ny[i] = relu(a[i])")
TEXT = """
start = root()
i, place = scan(start) tensor=a level=0
number = array(place) tensor=a
result = unary(number) fn=relu
crdwrite(i) tensor=y level=0
valwrite(result) tensor=y
"""
DATA = {"a vector": {"a": np.array([0.0, -1.0, 2.0, 0.0])}, "an empty one": {"a": np.zeros(4)}}
SQUARE = parse("A: 4x4 dcsr\nT[i,j] = A[i,j] * A[i,j]\nU[i,j] = relu(T[i,j])")


def said(judge, answer):
    """The words of a judge, as ``check`` has them."""
    try:
        return judge(answer)
    except FuseloomError as reason:
        return str(reason)


def test_a_graph_is_run_on_each_set_of_data():
    judge = graph(lambda: (PROGRAM, DATA), contains("unary"), at_most(6))
    assert judge(TEXT) == ""
    assert said(judge, TEXT.replace("fn=relu", "fn=abs")).startswith("on a vector: MISMATCH")
    assert said(judge, TEXT.replace("valwrite(result)", "valwrite(number)")) == (
        said(judge, TEXT.replace("fn=relu", "fn=scalarmul scalar=1"))
    )
    assert "is no graph" in judge(None)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("tensor=y level=0", "tensor=z level=0", "crdwrite of z: the result is called y"),
        ("tensor=a level=0", "tensor=b level=0", "scan of b: the tensors to be read are a"),
        ("tensor=a level=0", "tensor=a level=1", "scan of a has no level 1"),
        ("tensor=a level=0", "tensor=a level=x", "scan of a has no level x"),
        ("crdwrite(i) tensor=y level=0", "", "level 0 of the result is written 0 times"),
        ("start = root()", "start = rout()", "no primitive is called 'rout'"),
    ],
)
def test_what_does_not_fit_the_program_is_told(old, new, words):
    assert words in said(graph(lambda: (PROGRAM, DATA)), TEXT.replace(old, new, 1))
    with pytest.raises(FuseloomError):
        run_by_hand(PROGRAM, TEXT.replace(old, new, 1), DATA["a vector"])


def test_rules_are_told_when_the_result_is_right():
    def given():
        return PROGRAM, DATA

    assert said(graph(given, contains("fork")), TEXT) == "it has 0 nodes fork, and should have 1"
    assert said(graph(given, contains("unary", 2, "why not")), TEXT).endswith("2: why not")
    assert said(graph(given, at_most(5)), TEXT) == "it has 6 nodes, more than 5"


def test_programs_schedules_and_machines():
    assert "is no program" in program(lambda made: "")(3)
    assert said(program(lambda made: made.name), "program x\na: 4 dense\ny[i] = a[i] + 1") == "x"
    schedule = compiled(lambda: (SQUARE, {"A": np.eye(4)}), lambda run: str(len(run.regions)))
    assert [said(schedule, text) for text in ("", "fuse T..U")] == ["2", "1"]
    assert "is no schedule" in schedule(3)
    paid = machine(lambda made: made.outstanding, 64, lambda made: made.name)
    assert said(paid, 'base = "hbm2"\nname = "m"') == "m"
    assert (
        said(paid, 'base = "hbm2"\noutstanding = 65') == "it costs 65, more than the budget of 64"
    )
    assert "is no machine" in said(paid, Machine.default())
