"""The text of a parse error: the unexpected token, and the possible ones."""

from __future__ import annotations

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from fuseloom.errors import ParseError
from fuseloom.program.syntax import SourcePlace


def refuse(message: str, hint: str, place: SourcePlace) -> ParseError:
    """An error at a place of the text."""
    return ParseError(message, hint=hint, line=place[0], column=place[1])


_PLAIN_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "INT": "an integer",
    "DIMENSIONS": "dimensions such as 34x16",
    "_NL": "the end of the line",
    "COLON": "':'",
    "COMMA": "','",
    "EQUAL": "'='",
    "_ADDS": "'+='",
    "LSQB": "'['",
    "RSQB": "']'",
    "LPAR": "'('",
    "RPAR": "')'",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "STAR": "'*'",
    "SLASH": "'/'",
    "$END": "the end of the text",
}


def _plain(terminals: set[str]) -> str:
    if {"PLUS", "STAR", "MINUS", "SLASH"} <= terminals:
        terminals = terminals - {"PLUS", "STAR", "MINUS", "SLASH"} | {"an operator"}
    words = sorted(
        (_PLAIN_WORDS.get(t, t if " " in t else f"'{t.lower()}'") for t in terminals - {"COMMENT"}),
        key=lambda word: (word.startswith("'"), word),
    )
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def explained(problem: UnexpectedInput) -> ParseError:
    """A lark error in plain words."""
    if isinstance(problem, UnexpectedToken):
        found = f"{str(problem.token)[:40]!r} is not expected here"
        if problem.token.type in ("_NL", "$END"):
            found = "the line ends too early"
        expected = set(problem.accepts or problem.expected)
    elif isinstance(problem, UnexpectedCharacters):
        found = f"the character {problem.char!r} has no meaning here"
        expected = set(problem.allowed or ())
    else:
        found, expected = "the text ends too early", set()
    hint = f"here can stand {_plain(expected)}" if expected else "see the language reference"
    return refuse(found, hint, (max(problem.line, 1), max(problem.column, 1)))
