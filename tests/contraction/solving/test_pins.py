"""Requirements on a solution."""

from __future__ import annotations

import pytest

from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.pins import Pin, PinKind
from fuseloom.contraction.solving.solve import Question, Satisfiability
from fuseloom.errors import ParseError, ProgramError

TREE = shipped("running example")


def question(*pins: str) -> Question:
    return Question(TREE, pins=tuple(map(Pin.parse, pins)))


@pytest.mark.parametrize("text", ["loops X1: i,j", "layout A: k,i", "outermost i"])
def test_what_is_written_is_read_back(text: str) -> None:
    assert Pin.parse(str(Pin.parse(text))) == Pin.parse(text)


@pytest.mark.parametrize("text", ["", "loop X: i", "outermost", "outermost i,j", "layout : i"])
def test_text_that_asks_for_nothing(text: str) -> None:
    with pytest.raises(ParseError, match="asks for nothing known"):
        Pin.parse(text)


def test_every_solution_does_as_asked() -> None:
    solutions, every = question("outermost r", "layout A: p,q,i").all(2)
    assert every
    assert solutions
    for solution in solutions:
        assert {loops[0] for loops in solution.loops.values()} == {"r"}
        assert solution.modes["A"] == (1, 2, 0)


def test_the_papers_loops_can_be_asked_for() -> None:
    pins = ("loops X1: r,j,p,q,i", "loops X2: r,j,q,k,i", "loops R: r,j,k,i")
    answer = question(*pins).solve(2)
    assert answer.solution is not None
    assert answer.solution.orders == {"X1": 2, "X2": 2}


def test_pins_that_contradict_are_named() -> None:
    answer = question("outermost r", "outermost j").solve(4)
    assert answer.verdict is Satisfiability.UNSAT
    assert {b.about for b in answer.blockers} >= {"outermost r", "outermost j"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("outermost z", "no loop is called z"),
        ("layout X1: i,q,j,r", "no given tensor is called X1"),
        ("layout A: i,p", "its indices are i, p, q"),
        ("loops Z: i", "no contraction makes Z"),
        ("loops R: i,j", "its indices are"),
    ],
)
def test_pins_that_fit_no_tree(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        question(text).solve(2)


def test_kinds_are_their_words() -> None:
    assert [kind.value for kind in PinKind] == ["loops", "layout", "outermost"]
