"""Parse errors say what could stand there."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.program.grammar import parse_syntax

PIECES = [
    "y[i] = x[i]",
    "x: 3 dense",
    "p: list 1",
    "program q",
    "option a b",
    "output y",
    "Größe: 3",
]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("y[i] = x[i+]", "']' is not expected here", "a name, an integer or '('"),
        ("y[i] = x[i*k]", "'k' is not expected", "an integer"),
        ("y[i] = x[i", "ends too early", "',' or ']'"),
        ("p: list 1,", "ends too early", "an integer or '-'"),
        ("y[i] = x[i] ?", "the character '?'", "the end of the line"),
    ],
)
def test_what_is_found_and_what_could_stand(text: str, message: str, hint: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_syntax(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("text", PIECES)
@pytest.mark.parametrize("found", ["?", "ö", "=", ")", "é: 3", "+", "3", "\n["])
def test_no_message_has_a_name_that_the_grammar_makes_up(text: str, found: str) -> None:
    said = [refused(text[:at] + found + text[at:]) for at in range(len(text) + 1)]
    assert not [words for words in said if "anon" in words or "'_" in words]


def refused(text: str) -> str:
    """What is said about a text; nothing if it is right."""
    try:
        parse_syntax(text)
    except ParseError as problem:
        return str(problem)
    return ""
