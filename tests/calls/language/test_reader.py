"""The reader of annotations: what it takes, and where it says that a text is none."""

from __future__ import annotations

import pytest

from fuseloom.calls.language.reader import MOST_CHARACTERS, read_annotation
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.errors import ParseError

GOOD = """// a call of BLAS
l_u: Symbolic
l_v: Symbolic
for u in [out.x, out.x + out.len_x, l_u] {   # rows
  for v in [out.y, out.y + out.len_y, l_v] {
    produces { out { x: u, y: v, len_x: l_u, len_y: l_v } }
    when consumes {
      a { start: u, len: l_u },
      b { start: v, len: l_v },
    }
  }
}
"""


def test_the_annotation_of_the_paper() -> None:
    read = read_annotation(GOOD)
    assert read.symbolic == ("l_u", "l_v")
    assert [loop.variable for loop in read.intervals] == ["u", "v"]
    field = DataField("out", "x")
    assert read.intervals[0].end == Polynomial.of(field) + Polynomial.of(DataField("out", "len_x"))
    assert dict(read.produces.fields)["len_y"] == Polynomial.of(Symbol("l_v"))
    assert [subset.data for subset in read.consumes] == ["a", "b"]


def expression(text: str) -> Polynomial:
    ((_, value),) = read_annotation(
        f"produces {{ o {{ start: {text} }} }} when consumes {{ }}"
    ).produces.fields
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3", 7), ("(1 + 2)*3", 9), ("7 - 2 - 1", 4), ("7 / 2 * 2", 6), ("-7 / 2", -4),
        ("-(7 / 2)", -3), ("7 % 4", 3), ("--3", 3), ("2*-3", -6), ("-7 % 4", 1), ("8 / 2 / 2", 2),
        ("10 - 7 % 4", 7), ("00012", 12),
    ],
)  # fmt: skip
def test_operators_bind_as_in_python(text: str, value: int) -> None:
    assert expression(text).number == value


@pytest.mark.parametrize("name", ["fore", "in_", "produced", "_", "x1", "Symbolics"])
def test_words_of_the_language_within_names(name: str) -> None:
    assert expression(f"{name} + 1") == Polynomial.of(name) + 1


PART = "produces { o { start: x } } when consumes { a { start: x } }"
BAD = {
    "nothing": ("", 1, 1, "the end"),
    "a sign": ("?", 1, 1, "'?'"),
    "half a loop": ("for x in [0, 4] { }", 1, 15, "']'"),
    "no brace": ("t: Symbolic\nfor x in [0, 4, t]\nproduces", 3, 1, "'produces'"),
    "an end too early": ("for x in [0, 4, 1] {", 1, 21, "the end"),
    "an end too late": (f"for x in [0, 4, 1] {{ {PART} }}\n}}", 2, 1, "'}'"),
    "another declaration": ("t: Number", 1, 4, "'Number'"),
    "no consumes": ("produces { o { start: x } }", 1, 28, "the end"),
    "no fields": ("produces { o { } } when consumes { }", 1, 16, "'}'"),
    "a field without value": ("produces { o { start } } when consumes { }", 1, 22, "'}'"),
    "two operators": ("produces { o { start: x + * y } }", 1, 27, "'*'"),
    "a quotient of variables": ("produces { o { start: x / y } }", 1, 27, "'y'"),
    "a float": ("produces { o { start: 1.5 } }", 1, 24, "'.'"),
    "two outputs": ("produces { o { start: x }, p { start: x } }", 1, 26, "','"),
    "division by zero": ("produces { o { start:\n x / 0 } } when consumes { }", 2, 6, "by 0"),
    "remainder by zero": ("produces { o { start: x % 00 } } when consumes { }", 1, 27, "by 0"),
    "a large number": (
        f"produces {{ o {{ start: {'9' * 19} }} }} when consumes {{ }}", 1, 23, "too large",
    ),
    "a large product": (
        f"produces {{ o {{ start: {'9' * 18}*{'9' * 18} }} }} when consumes {{ }}", 1, 23, "digits",
    ),
    "a field twice": (
        "produces { o { start: x,\n start: y } } when consumes { }", 2, 2, "start twice",
    ),
    "a variable twice": (f"x: Symbolic\nx: Symbolic\n{PART}", 2, 1, "x is declared twice"),
    "a size as loop": (f"x: Symbolic\nfor x in [0, 4, 1] {{ {PART} }}", 2, 5, "declared twice"),
    "a loop twice": (
        f"for x in [0, 4, 1] {{\n  for x in [0, 4, 1] {{ {PART} }} }}", 2, 7, "declared twice",
    ),
    "data as variable": (f"o: Symbolic\n{PART}", 2, 12, "variable and a data structure"),
    "an input as variable": (f"a: Symbolic\n{PART}", 2, 45, "variable and a data structure"),
    "output as input": (
        "produces { o { start: x } }\nwhen consumes { o { start: x } }", 2, 17, "and consumed",
    ),
    "a bound that moves": (
        f"for y in [0, 4, 1] {{\n for x in [0, y, 1] {{ {PART} }} }}", 2, 6, "reads y",
    ),
    "many factors": (
        f"produces {{ o {{ start: {'*'.join('x' * 17)} }} }} when consumes {{ }}", 1, 23, "at most",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_texts_are_refused_at_their_place(name: str) -> None:
    text, line, column, words = BAD[name]
    with pytest.raises(ParseError) as caught:
        read_annotation(text, "call.h")
    error = caught.value
    assert words in error.message
    assert (error.line, error.column, error.source) == (line, column, "call.h")


@pytest.mark.parametrize(
    "text",
    [
        "-" * 15_000 + "x",
        "(" * 9_000 + "x" + ")" * 9_000,
        "x+(" * 4_000 + "x" + ")" * 4_000,
        "(1+" * 4_000 + "x" + ")" * 4_000,
    ],
)
def test_nesting_has_no_limit_of_recursion(text: str) -> None:
    assert next(iter(expression(text).atoms())) == Symbol("x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*".join(f"(a{n} + b{n})" for n in range(30)), "too long"),
        ("+".join(f"a{n}" for n in range(300)), "at most 200 terms"),
        ("(" * 40 + "x" + " + 1) / 2" * 40, "divisions are in each other"),
        ("(" * 40 + "x" + " + 1) % 99" * 40, "divisions are in each other"),
    ],
)
def test_expressions_that_would_take_long_are_refused(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        expression(text)


def test_loops_in_each_other_have_no_limit_of_recursion() -> None:
    depth = 500
    text = "".join(f"for x{n} in [0, 9, 1] {{" for n in range(depth))
    read = read_annotation(f"{text} {PART} {'}' * depth}")
    assert len(read.intervals) == depth


def test_texts_have_a_length() -> None:
    with pytest.raises(ParseError, match="at most 20,000 characters") as caught:
        read_annotation(" " * (MOST_CHARACTERS + 1), "call.h")
    assert caught.value.source == "call.h"


def test_an_error_says_what_was_expected() -> None:
    with pytest.raises(ParseError) as caught:
        read_annotation("for x on")
    assert caught.value.hint == "expected 'in'"
