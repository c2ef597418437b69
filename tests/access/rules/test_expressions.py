"""What rules compute: each function, and what is refused."""

from __future__ import annotations

import pytest

from fuseloom.access.rules.expressions import FUNCTIONS, UNDEFINED, compile_expression
from fuseloom.access.shapes import AccessShape
from fuseloom.access.text import read_expressions
from fuseloom.errors import ParseError

VALUES = {"?a": AccessShape((2, 3), (4,)), "?p": (1, 0), "?n": 5, "rows": 2}


def _value(text: str) -> object:
    return compile_expression(read_expressions(text)[0], frozenset(VALUES))(VALUES)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(+ ?n 2)", 7), ("(- ?n 2)", 3), ("(* ?n 2)", 10), ("(/ ?n 2)", 2), ("(ceil ?n 2)", 3),
        ("(min ?n 2)", 2), ("(max ?n 2)", 5), ("(= ?n 5)", True), ("(!= ?n 5)", False),
        ("(< ?n 5)", False), ("(<= ?n 5)", True), ("(> ?n rows)", True), ("(>= ?n 6)", False),
        ("(not (= ?n 5))", False), ("(and (= ?n 5) (= rows 3))", False),
        ("(or (= ?n 5) (= rows 3))", True), ("(access-dims ?a)", (2, 3)),
        ("(compute-dims ?a)", (4,)), ("(dims ?a)", (2, 3, 4)),
        ("(access-shape (list 1) (list))", AccessShape((1,), ())), ("(list 1 ?n)", (1, 5)),
        ("(append (list 1) ?p (list))", (1, 1, 0)), ("(length ?p)", 2), ("(item (dims ?a) 2)", 4),
        ("(take (dims ?a) 1)", (2,)), ("(drop (dims ?a) 1)", (3, 4)),
        ("(replace (dims ?a) 1 9)", (2, 9, 4)), ("(product (dims ?a))", 24),
        ("(range 1 3)", (1, 2)),
        ("(zeros 2)", (0, 0)), ("(ones 2)", (1, 1)), ("(permuted (access-dims ?a) ?p)", (3, 2)),
        ("(position (dims ?a) 4)", 2), ("(sum-lists ?p ?p)", (2, 0)),
        ("(difference-lists ?p ?p)", (0, 0)), ("(min-lists ?p (list 0 0))", (0, 0)),
        ("-3", -3),
    ],
)  # fmt: skip
def test_values(text: str, wanted: object) -> None:
    assert _value(text) == wanted


def test_every_function_is_tried() -> None:
    texts = " ".join(str(row) for row in test_values.pytestmark[0].args[1])  # type: ignore[attr-defined]
    assert [name for name in FUNCTIONS if f"({name} " not in texts] == []


@pytest.mark.parametrize(
    "text",
    ["(item ?p 2)", "(item ?p -1)", "(/ 1 0)", "(replace ?p 5 1)", "(sum-lists ?p (list 1))",
     "(position ?p 7)", "(< ?a 1)", "(dims ?n)"],
)  # fmt: skip
def test_what_has_no_value_says_so(text: str) -> None:
    with pytest.raises(UNDEFINED):
        _value(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [("?b", "not known"), ("columns", "not known"), ("(lenght ?p)", "did you mean 'length'"),
     ("(item ?p)", "takes 2 arguments"), ("()", "function is missing"), ("((+))", "missing")],
)  # fmt: skip
def test_what_is_no_expression_is_refused(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        _value(text)
