"""Concrete index notation as text: read, written, refused with its place."""

from __future__ import annotations

import random

import pytest

from fuseloom.contraction.loopnest.generate import nest_of
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.solve import Question
from fuseloom.errors import FuseloomError, ParseError


@pytest.mark.parametrize("name", ["MTTKRP", "running example"])
def test_what_is_written_is_read_back(name: str) -> None:
    solutions, _ = Question(shipped(name)).all(1, most=8)
    for solution in solutions:
        nest = nest_of(solution)
        assert parse_nest(str(nest)) == nest


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("forall(i y(i) += A(i))", "','", 10),
        ("forall(i, y(i) * A(i))", r"'\+='", 16),
        ("forall(i, y(i) += A(i)", r"'\)'", 23),
        ("forall(i, y(i) += A(i)) x", "the end", 25),
        ("forall(1, y() += A())", "an index", 8),
        ("where(y() += t(), )", "a tensor", 19),
    ],
)
def test_text_that_is_refused(text: str, message: str, column: int) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parse_nest(text)
    assert (caught.value.line, caught.value.column) == (1, column)


def test_depth_is_bounded() -> None:
    deep = "".join(f"forall(i{n}, " for n in range(5_000)) + "y() += A()" + ")" * 5_000
    with pytest.raises(ParseError, match="deep"):
        parse_nest(deep)


def test_mutated_text_raises_nothing_else() -> None:
    rng = random.Random(5)
    text = str(nest_of(Question(shipped("running example")).all(1, most=1)[0][0]))
    for _ in range(400):
        at = rng.randrange(len(text))
        changed = text[:at] + rng.choice(["", "(", ")", ",", "x", " ", "é", "+="]) + text[at + 1 :]
        try:
            parse_nest(changed)
        except FuseloomError:
            continue
