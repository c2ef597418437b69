"""Calls are replaced by what they call; tuples between are read through."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.shapes import TensorShape, TupleShape

from .random_graphs import evaluated

ONE = TensorShape("f32", (4,))
X = DenseOperation("x", "parameter", ONE, (), {"number": 0})


def made(name: str, opcode: str, *operands: str, **attributes: object) -> DenseOperation:
    return DenseOperation(name, opcode, ONE, operands, attributes)


def module(*computations: DenseComputation) -> DenseModule:
    by_name = {one.name: one for one in computations}
    return DenseModule("m", by_name, computations[-1].name)


HALF = DenseComputation("half", (X, made("y", "tanh", "x"), made("z", "add", "x", "y")), "z")


def test_calls_within_calls() -> None:
    calls = (made("a", "call", "x", to_apply="half"), made("b", "call", "a", to_apply="half"))
    twice = DenseComputation("twice", (X, *calls), "b")
    main = DenseComputation(
        "main", (X, made("c", "call", "x", to_apply="twice"), made("y", "negate", "c")), "y"
    )
    found = inline_calls(module(HALF, twice, main)).main
    assert [one.name for one in found.operations] == [
        "x", "c.a.y", "c.a.z", "c.b.y", "c.b.z", "y"
    ]  # fmt: skip
    once = np.tanh(x := evaluated(found)["x"]) + x
    assert np.array_equal(evaluated(found)["y"], -(np.tanh(once) + once))


def test_a_root_that_is_a_call_and_names_that_are_taken() -> None:
    main = DenseComputation(
        "main", (X, made("c.z", "abs", "x"), made("c", "call", "c.z", to_apply="half")), "c"
    )
    found = inline_calls(module(HALF, main)).main
    assert found.root == "c.z.1"
    assert found.by_name["c.z.1"].operands == ("c.z", "c.y")


def test_parts_of_tuples_are_read_from_what_they_were_made_of() -> None:
    pair = TupleShape((ONE, ONE))
    both = DenseComputation(
        "both", (X, made("y", "tanh", "x"), DenseOperation("t", "tuple", pair, ("x", "y"))), "t"
    )
    call = DenseOperation("c", "call", pair, ("x",), {"to_apply": "both"})
    part = made("p", "get-tuple-element", "c", index=1)
    main = DenseComputation("main", (X, call, part, made("y", "negate", "p")), "y")
    found = inline_calls(module(both, main)).main
    assert [str(one) for one in found.operations[1:]] == [
        "c.y = f32[4] tanh(x)", "y = f32[4] negate(c.y)"
    ]  # fmt: skip


def test_what_has_no_calls_stays_as_it_is() -> None:
    assert inline_calls(module(HALF)).main is HALF
    loop = DenseOperation("l", "while", TupleShape((ONE,)), ("x",), {"body": "half"})
    part = made("p", "get-tuple-element", "l", index=0)
    main = DenseComputation("main", (X, loop, part), "p")
    assert inline_calls(module(HALF, main)).main == main


def test_a_call_with_operands_too_many_is_refused() -> None:
    main = DenseComputation("main", (X, made("c", "call", "x", "x", to_apply="half")), "c")
    with pytest.raises(ProgramError, match="which has 1 parameters, with 2 operands"):
        inline_calls(module(HALF, main))
