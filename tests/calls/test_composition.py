"""Calls one after another: connections, what is left out, what is refused."""

from __future__ import annotations

import pytest

from fuseloom.calls.annotated import DataHandle, IntegerArgument
from fuseloom.calls.composition import ConnectionKind, compose
from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.errors import ProgramError

from .programs import ADD, EXP, ROW_MAX, SUBTRACT

A, B, C, D = (DataHandle(name, Matrix()) for name in "ABCD")
V = DataHandle("v", Vector())


def test_connections_of_a_softmax_fork_and_merge() -> None:
    width = IntegerArgument("width")
    made = compose([EXP(A, B), ROW_MAX(B, width, V), SUBTRACT(B, V, C)])
    assert [(x.data.name, x.consumers, x.kind) for x in made.connections] == [
        ("B", (1, 2), ConnectionKind.FORK),
        ("v", (2,), ConnectionKind.MERGE),
    ]
    assert (made.given, made.result, made.integers) == ((A,), C, ("width",))


def test_a_chain_is_straight() -> None:
    made = compose([EXP(A, B), EXP(B, C)])
    assert [x.kind for x in made.connections] == [ConnectionKind.STRAIGHT]


def test_calls_that_the_result_does_not_need_are_left_out_and_named() -> None:
    made = compose([EXP(A, B), EXP(A, D), EXP(B, C)])
    assert [call.output.name for call in made.calls] == ["B", "C"]
    assert made.unused == ("D",)


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ([], "there is no call"),
        ([EXP(DataHandle("lambda", Matrix()), B)], "is no name that generated code can have"),
        ([EXP(DataHandle("a b", Matrix()), B)], "is no name that generated code can have"),
        ([EXP(A, B), ROW_MAX(B, IntegerArgument("A"), V)], "and an integer argument"),
        ([EXP(A, A)], "exp writes A, which it reads"),
        ([EXP(B, C), EXP(A, B)], "exp reads B before it is computed"),
        ([EXP(A, B), EXP(A, B)], "B is written by two calls"),
        ([EXP(A, B), ADD(B, DataHandle("A", Matrix("f4")), C)], "two data structures have"),
    ],
)
def test_what_is_no_composition_is_refused(calls, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        compose(calls)
