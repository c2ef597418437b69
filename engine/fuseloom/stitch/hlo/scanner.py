"""A text of HLO, gone through from its beginning to its end."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NoReturn

from fuseloom.errors import ParseError, shortened

NAME = re.compile(r"%?([A-Za-z0-9_][A-Za-z0-9_.\-]*)")
"""Names of operations, computations and modules; dumps of XLA have a percent sign before them."""
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*")
"""Names of opcodes and attributes."""
INTEGER = re.compile(r"-?[0-9]{1,18}(?![0-9])")
_BLANK = re.compile(r"\s*")
_ASIDE = re.compile(
    r'"(?:[^"\\\n]|\\[^\n])*+(?:"|\\?(?:\n|\Z))|/\*.*?(?:\*/|\Z)|//[^\n]*', re.DOTALL
)
_PIECE = re.compile(r'"(?:[^"\\\n]|\\[^\n])*+"|[^"{}()\[\],\n]+|.', re.DOTALL)
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_TOKEN = re.compile(r"[\w.%\-]+|\S")


class HloScanner:
    """A text, and a place in it.

    Parameters
    ----------
    text : str
        Its comments are taken for spaces.
    source : str, optional
        What the text is called in errors.

    Raises
    ------
    ParseError
        If a comment or a quotation has no end.

    Examples
    --------
    >>> scanner = HloScanner("ROOT y = /* f32 */ 12")
    >>> scanner.word("ROOT"), scanner.name(), scanner.sign("="), scanner.integer()
    (True, 'y', True, 12)
    """

    def __init__(self, text: str, source: str | None = None) -> None:
        self.source = source
        self.text = text
        self.at = 0
        self.text = _ASIDE.sub(self._blanked, text)
        self._skip()

    def _blanked(self, match: re.Match[str]) -> str:
        aside = match[0]
        if aside[0] == '"':
            if len(aside) < 2 or aside[-1] != '"':
                self.fail("a quotation has no end", at=match.start())
            return aside
        if aside[1] == "*" and (len(aside) < 4 or not aside.endswith("*/")):
            self.fail("a comment has no end", "comments end with */", at=match.start())
        return re.sub(r"[^\n]", " ", aside)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, at: int | None = None) -> tuple[int, int]:
        """The line and the column of a place, by default of this one."""
        at = self.at if at is None else at
        line = bisect_right(self._line_starts, at)
        return line, at - self._line_starts[line - 1] + 1

    def fail(self, message: str, hint: str | None = None, *, at: int | None = None) -> NoReturn:
        """Refuse the text at a place, by default at this one."""
        line, column = self.place(at)
        raise ParseError(message, hint=hint, line=line, column=column, source=self.source)

    def unexpected(self, expected: str) -> NoReturn:
        """Refuse what stands here."""
        match = _TOKEN.match(self.text, self.at)
        what = "the end" if match is None else shortened(repr(match[0]), 40)
        self.fail(f"{what} does not fit here", f"expected {expected}")

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    @property
    def ended(self) -> bool:
        """True at the end of the text."""
        return self.at == len(self.text)

    def sees(self, sign: str) -> bool:
        """True if a sign stands here."""
        return self.text.startswith(sign, self.at)

    def sign(self, sign: str) -> bool:
        """Go past a sign, if it stands here."""
        if not self.sees(sign):
            return False
        self.at += len(sign)
        self._skip()
        return True

    def demand(self, sign: str) -> None:
        """Go past a sign, which has to stand here."""
        if not self.sign(sign):
            self.unexpected(repr(sign))

    def word(self, word: str) -> bool:
        """Go past a word, if it stands here and is no part of a longer one."""
        match = NAME.match(self.text, self.at)
        if match is None or match[0] != word:
            return False
        self.at = match.end()
        self._skip()
        return True

    def take(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        """Go past what a pattern describes."""
        match = pattern.match(self.text, self.at)
        if match is None or not match[0]:
            self.unexpected(expected)
        self.at = match.end()
        self._skip()
        return match

    def name(self) -> str:
        """Go past a name."""
        return self.take(NAME, "a name")[1]

    def integer(self) -> int:
        """Go past an integer."""
        match = re.compile(r"-?[0-9]+").match(self.text, self.at)
        if match is not None and not INTEGER.match(self.text, self.at):
            self.fail(f"{shortened(match[0], 30)} is too large", "integers have at most 18 digits")
        return int(self.take(INTEGER, "an integer")[0])

    def balanced(self, *, most: int = 64, one: bool = False) -> str:
        """Go past a text up to a comma, a bracket that closes, or the end of the line.

        Brackets and quotations within it are whole.

        Parameters
        ----------
        most : int
            Brackets within each other.
        one : bool
            End it behind its first bracket.
        """
        start = self.at
        closing: list[str] = []
        at = start
        for match in _PIECE.finditer(self.text, start):
            piece = match[0]
            at = match.start()
            if not closing and piece in ("}", ")", "]", ",", "\n"):
                break
            if piece in _CLOSING:
                closing.append(_CLOSING[piece])
                if len(closing) > most:
                    self.fail(f"more than {most} brackets are within each other", at=at)
            elif closing and piece in ("}", ")", "]") and piece != closing.pop():
                self.at = at
                self.unexpected("another bracket")
            at = match.end()
            if one and not closing:
                break
        if closing:
            self.fail("a bracket has no end", f"expected {closing[-1]!r}", at=start)
        text = self.text[start:at].rstrip()
        self.at = at
        self._skip()
        if not text:
            self.at = start
            self.unexpected("a value")
        return text
