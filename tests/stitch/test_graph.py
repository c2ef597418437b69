"""Graphs of operations: who reads what, and what is no graph."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import LimitError, ProgramError
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation, random_inputs
from fuseloom.stitch.shapes import TensorShape, TupleShape

VECTOR = TensorShape("f32", (4,))


def operation(name: str, *operands: str, opcode: str = "add", **attributes) -> DenseOperation:
    return DenseOperation(name, opcode, VECTOR, operands, attributes)


A = operation("a", opcode="parameter", number=1)
B = operation("b", opcode="parameter", number=0)


def test_users_parameters_and_outputs() -> None:
    c = operation("c", "a", "a")
    both = DenseOperation("both", "tuple", TupleShape((VECTOR, VECTOR)), ("c", "b"))
    made = DenseComputation("main", (A, B, c, both), "both")
    assert made.users == {"a": ("c",), "b": ("both",), "c": ("both",), "both": ()}
    assert [one.name for one in made.parameters] == ["b", "a"]
    assert made.outputs == ("c", "b")
    assert DenseComputation("main", (A,), "a").outputs == ("a",)
    assert DenseModule("m", {"main": made}, "main").main is made
    assert str(c) == "c = f32[4] add(a, a)"
    with pytest.raises(ProgramError, match="both makes a tuple"):
        _ = both.array


@pytest.mark.parametrize(
    ("operations", "root", "says"),
    [
        ((A, A), "a", "two operations of main have the name a"),
        ((operation("c", "a"), A), "c", "c of main reads a, which is not before it"),
        ((operation("c", "c"),), "c", "reads c, which is not before it"),
        ((A,), "z", "has no operation z"),
    ],
)
def test_what_is_no_graph_is_refused(operations, root: str, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        DenseComputation("main", operations, root)


def test_random_inputs_are_of_their_types() -> None:
    given = [
        DenseOperation(name, "parameter", TensorShape(element, (3, 2)), attributes={"number": n})
        for n, (name, element) in enumerate([("x", "f64"), ("n", "s8"), ("p", "pred")])
    ]
    made = random_inputs(DenseComputation("main", tuple(given), "x"), seed=3)
    assert [value.dtype.name for value in made.values()] == ["float64", "int8", "bool"]
    assert np.array_equal(
        made["x"], random_inputs(DenseComputation("main", tuple(given), "x"), 3)["x"]
    )


def test_inputs_that_are_too_large_are_refused() -> None:
    large = DenseOperation("x", "parameter", TensorShape("f32", (2**20, 2**20)), (), {"number": 0})
    with pytest.raises(LimitError, match="the parameters of f take"):
        random_inputs(DenseComputation("f", (large,), "x"))
