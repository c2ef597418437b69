"""Reading types and traits."""

from __future__ import annotations

import re

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir.affine_maps import Alias
from fuseloom.frontends.mlir.cursor import integer, refuse
from fuseloom.frontends.mlir.encodings import EncodingReader
from fuseloom.frontends.mlir.literals import NUMBERS
from fuseloom.frontends.mlir.syntax import (
    FLOATS,
    INTEGERS,
    AffineMap,
    Trait,
    Type,
    is_integer,
)
from fuseloom.program.limits import MAX_RANK
from fuseloom.wording import counted

BUFFERS = "buffers are outside the subset: give the file as it is before bufferization"
LISTS = ("strides", "dilations", "dimensions", "permutation")
"""Attributes that are lists of numbers."""
FUNCTION = "fun"
"""The attribute that says which operation ``linalg.elemwise_unary`` or ``_binary`` is."""
CAST = "cast"
"""The attribute that says whether a named operation casts integers without a sign."""
_NO_NUMBERS = ("complex", "vector", "none", "tuple")


_NEW = object()


class Reader(EncodingReader):
    """Reads attributes and types.

    ``lists`` are the lists of numbers in the dictionaries read last, ``function`` the operation
    that these name, ``unsigned`` whether they cast integers without a sign.
    """

    def __init__(self, text: str, line: int = 1) -> None:
        super().__init__(text, line)
        self.lists: dict[str, tuple[int, ...]] = {}
        self.function: str | None = None
        self.unsigned = False

    # Aliases.

    def alias(self) -> None:
        """``#name = attribute`` or ``!name = type``."""
        name = self.advance()
        self.need("=")
        known = self.types if name.kind == "type" else self.aliases
        before = known.pop(name.text, None) if name.text in known else _NEW
        start = self.at
        try:
            if name.kind == "type":
                self.types[name.text] = self.type()
            else:
                self.aliases[name.text] = self._value()
        except ParseError as problem:  # an error only where the alias is used
            if name.kind == "type":
                self.types[name.text] = problem
            else:
                self.aliases[name.text] = problem
            self.at = start
            self.skip_item()
        if before is not _NEW and known[name.text] != before:
            raise refuse(f"{name.text} is defined twice", "remove one of them", name.place)

    def _value(self) -> Alias:
        if self.sees("affine_map"):
            return self.map()
        if self.token.text == "#sparse_tensor.encoding":
            return self.encoding()
        if self.sees("{"):
            return self.trait()
        if self.sees("["):
            start = self.at
            try:
                return self.maps()
            except ParseError:  # a list of something else
                self.at = start
            self.skip_group()
            return None
        self._foreign()
        return None

    def _foreign(self) -> None:
        """Skip an attribute of another kind, e.g. a location."""
        if self.token.kind not in ("hash", "word", "string", "type", *NUMBERS):
            raise self.unexpected("affine_map<...>, #sparse_tensor.encoding<...> or a dictionary")
        self.advance()
        while self.sees("(", "<", "["):
            self.skip_group()
        if self.take(":"):
            self.type()

    # Traits.

    def trait(self) -> Trait:
        """A dictionary with ``indexing_maps`` and ``iterator_types``, in any order."""
        start = self.need("{")
        maps: tuple[AffineMap, ...] | None = None
        iterators: tuple[str, ...] | None = None
        for _ in self.listed("}"):
            if self.token.kind not in ("word", "string"):
                raise self.unexpected("the name of an attribute")
            key = self.advance().text
            if not self.take("="):
                continue  # a unit attribute
            if key == "indexing_maps":
                maps = self.maps()
            elif key == "iterator_types":
                iterators = self._iterators()
            elif key in LISTS:
                self.lists[key] = self._list()
            elif key == FUNCTION and self.token.kind == "hash":
                self.advance()
                self.need("<")
                self.function = self.kind("word", "the name of an operation").text
                self.need(">")
            elif key == CAST and self.token.kind == "hash":
                self.unsigned = self.tokens[self.at + 2].text == "cast_unsigned"
                self.skip_value()
            else:
                self.skip_value()
        return Trait(maps, iterators, start.place)

    def _list(self) -> tuple[int, ...]:
        """``dense<[1, 2]> : vector<2xi64>``, ``dense<1> : ...``, or ``[1, 2]``."""
        found: list[int] = []
        depth = 0
        while depth or not self.sees(",", "}", ":"):
            if self.token.kind == "end":
                raise self.unexpected("a list of numbers")
            token = self.advance()
            if token.text in ("[", "<"):
                depth += 1
            elif token.text in ("]", ">"):
                depth -= 1
            elif token.kind == "int":
                found.append(integer(token.text))
        self.skip_value()  # its type
        return tuple(found)

    def maps(self) -> tuple[AffineMap, ...]:
        """A list of maps, or an alias of one."""
        if self.token.kind == "hash":
            name = self.advance()
            found = self.resolve(name)
            if not isinstance(found, tuple):
                raise refuse(f"{name.text} is no list of maps", "[affine_map<...>, ...]",
                       name.place)  # fmt: skip
            return found
        self.need("[")
        return tuple(self.map() for _ in self.listed("]"))

    def _iterators(self) -> tuple[str, ...]:
        self.need("[")
        found: list[str] = []
        for _ in self.listed("]"):
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
        """A type; those that no program has are read, too, and say so."""
        token = self.token
        if token.kind == "type":
            self.advance()
            found = self.types.get(token.text)
            if isinstance(found, Type):
                return found
            if found is not None:
                raise found
            if "." not in token.text:
                raise refuse(
                    f"the type {token.text} is not known",
                    "types are tensors and numbers, e.g. tensor<4x4xf32>",
                    token.place,
                )
            if self.sees("<"):
                self.skip_group()
            return Type(token.text, place=token.place, foreign=f"it is an {token.text}")
        if token.kind == "word":
            return self._element()
        if token.kind != "tensor":
            raise self.unexpected("a type, e.g. tensor<4x4xf32>")
        self.advance()
        if self.sees("*"):
            self._close()
            return Type("f32", (), place=token.place, foreign="it is a tensor without a rank")
        shape = tuple(
            None if size == "?" else integer(size) for size in re.findall(r"\?|-?\d+", token.text)
        )
        if len(shape) > MAX_RANK:
            raise refuse(
                f"a tensor of {counted(len(shape), 'dimension')}, the limit is {MAX_RANK}",
                "merge dimensions",
                token.place,
            )
        element = self.type() if self.token.kind == "type" else self._element()
        fmt = note = blocks = None
        if self.take(","):
            encoding = self.encoding()
            fmt, note, blocks = encoding.format, encoding.note, encoding.blocks
            if fmt is not None and len(fmt.levels) != len(shape):
                raise refuse(
                    f"the encoding has {counted(len(fmt.levels), 'level')}, the tensor "
                    f"{len(shape)} "
                    "dimensions",
                    "an encoding has one level per dimension",
                    token.place,
                )
        self.need(">", "',' and an encoding, or '>'")
        return Type(element.element, shape, fmt, token.place, note, element.foreign, blocks)

    def _close(self) -> None:
        """Skip the rest of a tensor's type."""
        while not self.take(">"):
            if self.token.kind == "end":
                raise self.unexpected("'>'")
            if self.sees("<", "(", "[", "{"):
                self.skip_group()
            else:
                self.advance()

    def _element(self) -> Type:
        token = self.token
        if token.kind == "word" and (token.text in FLOATS or is_integer(token.text)):
            self.advance()
            return Type(token.text, place=token.place)
        if token.kind == "word" and token.text in ("memref", *_NO_NUMBERS):
            self.advance()
            if self.sees("<"):
                self.skip_group()
            if token.text == "memref":
                return Type("memref", place=token.place, foreign=f"it is a memref; {BUFFERS}")
            why = f"elements of type {token.text} are outside the subset"
            return Type(token.text, place=token.place, foreign=why)
        raise refuse(
            f"{token} is no type of the subset",
            f"elements are {', '.join((*FLOATS, *INTEGERS))}",
            token.place,
        )

    def type_list(self, close: str = ")") -> tuple[Type, ...]:
        """Types separated by commas, up to a closing sign; attributes of each are skipped."""
        found: list[Type] = []
        for _ in self.listed(close):
            found.append(self.type())
            self.skip_dictionary()
        return tuple(found)
