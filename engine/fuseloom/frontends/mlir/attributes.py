"""Attributes and types: traits, lists of numbers, aliases."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fuseloom.errors import FuseloomError, ParseError
from fuseloom.frontends.mlir.affine_maps import Alias, Aliases, read_map, resolve
from fuseloom.frontends.mlir.cursor import Cursor, integer, refuse
from fuseloom.frontends.mlir.encodings import read_encoding
from fuseloom.frontends.mlir.literals import NUMBERS
from fuseloom.frontends.mlir.syntax import FLOATS, INTEGERS, AffineMap, Trait, Type, is_integer
from fuseloom.program.limits import MAX_RANK
from fuseloom.wording import counted

_BUFFERS = "buffers are outside the subset: give the file as it is before bufferization"
_LISTS = ("strides", "dilations", "dimensions", "permutation")
"""Attributes that are lists of numbers."""
_FUNCTION = "fun"
"""The attribute that says which operation ``linalg.elemwise_unary`` or ``_binary`` is."""
_CAST = "cast"
"""The attribute that says whether a named operation casts integers without a sign."""
_NO_NUMBERS = ("complex", "vector", "none", "tuple")
_NEW = object()


@dataclass
class Details:
    """Attributes in the dictionaries of an operation beside its maps and iterators.

    ``lists`` are lists of numbers, ``function`` is the operation that they name, and ``unsigned``
    says whether they cast integers without a sign.
    """

    lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    function: str | None = None
    unsigned: bool = False


class Reader:
    """Attributes and types at a cursor.

    Attributes
    ----------
    aliases, types : dict
        Meanings of ``#name`` and of ``!name``; an error for one that cannot be read.
    """

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.aliases: Aliases = {}
        self.types: dict[str, Type | FuseloomError] = {}

    # Aliases.

    def alias(self) -> None:
        """Define an alias: ``#name = attribute`` or ``!name = type``, if it is a new one."""
        cursor = self.cursor
        name = cursor.advance()
        cursor.need("=")
        known: dict[str, Any] = self.types if name.kind == "type" else self.aliases
        before = known.pop(name.text, _NEW)
        start = cursor.at
        try:
            known[name.text] = self.type() if name.kind == "type" else self._value()
        except ParseError as problem:  # an error only where the alias is used
            known[name.text] = problem
            cursor.at = start
            cursor.skip_item()
        if before is not _NEW and known[name.text] != before:
            raise refuse(f"{name.text} is defined twice", "remove one of them", name.place)

    def _value(self) -> Alias:
        cursor = self.cursor
        if cursor.sees("affine_map"):
            return read_map(cursor, self.aliases)
        if cursor.token.text == "#sparse_tensor.encoding":
            return read_encoding(cursor, self.aliases)
        if cursor.sees("{"):
            return self.trait(Details())
        if cursor.sees("["):
            start = cursor.at
            try:
                return self.maps()
            except ParseError:  # a list of something else
                cursor.at = start
            cursor.skip_group()
            return None
        self._foreign()
        return None

    def _foreign(self) -> None:
        """Skip an attribute of another kind, e.g. a location."""
        cursor = self.cursor
        if cursor.token.kind not in ("hash", "word", "string", "type", *NUMBERS):
            raise cursor.unexpected("affine_map<...>, #sparse_tensor.encoding<...> or a dictionary")
        cursor.advance()
        while cursor.sees("(", "<", "["):
            cursor.skip_group()
        if cursor.take(":"):
            self.type()

    # Traits.

    def trait(self, details: Details) -> Trait:
        """A dictionary with ``indexing_maps`` and ``iterator_types``, in any order.

        Other attributes of operations are added to the details.
        """
        cursor = self.cursor
        place = cursor.place
        maps: tuple[AffineMap, ...] | None = None
        iterators: tuple[str, ...] | None = None
        for key in cursor.entries():
            if key.text == "indexing_maps":
                maps = self.maps()
            elif key.text == "iterator_types":
                iterators = self._iterators()
            elif key.text in _LISTS:
                details.lists[key.text] = self._list()
            elif key.text == _FUNCTION and cursor.token.kind == "hash":
                cursor.advance()
                details.function = cursor.angled("the name of an operation")
            else:
                if key.text == _CAST and cursor.token.kind == "hash":
                    details.unsigned = cursor.ahead(2).text == "cast_unsigned"
                cursor.skip_value()
        return Trait(maps, iterators, place)

    def _list(self) -> tuple[int, ...]:
        """Numbers: ``dense<[1, 2]> : vector<2xi64>``, ``dense<1> : ...``, or ``[1, 2]``."""
        cursor = self.cursor
        found: list[int] = []
        depth = 0
        while depth or not cursor.sees(",", "}", ":"):
            if cursor.token.kind == "end":
                raise cursor.unexpected("a list of numbers")
            token = cursor.advance()
            if token.text in ("[", "<"):
                depth += 1
            elif token.text in ("]", ">"):
                depth -= 1
            elif token.kind == "int":
                found.append(integer(token.text))
        cursor.skip_value()  # its type
        return tuple(found)

    def maps(self) -> tuple[AffineMap, ...]:
        """A list of maps, or an alias of one."""
        cursor = self.cursor
        if cursor.token.kind == "hash":
            return resolve(
                self.aliases, cursor.advance(), tuple, "list of maps", "[affine_map<...>, ...]"
            )
        cursor.need("[")
        return tuple(read_map(cursor, self.aliases) for _ in cursor.listed("]"))

    def _iterators(self) -> tuple[str, ...]:
        cursor = self.cursor
        cursor.need("[")
        found: list[str] = []
        for _ in cursor.listed("]"):
            token = cursor.advance()
            word = token.text.strip('"')
            if token.text == "#linalg.iterator_type":
                word = cursor.angled("parallel or reduction")
            if word not in ("parallel", "reduction"):
                raise refuse(f"no iterator is of type {word!r}"[:80], "parallel or reduction",
                       token.place)  # fmt: skip
            found.append(word)
        return tuple(found)

    # Types.

    def type(self) -> Type:
        """A type; those that no program has are read, too, and say so.

        Raises
        ------
        FuseloomError
            The text is no type, or an alias of one that cannot be read.
        """
        cursor = self.cursor
        token = cursor.token
        if token.kind == "type":
            cursor.advance()
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
            if cursor.sees("<"):
                cursor.skip_group()
            return Type(token.text, place=token.place, foreign=f"it is an {token.text}")
        if token.kind == "word":
            return self._element()
        if token.kind != "tensor":
            raise cursor.unexpected("a type, e.g. tensor<4x4xf32>")
        cursor.advance()
        if cursor.sees("*"):
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
        element = self.type() if cursor.token.kind == "type" else self._element()
        fmt = note = blocks = None
        if cursor.take(","):
            encoding = read_encoding(cursor, self.aliases)
            fmt, note, blocks = encoding.format, encoding.note, encoding.blocks
            if fmt is not None and len(fmt.levels) != len(shape):
                raise refuse(
                    f"the encoding has {counted(len(fmt.levels), 'level')}, the tensor "
                    f"{len(shape)} "
                    "dimensions",
                    "an encoding has one level per dimension",
                    token.place,
                )
        cursor.need(">", "',' and an encoding, or '>'")
        return Type(element.element, shape, fmt, token.place, note, element.foreign, blocks)

    def _close(self) -> None:
        """Skip the rest of a tensor's type."""
        cursor = self.cursor
        while not cursor.take(">"):
            if cursor.token.kind == "end":
                raise cursor.unexpected("'>'")
            if cursor.sees("<", "(", "[", "{"):
                cursor.skip_group()
            else:
                cursor.advance()

    def _element(self) -> Type:
        cursor = self.cursor
        token = cursor.token
        if token.kind == "word" and (token.text in FLOATS or is_integer(token.text)):
            cursor.advance()
            return Type(token.text, place=token.place)
        if token.kind == "word" and token.text in ("memref", *_NO_NUMBERS):
            cursor.advance()
            if cursor.sees("<"):
                cursor.skip_group()
            if token.text == "memref":
                return Type("memref", place=token.place, foreign=f"it is a memref; {_BUFFERS}")
            why = f"elements of type {token.text} are outside the subset"
            return Type(token.text, place=token.place, foreign=why)
        raise refuse(
            f"{token} is no type of the subset",
            f"elements are {', '.join((*FLOATS, *INTEGERS))}",
            token.place,
        )

    def type_list(self) -> tuple[Type, ...]:
        """Types up to a closing bracket; attributes of each are skipped."""
        found: list[Type] = []
        for _ in self.cursor.listed(")"):
            found.append(self.type())
            self.cursor.skip_dictionary()
        return tuple(found)

    def result_types(self) -> tuple[Type, ...]:
        """One type, or several in brackets."""
        return self.type_list() if self.cursor.take("(") else (self.type(),)
