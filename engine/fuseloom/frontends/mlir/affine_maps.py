"""Affine maps, and the aliases that stand for attributes."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir.cursor import Cursor, integer, refuse
from fuseloom.frontends.mlir.syntax import AffineMap, Result, SparseEncoding, Sum, Trait
from fuseloom.frontends.mlir.tokens import Token
from fuseloom.program.formats import suggestion
from fuseloom.program.limits import MAX_NESTING
from fuseloom.wording import counted

Alias: TypeAlias = AffineMap | tuple[AffineMap, ...] | SparseEncoding | Trait | FuseloomError | None
"""The meaning of a ``#name``.

It is None for an attribute the subset has no use for, an error for one that cannot be read, which
counts where the alias is used.
"""
Aliases: TypeAlias = dict[str, Alias]
_Kind = TypeVar("_Kind")

DIVISIONS = ("floordiv", "ceildiv", "mod")


def resolve(aliases: Aliases, name: Token, kind: type[_Kind], what: str, hint: str) -> _Kind:
    """The meaning of a ``#name``, which is of one kind; ``what`` and ``hint`` are for errors.

    Raises
    ------
    FuseloomError
        The alias is not defined, cannot be read, or is of another kind.
    """
    if name.text not in aliases:
        known = [alias for alias, value in aliases.items() if value is not None]
        defined = suggestion(name.text, known) if known else "define it at the top of the file"
        raise refuse(f"{name.text} is not defined", defined, name.place)
    found = aliases[name.text]
    if isinstance(found, FuseloomError):
        raise found
    if not isinstance(found, kind):
        raise refuse(f"{name.text} is no {what}", hint, name.place)
    return found


def read_map(cursor: Cursor, aliases: Aliases) -> AffineMap:
    """An affine map whose results are sums of dimensions, or an alias of one.

    Raises
    ------
    ParseError
        The text is no such map.
    """
    if cursor.token.kind == "hash":
        return resolve(aliases, cursor.advance(), AffineMap, "affine map", "write affine_map<...>")
    start = cursor.need("affine_map", "affine_map<...> or its alias")
    cursor.need("<")
    dims = read_dims(cursor)
    if cursor.sees("["):
        raise refuse("a map with symbols", "only dimensions can be results", cursor.place)
    cursor.need("->")
    cursor.need("(")
    results = tuple(_result(_sum(cursor, dims)) for _ in cursor.listed(")"))
    cursor.need(">")
    return AffineMap(dims, results, start.place)


def read_dims(cursor: Cursor) -> tuple[str, ...]:
    """The dimensions of a map: ``(d0, d1)``."""
    cursor.need("(")
    return distinct(cursor.words(")", "the name of a dimension"))


def distinct(names: tuple[Token, ...]) -> tuple[str, ...]:
    """Names of dimensions; two that are the same, and too many, are refused."""
    dims = tuple(name.text for name in names)
    if len(dims) > MAX_NESTING:
        raise refuse(
            f"a map of {counted(len(dims), 'dimension')}, the limit is {MAX_NESTING}",
            "split the operation",
            names[0].place,
        )
    for n, name in enumerate(names):
        if name.text in dims[:n]:
            raise refuse(f"dimension {name.text} is named twice", "name it once", name.place)
    return dims


def _sum(cursor: Cursor, dims: tuple[str, ...], depth: int = 0) -> Sum:
    """A result: ``2 * d0 + d1 - 1``."""
    if depth > MAX_NESTING:
        raise refuse("brackets are nested too deep", "write the sum without them", cursor.place)
    found = _product(cursor, dims, depth)
    while True:
        if cursor.take("+"):
            found = _plus(found, _product(cursor, dims, depth), 1)
        elif cursor.take("-"):
            found = _plus(found, _product(cursor, dims, depth), -1)
        elif cursor.token.kind == "int" and cursor.token.text.startswith("-"):
            found = _plus(found, _product(cursor, dims, depth), 1)  # i -1
        else:
            return found


def _product(cursor: Cursor, dims: tuple[str, ...], depth: int) -> Sum:
    found = _factor(cursor, dims, depth)
    while True:
        place = cursor.place
        if cursor.sees(*DIVISIONS):
            raise refuse(
                f"a result of a map with {cursor.token.text}",
                "results are sums of dimensions, e.g. 2 * d0 + d1 - 1; expand_shape splits "
                "a dimension",
                place,
            )
        if not cursor.take("*"):
            return found
        other = _factor(cursor, dims, depth)
        if found.terms and other.terms:
            raise refuse("a product of dimensions", "one factor is a number", place)
        number, sum_ = (found, other) if not found.terms else (other, found)
        found = _times(sum_, number.offset)


def _factor(cursor: Cursor, dims: tuple[str, ...], depth: int) -> Sum:
    if cursor.take("("):
        found = _sum(cursor, dims, depth + 1)
        cursor.need(")")
        return found
    if cursor.take("-"):
        if depth > MAX_NESTING:
            raise refuse("too many signs", "write one", cursor.place)
        return _times(_factor(cursor, dims, depth + 1), -1)
    token = cursor.token
    if token.kind == "int":
        cursor.advance()
        return Sum((), integer(token.text))
    if token.kind != "word":
        raise cursor.unexpected("a dimension or a number")
    cursor.advance()
    if token.text not in dims:
        known = ", ".join(dims) or "none"
        raise refuse(f"the map has no dimension {token.text}", f"it has: {known}", token.place)
    return Sum(((1, token.text),))


def _result(found: Sum) -> Result:
    if not found.terms and found.offset == 0:
        return None
    if len(found.terms) == 1 and found.terms[0][0] == 1 and found.offset == 0:
        return found.terms[0][1]
    return found


def _plus(a: Sum, b: Sum, sign: int) -> Sum:
    found = {x: c for c, x in a.terms}
    for c, x in b.terms:
        found[x] = found.get(x, 0) + sign * c
    return Sum(tuple((c, x) for x, c in found.items() if c), a.offset + sign * b.offset)


def _times(a: Sum, factor: int) -> Sum:
    return Sum(tuple((c * factor, x) for c, x in a.terms if factor), a.offset * factor)
