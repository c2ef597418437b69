"""Concrete index notation as text, as the paper writes it (its §4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, Where, verify
from fuseloom.errors import ParseError
from fuseloom.program import Access

MOST_DEPTH = 200
MOST_LENGTH = 1_000_000


@dataclass
class _NestReader:
    """The words of a text, and where one stands."""

    words: list[tuple[str, int]]
    text: str
    at: int = 0

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.words[place][0] if place < len(self.words) else ""

    def refuse(self, wanted: str) -> ParseError:
        found = self.peek() or "the end"
        offset = self.words[self.at][1] if self.at < len(self.words) else len(self.text)
        line = self.text.count("\n", 0, offset) + 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1) + 1
        return ParseError(
            f"{found[:30]!r} stands where {wanted} is expected",
            hint="write forall(i, ...), where(consumer, producer), or R(i) += A(i,j) * B(j)",
            line=line,
            column=column,
        )

    def take(self, word: str) -> None:
        if self.peek() != word:
            raise self.refuse(repr(word))
        self.at += 1

    def name(self, what: str) -> str:
        word = self.peek()
        if not re.fullmatch(r"[A-Za-z_]\w*", word):
            raise self.refuse(what)
        self.at += 1
        return word


def parse_nest(text: str) -> Nest:
    """Read a nest.

    ``=`` and ``+=`` mean the same: an assignment adds, and what it assigns is empty at first.

    Raises
    ------
    ParseError
        With the place, and what is expected there.
    ProgramError
        If it has no meaning (:func:`fuseloom.contraction.loopnest.ir.verify`).

    Examples
    --------
    >>> print(parse_nest("forall(i, forall(j, y(i) = A(i,j) * x(j)))"))
    forall(i, forall(j, y(i) += A(i,j) * x(j)))
    """
    if len(text) > MOST_LENGTH:
        raise ParseError(f"a nest has at most {MOST_LENGTH:,} characters")
    words = [(m[0], m.start()) for m in re.finditer(r"\w+|\+=|\S", text)]
    reader = _NestReader(words, text)
    nest = _nest(reader, 0)
    if reader.peek():
        raise reader.refuse("the end")
    verify(nest)
    return nest


def _nest(reader: _NestReader, depth: int) -> Nest:
    if depth > MOST_DEPTH:
        raise ParseError(f"a nest is more than {MOST_DEPTH} deep")
    word = reader.peek()
    if word == "forall" and reader.peek(1) == "(":
        reader.at += 2
        index = reader.name("an index")
        reader.take(",")
        body = _nest(reader, depth + 1)
        reader.take(")")
        return Forall(index, body)
    if word == "where" and reader.peek(1) == "(":
        reader.at += 2
        consumer = _nest(reader, depth + 1)
        reader.take(",")
        producer = _nest(reader, depth + 1)
        reader.take(")")
        return Where(consumer, producer)
    out = _access(reader)
    if reader.peek() not in ("=", "+="):
        raise reader.refuse("'+='")
    reader.at += 1
    operands = [_access(reader)]
    while reader.peek() == "*":
        reader.at += 1
        operands.append(_access(reader))
    return Assign(out, tuple(operands))


def _access(reader: _NestReader) -> Access:
    name = reader.name("a tensor")
    reader.take("(")
    indices: list[str] = []
    while reader.peek() != ")":
        if indices:
            reader.take(",")
        indices.append(reader.name("an index"))
    reader.at += 1
    return Access(name, tuple(indices))
