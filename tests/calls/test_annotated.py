"""Functions with annotations, and calls of them: what fits together, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.calls.annotated import (
    AnnotatedFunction,
    DataHandle,
    FunctionCall,
    IntegerArgument,
    annotate,
    annotated,
)
from fuseloom.calls.data_kinds import DataKind, Matrix, Vector
from fuseloom.errors import ParseError, ProgramError

ELEMENTS = """t: Symbolic
for x in [0, out.len, t] {
  produces { out { start: x, len: t } } when consumes { a { start: x, len: t } }
}"""
ROWS = """t: Symbolic
for i in [0, out.len, t] {
  produces { out { start: i, len: t } }
  when consumes { a { row: i, rows: t, col: 0, cols: width } }
}"""


@annotated(ROWS)
def widest(a: Any, width: int, out: Any) -> None:
    np.max(a, axis=1, out=out)


def vector(name: str) -> DataHandle:
    return DataHandle(name, Vector())


def matrix(name: str) -> DataHandle:
    return DataHandle(name, Matrix())


def test_a_function_has_the_names_of_its_arguments() -> None:
    assert widest.name == "widest"
    assert widest.parameters == ("a", "width", "out")
    assert widest.data == ("a", "out")
    assert widest.output == "out"
    named = annotated(ROWS, name="rows")(widest.function)
    assert repr(named) == "<annotated rows(a, width, out)>"


def test_on_data_it_computes_and_on_handles_it_is_called_later() -> None:
    values, out = np.array([[1.0, 5.0], [7.0, 2.0]]), np.zeros(2)
    assert widest(values, 2, out) is None
    assert out.tolist() == [5, 7]
    call = widest(matrix("A"), IntegerArgument("w"), vector("most"))
    assert isinstance(call, FunctionCall)
    assert call.output == vector("most")
    assert call.inputs == (matrix("A"),)


def test_an_input_that_is_given_twice_is_one_input() -> None:
    two = ELEMENTS.replace("len: t } }\n", "len: t }, b { start: x, len: t } }\n")
    add = annotate(np.add, two, ["a", "b", "out"])
    assert add.data == ("a", "b", "out")
    assert add(vector("v"), vector("v"), vector("w")).inputs == (vector("v"),)


@pytest.mark.parametrize(
    ("text", "parameters", "words", "hint"),
    [
        (ELEMENTS, ["b", "out"], "speaks of a, which is no argument", "known: b, out"),
        (ELEMENTS, ["a", "output"], "speaks of out, which is no argument", "did you mean"),
        (ELEMENTS.replace("out.len", "b.len"), ["a", "b", "out"], "b is neither produced", None),
        (ELEMENTS.replace("out.len", "n"), ["a", "out"], "uses n, which nothing", "n: Symbolic"),
        (ELEMENTS.replace("t: Sym", "u: Sym"), ["a", "out"], "uses t, which nothing", "t: Sym"),
        (ELEMENTS, ["a", "a", "out"], "two arguments with the name a", None),
        (ELEMENTS, ["a", "t", "out"], "declares t, which is an argument", "another name"),
        (ELEMENTS, ["a", "x", "out"], "declares x, which is an argument", "another name"),
    ],
)
def test_annotations_that_do_not_fit_a_function(
    text: str, parameters: list[str], words: str, hint: str | None
) -> None:
    with pytest.raises(ProgramError, match=words) as caught:
        annotate(np.copyto, text, parameters, "copy")
    assert "copy" in caught.value.message
    assert hint is None or hint in str(caught.value.hint)


def test_a_text_that_is_none_is_refused_with_the_name_of_the_function() -> None:
    with pytest.raises(ParseError) as caught:
        annotate(np.exp, ELEMENTS.replace("in", "of"), ["a", "out"])
    assert (caught.value.line, caught.value.column, caught.value.source) == (2, 7, "exp")


def test_arguments_that_are_taken_by_position_are_found() -> None:
    def scaled(a: Any, out: Any, *, factor: float = 2.0) -> None:
        np.multiply(a, factor, out=out)

    assert annotate(scaled, ELEMENTS).parameters == ("a", "out")


def test_arguments_without_names_are_asked_for() -> None:
    def copied(*arrays: Any) -> None:
        arrays[1][...] = arrays[0]

    for function in (copied, max):
        with pytest.raises(ProgramError, match="have no names that Python knows") as caught:
            annotate(function, ELEMENTS)
        assert "parameters=" in str(caught.value.hint)
    assert annotate(copied, ELEMENTS, ["a", "out"]).parameters == ("a", "out")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((matrix("A"), 4), "takes 3 arguments, not 2"),
        ((np.zeros((2, 2)), 4, vector("v")), "wants a data structure for a"),
        ((matrix("A"), 4, np.zeros(3)), "wants a data structure for out"),
        ((matrix("A"), 4.5, vector("v")), "wants an integer for width, not 4.5"),
        ((matrix("A"), True, vector("v")), "wants an integer for width, not True"),
        ((matrix("A"), vector("w"), vector("v")), "has w for width"),
        ((vector("A"), 4, vector("v")), "a vector has no field row"),
        ((matrix("A"), 4, matrix("v")), "a matrix has no field start"),
    ],
)
def test_calls_that_do_not_fit(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ProgramError, match=words) as caught:
        widest(*arguments)
    assert "widest" in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("out.len", "out.length", "a vector has no field length"),
        ("out.len", "a.len", "a matrix has no field len"),
        (", col: 0", "", "does not say col of a"),
        (", col: 0, cols: width", "", "does not say col and cols of a"),
    ],
)
def test_fields_that_a_kind_lacks_are_found_when_it_is_known(
    old: str, new: str, words: str
) -> None:
    made = annotate(widest.function, ROWS.replace(old, new), ["a", "width", "out"])
    with pytest.raises(ProgramError, match=words):
        made(matrix("A"), 4, vector("v"))


def test_an_argument_of_which_nothing_is_said_may_be_anything() -> None:
    def shifted(a: Any, by: float, out: Any) -> None:
        np.add(a, by, out=out)

    made = annotate(shifted, ELEMENTS)
    assert made(vector("a"), 1.5, vector("b")).arguments["by"] == 1.5
    with pytest.raises(ProgramError, match="of which its annotation says nothing"):
        made(vector("a"), vector("c"), vector("b"))


def test_handles_of_equal_names_and_kinds_are_equal() -> None:
    kinds: list[DataKind] = [Vector(), Vector(np.float32), Matrix()]
    handles = {DataHandle("v", kind) for kind in kinds} | {vector("v")}
    assert len(handles) == 3
    assert isinstance(widest, AnnotatedFunction)
