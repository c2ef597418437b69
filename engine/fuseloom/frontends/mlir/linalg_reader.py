"""Operations of linalg, as a text has them."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.frontends.mlir.affine_maps import resolve
from fuseloom.frontends.mlir.attributes import Details, Reader
from fuseloom.frontends.mlir.cursor import Cursor, integer, refuse
from fuseloom.frontends.mlir.named import NAMED, SOFTMAX
from fuseloom.frontends.mlir.scalars import read_argument, read_region, read_typed
from fuseloom.frontends.mlir.syntax import (
    Argument,
    Linalg,
    OperationLine,
    RegionBody,
    Scalar,
    Trait,
    Type,
    Typed,
    Use,
)
from fuseloom.frontends.mlir.tokens import Token
from fuseloom.frontends.mlir.windows import WINDOWS
from fuseloom.program.formats import suggestion
from fuseloom.program.syntax import SourcePlace

_SHORT = ("linalg.map", "linalg.reduce")
"""Operations that apply an operation on numbers."""
_ELEMENTWISE = "linalg.elementwise"
"""An operation that says of which kind it is."""
_DEFAULTS = {"linalg.elemwise_unary": "exp", "linalg.elemwise_binary": "add"}
"""Older ones, and what they are where they do not say it."""
LINALG = ("linalg.generic", _ELEMENTWISE, *_DEFAULTS, *_SHORT, *NAMED, *WINDOWS)
_SIGNED = {"max_signed": "max", "min_signed": "min"}


def read_linalg(reader: Reader) -> Linalg:
    """The rest of an operation behind its name; attributes may stand before and after.

    Raises
    ------
    FuseloomError
        The text does not follow the grammar, or the operation applies one that is not known.
    """
    cursor = reader.cursor
    op, place = cursor.last.text, cursor.last.place
    trait, details = Trait(None, None, place), Details()
    short: Token | None = None
    kind: str | None = None
    ins: tuple[Typed, ...] = ()
    outs: tuple[Typed, ...] = ()
    while True:
        if cursor.token.kind == "hash":
            alias = resolve(
                reader.aliases, cursor.advance(), Trait, "trait", "a dictionary with indexing_maps"
            )
            trait = _merged(trait, alias)
        elif cursor.sees("{") and op in _SHORT and not ins:
            short = _short(cursor)
        elif cursor.sees("{") and not (op == "linalg.generic" and outs):
            trait = _merged(trait, reader.trait(details))
        elif cursor.take("ins"):
            cursor.need("(")
            ins = read_typed(reader, ")")
        elif cursor.take("outs"):
            cursor.need("(")
            outs = read_typed(reader, ")")
        elif cursor.take("attrs"):
            cursor.need("=")
            trait = _merged(trait, reader.trait(details))
        elif cursor.take("indexing_maps"):
            cursor.need("=")
            trait = _merged(trait, Trait(reader.maps(), None, trait.place))
        elif cursor.sees("permutation", "dimensions"):
            name = cursor.advance()
            cursor.need("=")
            details.lists[name.text] = read_numbers(cursor)
        elif op == SOFTMAX and cursor.take("dimension"):
            cursor.need("(")
            details.lists["dimension"] = (read_dimension(cursor),)
            cursor.need(")")
        elif op == _ELEMENTWISE and cursor.take("kind"):
            cursor.need("=")
            cursor.kind("hash", "#linalg.elementwise_kind<...>")
            kind = _kind(cursor)
        elif op == _ELEMENTWISE and cursor.sees("<"):
            kind = _kind(cursor)
        else:
            break
    if not outs:
        raise cursor.unexpected("ins(...) or outs(...)")
    if op in _DEFAULTS:
        op = _called(_DEFAULTS[op] if details.function is None else details.function, place)
    if op == _ELEMENTWISE:
        if kind is None:
            raise refuse("no kind of operation", "kind=#linalg.elementwise_kind<add>", place)
        op = kind
    numbers = tuple(details.lists.items())
    region: RegionBody | None = None
    if op == "linalg.generic":
        region = read_region(reader)
    elif op in _SHORT:
        region = _applied(reader, op, short, ins, outs)
    types = reader.result_types() if cursor.take("->") else ()
    return Linalg(op, trait, ins, outs, region, types, numbers, details.unsigned)


def read_numbers(cursor: Cursor) -> tuple[int, ...]:
    """Numbers of dimensions: ``[0, 2]``."""
    cursor.need("[")
    return tuple(read_dimension(cursor) for _ in cursor.listed("]"))


def read_dimension(cursor: Cursor) -> int:
    """The number of a dimension."""
    return integer(cursor.kind("int", "a dimension's number").text)


def _kind(cursor: Cursor) -> str:
    """``<add>``, as the name of the operation it is."""
    place = cursor.place
    return _called(cursor.angled("the name of an operation"), place)


def _called(word: str, place: SourcePlace) -> str:
    """The operation of linalg that does this to each element."""
    op = f"linalg.{_SIGNED.get(word, word)}"
    if op not in NAMED:
        raise refuse(
            f"{word} of each element is outside the subset"[:100], suggestion(op, NAMED), place
        )
    return op


def _short(cursor: Cursor) -> Token:
    """``{ arith.addf }``: the operation that a map or a reduction applies."""
    cursor.need("{")
    name = cursor.kind("word", "an operation on numbers")
    cursor.skip_dictionary()
    cursor.need("}")
    return name


def _applied(
    reader: Reader, op: str, short: Token | None, ins: tuple[Typed, ...], outs: tuple[Typed, ...]
) -> RegionBody:
    """The region of a map or a reduction, with an argument for each input and output."""
    place = reader.cursor.place
    elements = [Type(t.type.element, place=place) for t in (*ins, *outs)]
    if short is None:
        reader.cursor.need("(")
        given = tuple(read_argument(reader) for _ in reader.cursor.listed(")"))
        found = read_region(reader, arguments=given)
    else:
        count = len(ins) if op == "linalg.map" else len(elements)
        arguments = [Argument(f"in{n}", x, place) for n, x in enumerate(elements[:count])]
        uses = tuple(Use(a.name, 0, place) for a in arguments)
        scalar = Scalar(short.text, uses, type=arguments[-1].type if arguments else None)
        line = OperationLine(("applied",), scalar, short.place)
        found = RegionBody(tuple(arguments), (line,), (Use("applied", 0, place),), place)
    missing = elements[len(found.arguments) :]
    more = [Argument(f"out{n}.", x, place) for n, x in enumerate(missing)]
    return replace(found, arguments=(*found.arguments, *more))


def _merged(first: Trait, second: Trait) -> Trait:
    return Trait(
        first.maps if second.maps is None else second.maps,
        first.iterators if second.iterators is None else second.iterators,
        second.place if second.maps is not None else first.place,
    )
