"""From text to a program: names, dead code, limits."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program.limits import MAX_TEXT_CHARS
from tests.frontends.mlir.texts import statements

from .files import imported


def test_names() -> None:
    assert statements("strange_names") == [
        "t0[d0] = arg0_x[d0] * relu_[d0]",
        "output_[d0] = t0[d0] * c_1[d0]",
    ]
    assert imported("strange_names").program.name == "a_function"


def test_dead_code() -> None:
    given = imported("dead_code")
    assert given.program.inputs == ("a",)
    assert len(given.program.statements) == 1


def test_the_text_has_a_limit() -> None:
    with pytest.raises(ParseError, match="the limit is"):
        from_mlir(" " * (MAX_TEXT_CHARS + 1))
