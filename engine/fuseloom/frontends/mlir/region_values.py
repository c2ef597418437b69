"""Values in the region of a ``linalg.generic``."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.frontends.algebra.evaluation import Places
from fuseloom.frontends.algebra.expressions import Arg, Node, Num
from fuseloom.frontends.mlir.integers import bits_of, range_of
from fuseloom.frontends.mlir.syntax import AffineMap, Sum
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    DeferredConstant,
    Value,
    View,
    inexact,
)
from fuseloom.program.float32 import INTEGER_BITS
from fuseloom.program.syntax import SourcePlace


@dataclass(frozen=True)
class Bad:
    """A value outside the subset; refused only if it is yielded."""

    message: str
    hint: str
    place: SourcePlace
    value: float | None = None


@dataclass(frozen=True)
class Captured:
    """A tensor of the function around a region, and where the region reads it.

    A place is a sum of indices, or a tree of what other operands hold.
    """

    value: View | ConstantTensor
    places: tuple[Places | Node, ...]


def dimensions_of(map_: AffineMap) -> tuple[int, ...]:
    """Numbers of the dimensions that a map reads."""
    names: list[str] = []
    for result in map_.results:
        if isinstance(result, Sum):
            names += [x for _, x in result.terms]
        elif result is not None:
            names.append(result)
    return tuple(dict.fromkeys(map_.dims.index(x) for x in names))


def leaf(k: int, value: Value, is_output: bool, reduces: bool) -> Node:
    """Return the node of a region's argument: an operand, or a number that all of it has."""
    match value:
        case ConstantNumber(value=x):
            return Num(x)
        case ConstantTensor(rank=0) if value.splat is not None and not (is_output and reduces):
            return Num(value.splat)
        case Blank(fill=float() as x) if not (is_output and reduces) and (
            is_output or value.rank == 0
        ):
            return Num(x)
    return Arg(k)


def range_of_value(value: Value, element: str) -> tuple[float, float] | None:
    """The least and the largest integer of an operand, where its type or its data say it."""
    bits = bits_of(element)
    if bits is None:
        return None
    if isinstance(value, ConstantTensor) and not isinstance(value.literal, DeferredConstant):
        if value.splat is not None:
            return value.splat, value.splat
        values = value.array()
        if values is not None and values.size:
            return float(values.min()), float(values.max())
    return range_of(element) if bits <= INTEGER_BITS else None


class BadValueError(Exception):
    """A region in a region yields a value outside the subset."""

    def __init__(self, bad: Bad) -> None:
        self.bad = bad
        super().__init__(bad.message)


def number_of(value: float, element: str, place: SourcePlace) -> Node | Bad:
    if inexact(value, element):
        return Bad(
            f"the number {value:.0f} is not a number of float32",
            "integers are exact up to 2^24; scale the data, or use a smaller number",
            place,
            value,
        )
    return Num(value)
