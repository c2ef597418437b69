"""Sums of indices and entries of lists."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.program.positions import entry_at, plain_indices, total
from fuseloom.program.syntax import Identifier, Position

AT = (1, 1)
FIRST, SECOND = Identifier("i", AT), Identifier("k", AT)


def term(coefficient: int, word: Identifier) -> Position:
    return Position(((coefficient, word),), 0, AT)


def test_terms_of_one_index_are_added() -> None:
    made = total((term(2, FIRST), term(1, SECOND), term(-1, FIRST), Position((), 3, AT)))
    assert made == Position(((1, FIRST), (1, SECOND)), 3, AT)
    assert total((term(1, FIRST),)) == FIRST
    assert total((term(1, FIRST), Position((), 0, AT))) == Position(((1, FIRST),), 0, AT)
    assert total((term(1, FIRST), term(-1, FIRST))) == Position((), 0, AT)


def test_an_entry_stands_alone() -> None:
    entry = entry_at(Identifier("p", AT), term(2, FIRST), AT)
    assert total((entry,)) == entry
    with pytest.raises(ParseError, match="an index by itself"):
        total((term(1, FIRST), entry))
    with pytest.raises(ParseError, match="a list at the entries"):
        entry_at((1, 2), entry, AT)


def test_plain_indices_are_names() -> None:
    assert plain_indices((FIRST, SECOND), "max[...]") == (FIRST, SECOND)
    with pytest.raises(ParseError, match="names its indices"):
        plain_indices((FIRST, term(2, SECOND)), "max[...]")
