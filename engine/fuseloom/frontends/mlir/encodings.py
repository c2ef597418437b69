"""Encodings of sparse tensors, in their old and new spellings.

Formats of programs store each dimension in one level.  An encoding that stores blocks, slices or
sums of dimensions holds the same elements, so its tensor is stored by dimensions instead, and a
note says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from fuseloom.frontends.mlir.affine_maps import DIVISIONS, Aliases, distinct, read_dims, resolve
from fuseloom.frontends.mlir.blocks import StoredBlocks, Term, levels_stored
from fuseloom.frontends.mlir.cursor import Cursor, refuse
from fuseloom.frontends.mlir.syntax import SparseEncoding
from fuseloom.frontends.mlir.tokens import Token
from fuseloom.program.formats import Format, LevelFormat, format_text, suggestion
from fuseloom.program.limits import MAX_RANK
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted

_LEVELS = {level.value: level for level in LevelFormat}
_OTHER_LEVELS = {
    "loose_compressed": "segments with gaps",
    "compressed_with_hi": "segments with gaps",
    "structured": "n of m elements",
    "block2_4": "2 of 4 elements",
    "batch": "a batch level",
    "range": "a range level",
    "delegate": "a delegate level",
}
"""Level formats that are stored as compressed (a batch level as dense), with a note."""
_OLD_LEVEL = re.compile(r"(\w+?)((?:-n[uo]|-hi)*)")
_KEYS = ("map", "lvlTypes", "dimToLvl", "posWidth", "crdWidth", "explicitVal", "implicitVal")
_OLD_LEVELS = ("lvlTypes", "dimLevelType")
_OLD_MAPS = ("dimToLvl", "dimOrdering", "higherOrdering")
_SKIPPED = {
    "lvlToDim": (),  # the inverse of the map
    **dict.fromkeys(("posWidth", "crdWidth", "pointerBitWidth", "indexBitWidth"), ()),
    **dict.fromkeys(("dimSlices", "slice"), ("a slice of another tensor",)),
    "explicitVal": ("one value for all elements",),
}
"""Attributes whose values are skipped, and the notes on them."""


@dataclass(frozen=True)
class _Level:
    """The contents of a level: its dimensions, whether by parts, and its format.

    ``term`` is what it holds of them.
    """

    dims: tuple[int, ...]
    whole: bool
    format: LevelFormat
    term: Term | None = None


_OldMap: TypeAlias = tuple[tuple[str, ...], list[_Level]]
"""The dimensions of a map in the old spelling, and its levels."""


class _Terms:
    """Reads what a level holds: ``d0 floordiv 2``, ``(d0 + d1) mod 4``."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.words = [token.text for token in tokens]
        self.at = 0

    def read(self) -> Term | None:
        """Return the term; None if the words are none."""
        try:
            found = self._sum()
        except (IndexError, RecursionError):
            return None
        return found if self.at == len(self.words) else None

    def _next(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def _take(self) -> str:
        self.at += 1
        return self.words[self.at - 1]

    def _sum(self) -> Term | None:
        found = self._product()
        while found is not None and self._next() in ("+", "-"):
            op, other = self._take(), self._product()
            found = None if other is None else (op, found, other)
        return found

    def _product(self) -> Term | None:
        found = self._factor()
        while found is not None and self._next() in ("*", *DIVISIONS):
            op, other = self._take(), self._factor()
            found = None if other is None or other == 0 else (op, found, other)
        return found

    def _factor(self) -> Term | None:
        word = self._take()
        if word == "(":
            found = self._sum()
            return found if self._next() == ")" and self._take() else None
        if word == "-":
            other = self._factor()
            return None if other is None else ("-", 0, other)
        if re.fullmatch(r"-?\d{1,9}", word):
            return int(word)
        return word if re.fullmatch(r"[A-Za-z_][\w$.]*", word) and word[0] != "s" else None


def read_encoding(cursor: Cursor, aliases: Aliases) -> SparseEncoding:
    """``#sparse_tensor.encoding<{...}>`` in its old or new spelling, or an alias of one.

    Raises
    ------
    ParseError
        The text is no encoding, or one of something else than the tensor's dimensions.
    """
    start = cursor.kind("hash", "#sparse_tensor.encoding<{...}> or its alias")
    if start.text == "#sparse_tensor.encoding":
        return _Encoding(cursor).read(start.place)
    return resolve(
        aliases, start, SparseEncoding, "encoding of a sparse tensor",
        "write #sparse_tensor.encoding<{ map = ... }>",
    )  # fmt: skip


class _Encoding:
    """One encoding; ``notes`` tell what formats have no counterpart of."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.notes: list[str] = []
        self.blocks: StoredBlocks | None = None

    def read(self, place: SourcePlace) -> SparseEncoding:
        cursor = self.cursor
        cursor.need("<")
        cursor.need("{")
        new: Format | None = None
        levels: tuple[LevelFormat, ...] | None = None
        order: _OldMap | None = None
        for _ in cursor.listed("}"):
            key = cursor.kind("word", f"one of {', '.join(_KEYS)}")
            cursor.need("=")
            if key.text == "map":
                new = self._level_map()
            elif key.text in _OLD_LEVELS:
                levels = self._old_levels()
            elif key.text in _OLD_MAPS:
                order = self._old_map()
            elif key.text == "implicitVal":
                self._implicit()
            elif key.text in _SKIPPED:
                cursor.skip_value()
                self.notes += _SKIPPED[key.text]
            else:
                raise refuse(
                    f"an encoding has no {key.text}", suggestion(key.text, _KEYS), key.place
                )
        cursor.need(">")
        if levels is not None:
            new = self._old_format(levels, order, place)
        if new is None or not self.notes:
            return SparseEncoding(new, place)
        notes = ", ".join(dict.fromkeys(self.notes))
        note = f"the file has {notes}; it is stored {format_text(new)}"
        if self.blocks is not None:
            note += ", and bind() adds the zeros that are stored beside its elements"
        return SparseEncoding(new, place, note, self.blocks)

    def _implicit(self) -> None:
        token = self.cursor.token
        self.cursor.skip_value()
        if token.kind not in ("int", "float") or float(token.text) != 0.0:
            raise refuse(
                f"elements that are not stored are {token.text[:20]}",
                "in a program they are 0; subtract the value from what is stored",
                token.place,
            )

    # New maps.

    def _level_map(self) -> Format:
        """``(d0, d1) -> (d1 : compressed, d0 floordiv 2 : dense)``: levels, outermost first."""
        cursor = self.cursor
        place = cursor.place
        if cursor.sees("["):
            cursor.skip_group()  # symbols
        forward = cursor.take("{")
        names = cursor.words("}", "the name of a level") if forward else ()
        dims = self._dimensions()
        cursor.need("->")
        cursor.need("(")
        levels = [self._level_of(dims, bool(names)) for _ in cursor.listed(")")]
        return self._format(levels, dims, place)

    def _dimensions(self) -> tuple[str, ...]:
        """Dimensions, which may be said to be slices, or sums of levels."""
        cursor = self.cursor
        cursor.need("(")
        names: list[Token] = []
        for _ in cursor.listed(")"):
            names.append(cursor.kind("word", "the name of a dimension"))
            if cursor.take(":"):
                self.notes.append("a slice of another tensor")
                cursor.skip_value()
            elif cursor.take("="):
                _skip_expression(cursor)
        return distinct(tuple(names))

    def _level_of(self, dims: tuple[str, ...], named: bool) -> _Level:
        cursor = self.cursor
        if named and cursor.ahead().text == "=":
            cursor.advance()
            cursor.advance()
        start, found, whole = cursor.token, [], True
        before = cursor.at
        depth = 0
        while cursor.token.kind != "end" and (depth or not cursor.sees(":", ",", ")")):
            token = cursor.advance()
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.kind == "word" and token.text in dims:
                found.append(dims.index(token.text))
            elif token.text in DIVISIONS:
                whole = False
            elif token.kind == "word" and not re.fullmatch(r"s\d+", token.text):
                raise refuse(
                    f"the map has no dimension {token.text}", f"it has: {', '.join(dims)}",
                    token.place,
                )  # fmt: skip
        if cursor.at == before or not found:
            raise refuse(f"{start} is no level of an encoding", "d0, or d0 floordiv 2", start.place)
        if not whole:
            self.notes.append("blocks")
        elif cursor.at > before + 1:
            self.notes.append("levels that are sums of dimensions")
            whole = False
        term = _Terms(cursor.tokens[before : cursor.at]).read()
        cursor.need(":", "':' and the level's format")
        word = cursor.kind("word", "dense, compressed or singleton")
        level = self._level(word)
        if cursor.sees("(", "["):
            cursor.skip_group()  # properties such as nonunique, sizes such as [2, 4]
        return _Level(tuple(found), whole, level, term)

    def _level(self, word: Token) -> LevelFormat:
        if word.text in _OTHER_LEVELS:
            self.notes.append(_OTHER_LEVELS[word.text])
            return LevelFormat.DENSE if word.text == "batch" else LevelFormat.COMPRESSED
        if word.text not in _LEVELS:
            raise refuse(
                f"no level format is called {word.text!r}",
                suggestion(word.text, [*_LEVELS, *_OTHER_LEVELS]),
                word.place,
            )
        return _LEVELS[word.text]

    # Old maps.

    def _old_levels(self) -> tuple[LevelFormat, ...]:
        cursor = self.cursor
        cursor.need("[")
        levels: list[LevelFormat] = []
        for _ in cursor.listed("]"):
            token = cursor.kind("string", 'a level format such as "compressed"')
            match = _OLD_LEVEL.fullmatch(token.text[1:-1])
            word = match.group(1) if match else token.text[1:-1]
            levels.append(self._level(Token("word", word, token.place)))
        return tuple(levels)

    def _old_map(self) -> _OldMap:
        """Dimensions, and which of them the levels hold."""
        cursor = self.cursor
        cursor.need("affine_map", "affine_map<...>")
        cursor.need("<")
        dims = read_dims(cursor)
        cursor.need("->")
        cursor.need("(")
        found: list[_Level] = []
        for _ in cursor.listed(")"):
            numbers: list[int] = []
            start = cursor.at
            while not cursor.sees(",", ")") and cursor.token.kind != "end":
                token = cursor.advance()
                if token.text in dims:
                    numbers.append(dims.index(token.text))
            if not numbers:
                raise refuse("a level without a dimension", f"it has: {', '.join(dims)}",
                             cursor.tokens[start].place)  # fmt: skip
            term = _Terms(cursor.tokens[start : cursor.at]).read()
            whole = cursor.at == start + 1
            found.append(_Level(tuple(numbers), whole, LevelFormat.DENSE, term))
        cursor.need(">")
        return dims, found

    def _old_format(
        self, levels: tuple[LevelFormat, ...], order: _OldMap | None, place: SourcePlace
    ) -> Format:
        names, at = order or (tuple(f"d{n}" for n in range(len(levels))), [])
        at = at or [_Level((n,), True, LevelFormat.DENSE, f"d{n}") for n in range(len(levels))]
        if len(at) != len(levels):
            raise refuse(
                f"{len(levels)} level formats for {counted(len(at), 'level')}",
                "one for each",
                place,
            )
        if not all(level.whole for level in at):
            self.notes.append("blocks")
        made = [replace(a, format=level) for a, level in zip(at, levels, strict=True)]
        return self._format(made, names, place)

    # Formats.

    def _format(self, levels: list[_Level], names: tuple[str, ...], place: SourcePlace) -> Format:
        """One level per dimension, where the dimension is met first.

        It is dense if all levels that hold parts of the dimension are.
        """
        rank = len(names)
        modes = list(dict.fromkeys(d for level in levels for d in level.dims))
        parts = any(not level.whole for level in levels)
        if sorted(modes) != list(range(rank)) or (not parts and len(levels) != rank):
            raise refuse(
                "an encoding's map must permute its dimensions",
                "name each dimension once on the right",
                place,
            )
        if rank > MAX_RANK:
            raise refuse(
                f"{counted(rank, 'dimension')}, the limit is {MAX_RANK}", "merge dimensions", place
            )
        if not parts:
            return Format(tuple(level.format for level in levels), tuple(modes))
        terms = [(x.term, x.format is LevelFormat.DENSE) for x in levels if x.term is not None]
        if len(terms) == len(levels):
            self.blocks = levels_stored(names, terms)
        dense = {
            d: all(level.format is LevelFormat.DENSE for level in levels if d in level.dims)
            for d in modes
        }
        made = [LevelFormat.DENSE if dense[d] else LevelFormat.COMPRESSED for d in modes]
        return Format(tuple(made), tuple(modes))


def _skip_expression(cursor: Cursor) -> None:
    while not cursor.sees(",", ")", ":") and cursor.token.kind != "end":
        if cursor.sees("("):
            cursor.skip_group()
        else:
            cursor.advance()
