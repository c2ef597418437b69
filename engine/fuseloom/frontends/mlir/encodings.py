"""Reading encodings of sparse tensors, in their old and new spellings.

Formats of programs store each dimension in one level.  An encoding that stores blocks, slices or
sums of dimensions holds the same elements, so its tensor is stored by dimensions instead, and a
note says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuseloom.frontends.mlir.affine_maps import DIVISIONS, MapReader
from fuseloom.frontends.mlir.blocks import StoredBlocks, Term, levels_stored
from fuseloom.frontends.mlir.cursor import refuse
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
_OLD_MAPS = ("dimToLvl", "dimOrdering", "higherOrdering", "lvlToDim")
_WIDTHS = ("posWidth", "crdWidth", "pointerBitWidth", "indexBitWidth")
_SLICES = ("dimSlices", "slice")


@dataclass(frozen=True)
class _Level:
    """The contents of a level: its dimensions, whether by parts, and its format.

    ``term`` is what it holds of them.
    """

    dims: tuple[int, ...]
    whole: bool
    format: LevelFormat
    term: Term | None = None


class _Terms:
    """Reads what a level holds: ``d0 floordiv 2``, ``(d0 + d1) mod 4``."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
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


class EncodingReader(MapReader):
    """Reads encodings."""

    def encoding(self) -> SparseEncoding:
        """``#sparse_tensor.encoding<{...}>`` in its old or new spelling, or an alias of one."""
        start = self.kind("hash", "#sparse_tensor.encoding<{...}> or its alias")
        if start.text != "#sparse_tensor.encoding":
            found = self.resolve(start)
            if not isinstance(found, SparseEncoding):
                raise refuse(
                    f"{start.text} is no encoding of a sparse tensor",
                    "write #sparse_tensor.encoding<{ map = ... }>",
                    start.place,
                )
            return found
        self.need("<")
        self.need("{")
        new: Format | None = None
        levels: tuple[LevelFormat, ...] | None = None
        order: list[_Level] | None = None
        self._notes: list[str] = []
        self._blocks: StoredBlocks | None = None
        for _ in self.listed("}"):
            key = self.kind("word", f"one of {', '.join(_KEYS)}")
            self.need("=")
            if key.text == "map":
                new = self._level_map()
            elif key.text in _OLD_LEVELS:
                levels = self._old_levels()
            elif key.text == "lvlToDim":
                self.skip_value()  # the inverse of the other
            elif key.text in _OLD_MAPS:
                order = self._old_map()
            elif key.text in _WIDTHS:
                self.skip_value()
            elif key.text in _SLICES:
                self._note("a slice of another tensor")
                self.skip_value()
            elif key.text == "explicitVal":
                self._note("one value for all elements")
                self.skip_value()
            elif key.text == "implicitVal":
                self._implicit()
            else:
                raise refuse(
                    f"an encoding has no {key.text}", suggestion(key.text, _KEYS), key.place
                )
        self.need(">")
        if levels is not None:
            new = self._old_format(levels, order, start.place)
        notes, self._notes = list(dict.fromkeys(self._notes)), []
        if new is None or not notes:
            return SparseEncoding(new, start.place)
        note = f"the file has {', '.join(notes)}; it is stored {format_text(new)}"
        blocks = self._together()
        if blocks is not None:
            note += ", and bind() adds the zeros that are stored beside its elements"
        return SparseEncoding(new, start.place, note, blocks)

    def _together(self) -> StoredBlocks | None:
        return self._blocks

    def _note(self, what: str) -> None:
        self._notes.append(what)

    def _implicit(self) -> None:
        token = self.token
        self.skip_value()
        if token.kind not in ("int", "float") or float(token.text) != 0.0:
            raise refuse(
                f"elements that are not stored are {token.text[:20]}",
                "in a program they are 0; subtract the value from what is stored",
                token.place,
            )

    # New maps.

    def _level_map(self) -> Format:
        """``(d0, d1) -> (d1 : compressed, d0 floordiv 2 : dense)``: levels, outermost first."""
        place = self.place
        if self.sees("["):
            self.skip_group()  # symbols
        forward = self.take("{")
        names = self.words("}", "the name of a level") if forward else ()
        dims = self._dimensions()
        self.need("->")
        self.need("(")
        levels = [self._level_of(dims, bool(names)) for _ in self.listed(")")]
        return self._format(levels, dims, place)

    def _dimensions(self) -> tuple[str, ...]:
        """Dimensions, which may be said to be slices, or sums of levels."""
        self.need("(")
        names: list[Token] = []
        for _ in self.listed(")"):
            names.append(self.kind("word", "the name of a dimension"))
            if self.take(":"):
                self._note("a slice of another tensor")
                self.skip_value()
            elif self.take("="):
                self._skip_expression()
        return self.distinct(tuple(names))

    def _skip_expression(self) -> None:
        while not self.sees(",", ")", ":") and self.token.kind != "end":
            if self.sees("("):
                self.skip_group()
            else:
                self.advance()

    def _level_of(self, dims: tuple[str, ...], named: bool) -> _Level:
        if named and self.tokens[self.at + 1].text == "=":
            self.advance()
            self.advance()
        start, found, whole = self.token, [], True
        before = self.at
        depth = 0
        while self.token.kind != "end" and (depth or not self.sees(":", ",", ")")):
            token = self.advance()
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
        if self.at == before or not found:
            raise refuse(f"{start} is no level of an encoding", "d0, or d0 floordiv 2", start.place)
        if not whole:
            self._note("blocks")
        elif self.at > before + 1:
            self._note("levels that are sums of dimensions")
            whole = False
        term = self._term(self.tokens[before : self.at])
        self.need(":", "':' and the level's format")
        word = self.kind("word", "dense, compressed or singleton")
        level = self._level(word)
        if self.sees("(", "["):
            self.skip_group()  # properties such as nonunique, sizes such as [2, 4]
        return _Level(tuple(found), whole, level, term)

    def _term(self, tokens: Sequence[Token]) -> Term | None:
        """Read the expression of a level; None where it is none of dimensions and numbers."""
        return _Terms([token.text for token in tokens]).read()

    def _level(self, word: Token) -> LevelFormat:
        if word.text in _OTHER_LEVELS:
            self._note(_OTHER_LEVELS[word.text])
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
        self.need("[")
        levels: list[LevelFormat] = []
        for _ in self.listed("]"):
            token = self.kind("string", 'a level format such as "compressed"')
            match = _OLD_LEVEL.fullmatch(token.text[1:-1])
            word = match.group(1) if match else token.text[1:-1]
            levels.append(self._level(Token("word", word, token.place)))
        return tuple(levels)

    def _old_map(self) -> list[_Level]:
        """Which dimensions the levels hold."""
        self.need("affine_map", "affine_map<...>")
        self.need("<")
        dims = self.dims()
        self.need("->")
        self.need("(")
        found: list[_Level] = []
        for _ in self.listed(")"):
            numbers: list[int] = []
            start = self.at
            while not self.sees(",", ")") and self.token.kind != "end":
                token = self.advance()
                if token.text in dims:
                    numbers.append(dims.index(token.text))
            if not numbers:
                raise refuse("a level without a dimension", f"it has: {', '.join(dims)}",
                             self.tokens[start].place)  # fmt: skip
            term = self._term(self.tokens[start : self.at])
            whole = self.at == start + 1
            found.append(_Level(tuple(numbers), whole, LevelFormat.DENSE, term))
        self.need(">")
        self._names = dims
        return found

    def _old_format(
        self, levels: tuple[LevelFormat, ...], order: list[_Level] | None, place: SourcePlace
    ) -> Format:
        count = range(len(levels))
        names = tuple(f"d{n}" for n in count) if order is None else self._names
        at = order or [_Level((n,), True, LevelFormat.DENSE, f"d{n}") for n in count]
        if len(at) != len(levels):
            raise refuse(
                f"{len(levels)} level formats for {counted(len(at), 'level')}",
                "one for each",
                place,
            )
        if not all(level.whole for level in at):
            self._note("blocks")
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
            self._blocks = levels_stored(names, terms)
        dense = {
            d: all(level.format is LevelFormat.DENSE for level in levels if d in level.dims)
            for d in modes
        }
        made = [LevelFormat.DENSE if dense[d] else LevelFormat.COMPRESSED for d in modes]
        return Format(tuple(made), tuple(modes))
