"""Tokens of MLIR text, each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fuseloom.errors import ParseError
from fuseloom.program.limits import MAX_TEXT_CHARS
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted

_PATTERNS = (
    ("skip", r"\s+|//[^\n]*|\{-#.*?#-\}"),
    # Dimensions stick to each other and to the element type, so they are part of this token.
    ("tensor", r"tensor\s*<\s*(?:(?:\?|-?\d+)\s*x\s*)*"),
    ("string", r'"(?:[^"\\\n]|\\.)*"'),
    ("arrow", r"->"),
    ("hex", r"0x[0-9A-Fa-f]+"),
    ("float", r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?"),
    ("int", r"-?\d+"),
    ("ssa", r"%(?:[\w$.]|-(?!>))+"),
    ("symbol", r'@(?:"[^"\n]*"|[\w$.-]+)'),
    ("block", r"\^[\w$.]+"),
    ("hash", r"#[\w$.]+"),
    ("type", r"![\w$.]+"),
    ("word", r"[A-Za-z_][\w$.]*"),
    ("punct", r"[(){}\[\]<>,:=?*+-]"),
    ("odd", r"\S"),  # refused where it is met, so that text that nothing needs may hold it
)
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS), re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is one of the patterns' names or ``end``."""

    kind: str
    text: str
    place: SourcePlace

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the text"
        return repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")


def tokenize(text: str, first: int = 1) -> list[Token]:
    """All tokens of a text, whose lines count from ``first``, and a last one of kind ``end``.

    Raises
    ------
    ParseError
        A text longer than the limit.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ParseError(
            f"the MLIR text has {counted(len(text), 'character')}, the limit is {MAX_TEXT_CHARS:,}",
            hint="large constants belong in dense_resource<...>, their data in a file",
            line=first,
            column=1,
        )
    tokens: list[Token] = []
    at, line, start = 0, first, 0
    text = text.removeprefix("\ufeff")
    while at < len(text):
        match = _TOKEN.match(text, at)
        place = (line, at - start + 1)
        assert match is not None  # one pattern takes any character
        found = match.group()
        if match.lastgroup != "skip":
            tokens.append(Token(str(match.lastgroup), found, place))
        newlines = found.count("\n")
        if newlines:
            line += newlines
            start = at + found.rindex("\n") + 1
        at = match.end()
    tokens.append(Token("end", "", (line, at - start + 1)))
    return tokens
