"""Parse errors say what could stand there."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.program.grammar import parse_syntax


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
