"""Literals: the values of constants."""

from __future__ import annotations

from fuseloom.frontends.mlir.cursor import Cursor, refuse
from fuseloom.frontends.mlir.syntax import Dense, Literal, Number, Resource, Sparse
from fuseloom.program.limits import MAX_NESTING, MAX_RANK

NUMBERS = ("int", "float", "hex")


def read_literal(cursor: Cursor) -> Literal:
    """A number, ``dense<...>``, ``sparse<...>`` or ``dense_resource<...>``.

    Raises
    ------
    ParseError
        Something else stands there, or the lists of numbers are no rows of a tensor.
    """
    place = cursor.place
    number = _number(cursor)
    if number is not None:
        return number
    if cursor.take("dense"):
        cursor.need("<")
        if cursor.take(">"):
            return Dense((), (0,), None, place)
        value = _values(cursor)
        cursor.need(">")
        return value
    if cursor.take("sparse"):
        cursor.need("<")
        coordinates = _values(cursor)
        cursor.need(",")
        values = _values(cursor)
        cursor.need(">")
        return Sparse(coordinates, values, place)
    if cursor.take("dense_resource"):
        cursor.need("<")
        name = cursor.advance()
        if name.kind not in ("word", "string"):
            raise refuse(f"{name} is no name of a resource", "dense_resource<name>", name.place)
        cursor.need(">")
        return Resource(name.text.strip('"'), place)
    raise cursor.unexpected("a number, dense<...> or dense_resource<...>")


def _number(cursor: Cursor) -> Number | None:
    token = cursor.token
    if token.kind not in NUMBERS and not cursor.sees("true", "false"):
        return None
    cursor.advance()
    return Number(token.text, token.place)


def _values(cursor: Cursor) -> Dense:
    start = cursor.token
    if start.kind == "string":
        cursor.advance()
        return Dense((), None, start.text[1:-1], start.place)
    numbers: list[Number] = []
    shape = _nested(cursor, numbers, 0)
    return Dense(tuple(numbers), shape or None, None, start.place)


def _nested(cursor: Cursor, numbers: list[Number], depth: int) -> tuple[int, ...]:
    """The shape of a number, or of a list of equally long lists, whose numbers are collected."""
    place = cursor.place
    if not cursor.take("["):
        number = _number(cursor)
        if number is None:
            raise cursor.unexpected("a number or a list of numbers")
        numbers.append(number)
        return ()
    if depth == min(MAX_NESTING, MAX_RANK):
        raise refuse(f"lists are nested more than {depth} deep", "one list per dimension", place)
    count, inner = 0, None
    for _ in cursor.listed("]"):
        place = cursor.place
        found = _nested(cursor, numbers, depth + 1)
        if inner is not None and found != inner:
            raise refuse("the lists of a constant differ in length", "rows are equally long", place)
        inner = found
        count += 1
    return (count, *(inner or ()))
