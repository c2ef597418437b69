"""Nesting without end is refused, not crashed on."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.program import parse
from fuseloom.program.limits import MAX_NESTING


def test_deepest_allowed_nesting() -> None:
    depth = MAX_NESTING - 1
    program = parse(f"v: 4 dense\nT[j] = {'exp(' * (depth // 2)}v[j]{')' * (depth // 2)}")
    assert len(program.statements) == depth // 2


@pytest.mark.deep  # takes seconds
def test_hostile_brackets_do_not_overflow() -> None:
    with pytest.raises(ParseError):
        parse("v: 4 dense\nT[j] = " + "(" * 300_000)
    with pytest.raises(ParseError, match="nested"):
        parse("v: 4 dense\nT[j] = " + "-" * 100_000 + "v[j]")
