"""A position in the tokens of a text."""

from __future__ import annotations

from collections.abc import Iterator

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir.tokens import Token, tokenize
from fuseloom.program.limits import MAX_DIMENSION
from fuseloom.program.syntax import SourcePlace

_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}", "<": ">"}, frozenset(")]}>")


def refuse(message: str, hint: str, place: SourcePlace) -> ParseError:
    """A ParseError at a place."""
    return ParseError(message, hint=hint, line=place[0], column=place[1])


def generic_form(place: SourcePlace) -> ParseError:
    """The error for an operation in quotes."""
    return refuse(
        "the generic form of an operation",
        "print the file in its own form, without --mlir-print-op-generic",
        place,
    )


def integer(digits: str) -> int:
    """An integer; one that is too long for a dimension becomes one that is too large."""
    return int(digits) if len(digits) <= 12 else (-1 if digits[0] == "-" else MAX_DIMENSION + 1)


class Cursor:
    """Takes one token after another, or says what it wanted instead."""

    def __init__(self, text: str, line: int = 1) -> None:
        self.tokens = tokenize(text, line)
        self.at = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def place(self) -> SourcePlace:
        return self.token.place

    @property
    def last(self) -> Token:
        """The token that was taken last."""
        return self.tokens[self.at - 1]

    def ahead(self, count: int = 1) -> Token:
        """The token that stands so many behind the next one."""
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def sees(self, *texts: str) -> bool:
        """Return whether the next token is one of these words or signs."""
        token = self.token
        return token.text in texts and token.kind not in ("string", "end")

    def take(self, *texts: str) -> Token | None:
        return self.advance() if self.sees(*texts) else None

    def unexpected(self, wanted: str) -> ParseError:
        if self.token.kind == "odd":
            text = self.token.text
            return refuse(
                f"the character {text!r} has no meaning here",
                "a string ends on its line" if text == '"' else f"here can stand {wanted}",
                self.place,
            )
        return refuse(f"{self.token} is not expected here", f"here can stand {wanted}", self.place)

    def need(self, text: str, wanted: str | None = None) -> Token:
        token = self.take(text)
        if token is None:
            raise self.unexpected(wanted or f"'{text}'")
        return token

    def kind(self, kind: str, wanted: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected(wanted)
        return self.advance()

    def listed(self, close: str) -> Iterator[None]:
        """Once for each of the things separated by commas, up to a closing sign.

        A comma may stand before the closing sign.
        """
        first = True
        while not self.take(close):
            if not first:
                self.need(",", f"',' or '{close}'")
                if self.take(close):
                    return
            first = False
            yield

    def words(self, close: str, wanted: str) -> tuple[Token, ...]:
        """Names separated by commas, up to a closing sign."""
        return tuple(self.kind("word", wanted) for _ in self.listed(close))

    def angled(self, wanted: str) -> str:
        """A word in angle brackets: ``<add>``."""
        self.need("<")
        word = self.kind("word", wanted).text
        self.need(">")
        return word

    def entries(self) -> Iterator[Token]:
        """The names in a dictionary, each before its value; those without a value are skipped."""
        self.need("{")
        for _ in self.listed("}"):
            if self.token.kind not in ("word", "string"):
                raise self.unexpected("the name of an attribute")
            name = self.advance()
            if self.take("="):
                yield name

    def skip_group(self) -> None:
        """Skip from an opening bracket to the one that closes it."""
        if self.token.kind != "tensor" and not self.sees(*_OPEN):
            raise self.unexpected("an opening bracket")
        opened = [self.advance()]
        while opened:
            token = self.token
            if token.kind == "end":
                raise refuse(
                    f"{opened[-1]} is not closed", "the text ends before that", opened[-1].place
                )
            self.advance()
            if token.kind == "tensor" or (token.kind == "punct" and token.text in _OPEN):
                opened.append(token)
            elif token.kind == "punct" and token.text in _CLOSE:
                last = opened.pop()
                if token.text != (">" if last.kind == "tensor" else _OPEN[last.text]):
                    raise refuse(
                        f"{token} does not close {last}", "brackets come in pairs", token.place
                    )

    def skip_value(self) -> None:
        """Skip an attribute's value: all up to a comma, or to what closes the dictionary."""
        while not self.sees(",", "}", ">", ")", "]"):
            if self.token.kind == "end":
                raise self.unexpected("an attribute's value")
            if self.token.kind == "tensor" or self.sees(*_OPEN):
                self.skip_group()
            else:
                self.advance()

    def skip_item(self) -> None:
        """Skip to the next function, module or alias, or to what closes the module."""
        depth = 0
        while self.token.kind != "end":
            if depth == 0 and self.starts_item():
                return
            if self.sees("{"):
                depth += 1
            elif self.sees("}"):
                if depth == 0:
                    return
                depth -= 1
            self.advance()

    def starts_item(self) -> bool:
        """Return whether a function, a module or an alias begins here."""
        if self.token.kind in ("hash", "type"):
            return self.ahead().text == "="
        return self.sees("func.func", "func", "module", "builtin.module", "ml_program.global")

    def skip_operation(self) -> None:
        """Skip to where the next operation begins on a line of its own, or the block ends."""
        line = self.last.place[0]
        while self.token.kind != "end" and not self.sees("}"):
            if self.place[0] > line and self._starts_operation():
                return
            if self.token.kind == "tensor" or self.sees(*_OPEN):
                self.skip_group()
            else:
                self.advance()
            line = self.last.place[0]

    def _starts_operation(self) -> bool:
        token, at = self.token, self.at
        if token.kind == "block":
            return True
        if token.kind == "word":
            return "." in token.text or token.text in ("call", "return")
        while self.tokens[at].kind == "ssa":
            at += 1
            if self.tokens[at].text == ":" and self.tokens[at + 1].kind == "int":
                at += 2
            if self.tokens[at].text == "=":
                return True
            if self.tokens[at].text != ",":
                return False
            at += 1
        return False

    def skip_location(self) -> None:
        if self.sees("loc") and self.ahead().text == "(":
            self.advance()
            self.skip_group()

    def skip_dictionary(self) -> None:
        if self.sees("{"):
            self.skip_group()
