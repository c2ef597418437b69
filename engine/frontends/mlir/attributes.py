"""Reading types, maps, encodings and traits."""

from __future__ import annotations

import re
from typing import TypeAlias

from engine.frontends.mlir.cursor import integer, refuse
from engine.frontends.mlir.literals import NUMBERS, LiteralReader
from engine.frontends.mlir.syntax import (
    FLOATS,
    INTEGERS,
    AffineMap,
    Encoding,
    Trait,
    Type,
)
from engine.frontends.mlir.tokens import Token
from engine.program.formats import Format, LevelFormat, suggestion
from engine.program.limits import MAX_NESTING, MAX_RANK
from engine.program.syntax import Place

Alias: TypeAlias = AffineMap | Encoding | Trait | None
"""What a ``#name`` stands for; None for an attribute the subset has no use for."""

_LEVELS = {level.value: level for level in LevelFormat}
_OLD_LEVEL = re.compile(r"(\w+?)((?:-n[uo])*)")
_ENCODING_KEYS = ("map", "lvlTypes", "dimToLvl", "posWidth", "crdWidth")
_OLD_LEVELS = ("lvlTypes", "dimLevelType")
_OLD_MAPS = ("dimToLvl", "dimOrdering")
_WIDTHS = ("posWidth", "crdWidth", "pointerBitWidth", "indexBitWidth")


class Reader(LiteralReader):
    """Reads attributes and types, and knows the aliases defined so far."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.aliases: dict[str, Alias] = {}
        self.types: dict[str, Type] = {}

    # Aliases.

    def alias(self) -> None:
        """``#name = attribute`` or ``!name = type``."""
        name = self.advance()
        self.need("=")
        if name.kind == "type":
            self.types[name.text] = self.type()
            return
        if name.text in self.aliases:
            raise refuse(f"{name.text} is defined twice", "remove one of them", name.place)
        value: Alias = None
        if self.sees("affine_map"):
            value = self.map()
        elif self.token.text == "#sparse_tensor.encoding":
            value = self.encoding()
        elif self.sees("{"):
            value = self.trait()
        else:
            self._foreign()
        self.aliases[name.text] = value

    def _foreign(self) -> None:
        """Skip an attribute of another kind, e.g. a location."""
        if self.token.kind not in ("hash", "word", "string", "type", *NUMBERS):
            raise self.unexpected("affine_map<...>, #sparse_tensor.encoding<...> or a dictionary")
        self.advance()
        while self.sees("(", "<", "["):
            self.skip_group()
        if self.take(":"):
            self.type()

    def resolve(self, name: Token) -> Alias:
        if name.text not in self.aliases:
            known = [alias for alias, value in self.aliases.items() if value is not None]
            hint = suggestion(name.text, known) if known else "define it at the top of the file"
            raise refuse(f"{name.text} is not defined", hint, name.place)
        return self.aliases[name.text]

    # Maps.

    def map(self) -> AffineMap:
        """An affine map whose results are dimensions or the constant 0, or an alias of one."""
        if self.token.kind == "hash":
            name = self.advance()
            found = self.resolve(name)
            if not isinstance(found, AffineMap):
                raise refuse(f"{name.text} is no affine map", "write affine_map<...>", name.place)
            return found
        start = self.need("affine_map", "affine_map<...> or its alias")
        self.need("<")
        dims = self._dims()
        if self.sees("["):
            raise refuse("a map with symbols", "only dimensions can be results", self.place)
        self.need("->")
        self.need("(")
        results: list[str | None] = []
        while not self.take(")"):
            if results:
                self.need(",", "',' or ')'")
            results.append(self._result(dims))
        self.need(">")
        return AffineMap(dims, tuple(results), start.place)

    def _dims(self) -> tuple[str, ...]:
        self.need("(")
        names = self.words(")", "the name of a dimension")
        dims = tuple(name.text for name in names)
        if len(dims) > MAX_NESTING:
            raise refuse(
                f"a map of {len(dims):,} dimensions, the limit is {MAX_NESTING}",
                "split the operation",
                names[0].place,
            )
        for n, name in enumerate(names):
            if name.text in dims[:n]:
                raise refuse(f"dimension {name.text} is named twice", "name it once", name.place)
        return dims

    def _result(self, dims: tuple[str, ...]) -> str | None:
        token = self.advance()
        compound = self.sees("+", "-", "*", "floordiv", "ceildiv", "mod")
        if not compound and token.kind == "word" and token.text in dims:
            return token.text
        if not compound and token.kind == "int" and token.text == "0":
            return None
        if not compound and token.kind == "word":
            known = ", ".join(dims) or "none"
            raise refuse(f"the map has no dimension {token.text}", f"it has: {known}", token.place)
        raise refuse(
            "a result of a map is a dimension or the constant 0",
            "convolutions, strides and blocks are outside the subset",
            token.place,
        )

    # Encodings.

    def encoding(self) -> Encoding:
        """``#sparse_tensor.encoding<{...}>`` in its old or new spelling, or an alias of one."""
        start = self.kind("hash", "#sparse_tensor.encoding<{...}> or its alias")
        if start.text != "#sparse_tensor.encoding":
            found = self.resolve(start)
            if not isinstance(found, Encoding):
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
        order: AffineMap | None = None
        first = True
        while not self.take("}"):
            if not first:
                self.need(",", "',' or '}'")
            first = False
            key = self.kind("word", f"one of {', '.join(_ENCODING_KEYS)}")
            self.need("=")
            if key.text == "map":
                new = self._level_map()
            elif key.text in _OLD_LEVELS:
                levels = self._old_levels()
            elif key.text in _OLD_MAPS:
                order = self.map()
            elif key.text in _WIDTHS:
                self.skip_value()
            else:
                raise refuse(
                    f"an encoding has no {key.text}",
                    suggestion(key.text, _ENCODING_KEYS),
                    key.place,
                )
        self.need(">")
        if levels is not None:
            new = _old_format(levels, order, start.place)
        return Encoding(new, start.place)

    def _level_map(self) -> Format:
        """``(d0, d1) -> (d1 : compressed, d0 : dense)``: levels from outermost to innermost."""
        place = self.place
        dims = self._dims()
        self.need("->")
        self.need("(")
        modes: list[int] = []
        levels: list[LevelFormat] = []
        while not self.take(")"):
            if modes:
                self.need(",", "',' or ')'")
            name = self.kind("word", "a dimension")
            if name.text not in dims:
                raise refuse(
                    f"the map has no dimension {name.text}", f"it has: {', '.join(dims)}",
                    name.place,
                )  # fmt: skip
            if not self.sees(":", ",", ")"):
                raise refuse(
                    "a level holds one dimension",
                    "blocked encodings (floordiv, mod) are outside the subset; "
                    "the schedule's 'block' stores tensors in blocks",
                    self.place,
                )
            modes.append(dims.index(name.text))
            self.need(":", "':' and the level's format")
            levels.append(self._level(self.kind("word", "dense, compressed or singleton")))
            if self.take("("):
                self.words(")", "a property such as nonunique")
        return _format(levels, modes, len(dims), place)

    def _level(self, word: Token) -> LevelFormat:
        if word.text not in _LEVELS:
            raise refuse(
                f"no level format is called {word.text!r}",
                suggestion(word.text, list(_LEVELS)),
                word.place,
            )
        return _LEVELS[word.text]

    def _old_levels(self) -> tuple[LevelFormat, ...]:
        self.need("[")
        levels: list[LevelFormat] = []
        while not self.take("]"):
            if levels:
                self.need(",", "',' or ']'")
            token = self.kind("string", 'a level format such as "compressed"')
            match = _OLD_LEVEL.fullmatch(token.text[1:-1])
            word = match.group(1) if match else token.text[1:-1]
            levels.append(self._level(Token("word", word, token.place)))
        return tuple(levels)

    # Traits.

    def trait(self) -> Trait:
        """A dictionary with ``indexing_maps`` and ``iterator_types``, in any order."""
        start = self.need("{")
        maps: tuple[AffineMap, ...] | None = None
        iterators: tuple[str, ...] | None = None
        first = True
        while not self.take("}"):
            if not first:
                self.need(",", "',' or '}'")
            first = False
            if self.token.kind not in ("word", "string"):
                raise self.unexpected("the name of an attribute")
            key = self.advance().text
            if not self.take("="):
                continue  # a unit attribute
            if key == "indexing_maps":
                maps = self.maps()
            elif key == "iterator_types":
                iterators = self._iterators()
            else:
                self.skip_value()
        return Trait(maps, iterators, start.place)

    def maps(self) -> tuple[AffineMap, ...]:
        self.need("[")
        maps: list[AffineMap] = []
        while not self.take("]"):
            if maps:
                self.need(",", "',' or ']'")
            maps.append(self.map())
        return tuple(maps)

    def _iterators(self) -> tuple[str, ...]:
        self.need("[")
        found: list[str] = []
        while not self.take("]"):
            if found:
                self.need(",", "',' or ']'")
            token = self.advance()
            word = token.text.strip('"')
            if token.text == "#linalg.iterator_type":
                self.need("<")
                word = self.kind("word", "parallel or reduction").text
                self.need(">")
            if word not in ("parallel", "reduction"):
                raise refuse(f"no iterator is of type {word!r}"[:80], "parallel or reduction",
                       token.place)  # fmt: skip
            found.append(word)
        return tuple(found)

    # Types.

    def type(self) -> Type:
        token = self.token
        if token.kind == "type":
            self.advance()
            if token.text not in self.types:
                raise refuse(
                    f"the type {token.text} is not known",
                    "types are tensors and numbers, e.g. tensor<4x4xf32>",
                    token.place,
                )
            return self.types[token.text]
        if token.kind == "word":
            return Type(self._element(), place=token.place)
        if token.kind != "tensor":
            raise self.unexpected("a type, e.g. tensor<4x4xf32>")
        self.advance()
        if self.sees("*"):
            raise refuse("a tensor without a rank", "write its dimensions", token.place)
        shape = tuple(
            None if size == "?" else integer(size) for size in re.findall(r"\?|-?\d+", token.text)
        )
        if len(shape) > MAX_RANK:
            raise refuse(
                f"a tensor of {len(shape)} dimensions, the limit is {MAX_RANK}",
                "merge dimensions",
                token.place,
            )
        element = self._element()
        fmt: Format | None = None
        if self.take(","):
            encoding = self.encoding()
            fmt = encoding.format
            if fmt is not None and len(fmt.levels) != len(shape):
                raise refuse(
                    f"the encoding has {len(fmt.levels)} levels, the tensor {len(shape)} "
                    "dimensions",
                    "an encoding has one level per dimension",
                    token.place,
                )
        self.need(">", "',' and an encoding, or '>'")
        return Type(element, shape, fmt, token.place)

    def _element(self) -> str:
        token = self.token
        if token.kind != "word" or token.text not in (*FLOATS, *INTEGERS):
            what = "buffers" if token.text == "memref" else "numbers of this type"
            raise refuse(
                f"{token} is no type of the subset",
                f"{what} are outside of it; elements are {', '.join((*FLOATS, *INTEGERS))}",
                token.place,
            )
        return self.advance().text

    def type_list(self, close: str = ")") -> tuple[Type, ...]:
        """Types separated by commas, up to a closing sign; attributes of each are skipped."""
        found: list[Type] = []
        while not self.take(close):
            if found:
                self.need(",", f"',' or '{close}'")
            found.append(self.type())
            self.skip_dictionary()
        return tuple(found)


def _format(levels: list[LevelFormat], modes: list[int], rank: int, place: Place) -> Format:
    if sorted(modes) != list(range(rank)):
        raise refuse(
            "an encoding's map must permute its dimensions",
            "name each dimension once on the right",
            place,
        )
    return Format(tuple(levels), tuple(modes))


def _old_format(levels: tuple[LevelFormat, ...], order: AffineMap | None, place: Place) -> Format:
    modes = list(range(len(levels)))
    if order is not None:
        modes = [-1 if r is None else order.dims.index(r) for r in order.results]
    return _format(list(levels), modes, len(levels), place)
