"""Types of values as HLO writes them, with the order of their dimensions in memory."""

from __future__ import annotations

import re

from fuseloom.errors import ProgramError
from fuseloom.stitch.hlo.scanner import INTEGER, HloScanner
from fuseloom.stitch.shapes import TensorShape, TupleShape, ValueShape

MOST_NESTING = 32
"""Tuples within each other."""
_ELEMENT = re.compile(r"[a-z][a-z0-9]*")
_LAYOUT = re.compile(r"\{((?:[0-9]{1,3}(?:,[0-9]{1,3})*)?)(?::[^{}\n]*)?\}")
_EXTENT = re.compile(r"[0-9]+|<=|\?")
_WITHOUT_ARRAYS = {"token": "side effects", "opaque": "foreign calls"}
Layout = tuple[int, ...]
"""Dimensions, the fastest first."""


def read_shape(scanner: HloScanner, depth: int = 0) -> tuple[ValueShape, Layout | None]:
    """Read the type of a value, and the layout of an array if it has one that is not row-major.

    Parameters
    ----------
    scanner : HloScanner
    depth : int
        Tuples that it is within.

    Raises
    ------
    ParseError
        If there is no such type, or its extents are not known before a run.

    Examples
    --------
    >>> shape, layout = read_shape(HloScanner("(f32[8,32]{1,0}, s32[])"))
    >>> str(shape), layout
    ('(f32[8,32], s32[])', None)
    >>> read_shape(HloScanner("f32[8,32]{0,1}"))[1]
    (0, 1)
    """
    if not scanner.sees("("):
        return _array(scanner)
    if depth == MOST_NESTING:
        scanner.fail(f"more than {MOST_NESTING} tuples are within each other")
    scanner.demand("(")
    parts: list[ValueShape] = []
    while not scanner.sees(")"):
        parts.append(read_shape(scanner, depth + 1)[0])
        if not scanner.sign(","):
            break
    scanner.demand(")")
    return TupleShape(tuple(parts)), None


def _array(scanner: HloScanner) -> tuple[TensorShape, Layout | None]:
    start = scanner.at
    element = scanner.take(_ELEMENT, "a type of elements")[0]
    if element in _WITHOUT_ARRAYS:
        scanner.fail(
            f"{element} is the type of {_WITHOUT_ARRAYS[element]}, which are not read",
            "export the function without them",
            at=start,
        )
    scanner.demand("[")
    dims: list[int] = []
    while not scanner.sees("]"):
        match = _EXTENT.match(scanner.text, scanner.at)
        if match is not None and match[0] in ("<=", "?"):
            scanner.fail(
                "an extent is not known before a run",
                "export the function for arrays of one shape",
            )
        dims.append(scanner.integer())
        if not scanner.sign(","):
            break
    scanner.demand("]")
    try:
        shape = TensorShape(element, tuple(dims))
    except ProgramError as error:
        scanner.fail(error.message, error.hint, at=start)
    return shape, _layout(scanner, shape.rank)


def _layout(scanner: HloScanner, rank: int) -> Layout | None:
    start = scanner.at
    match = _LAYOUT.match(scanner.text, start)
    if match is None:
        return None
    scanner.take(_LAYOUT, "a layout")
    order = tuple(int(one[0]) for one in INTEGER.finditer(match[1]))
    if sorted(order) != list(range(rank)) and (order or ":" not in match[0]):
        scanner.fail(
            f"{match[0]} orders other dimensions than there are",
            f"there are {rank}, of which the first is 0",
            at=start,
        )
    return None if not order or order == row_major(rank) else order


def row_major(rank: int) -> Layout:
    """The layout in which the last dimension is the fastest.

    Examples
    --------
    >>> row_major(3)
    (2, 1, 0)
    """
    return tuple(range(rank - 1, -1, -1))
