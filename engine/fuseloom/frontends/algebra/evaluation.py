"""Evaluation of trees: at each place, of given elements, and what follows without data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.frontends.algebra.conditions import BOOLEAN, DIFFERS, GREATER, INFINITE, NOT, SELECT
from fuseloom.frontends.algebra.expressions import (
    FULL,
    NONZERO,
    UNSIGNED,
    WRAP,
    Apply,
    Arg,
    Index,
    Node,
    Num,
    Raw,
    Unsupported,
    arguments,
)
from fuseloom.program.functions import FUNCTIONS, Op

Array = npt.NDArray[np.float64]


def _quotient(a: Array, b: Array) -> Array:
    found: Array = np.trunc(a / b)
    return found


def _chosen(condition: Array, yes: Array, no: Array) -> Array:
    found: Array = np.where(condition != 0, yes, no)
    return found


_APPLIED: Mapping[Op, Callable[..., Array]] = {
    Op.MUL: lambda *x: np.prod(np.broadcast_arrays(*x), axis=0),
    Op.ADD: np.add, Op.SUB: np.subtract, Op.DIV: np.divide,
    Op.MAXIMUM: np.maximum, **{op: row.exact for op, row in FUNCTIONS.items()},
}  # fmt: skip
_WITH_CONSTANT: Mapping[Op, Callable[[Array, float], Array]] = {
    Op.SCALE: lambda x, c: x * c, Op.SHIFT: lambda x, c: x + c, Op.AT_LEAST: np.maximum,
}  # fmt: skip
_RAW: Mapping[str, Callable[..., Array]] = {
    "max": np.maximum, "min": np.minimum,
    GREATER: lambda a, b: np.where(a > b, 1.0, 0.0),
    DIFFERS: lambda a, b: np.where(a != b, 1.0, 0.0),
    NOT: lambda c: 1.0 - c, SELECT: _chosen, INFINITE: lambda a, b: np.where(a == b, 1.0, 0.0),
    "and": np.multiply, "or": np.maximum, "xor": lambda a, b: np.abs(a - b),
    "divide": _quotient, "floordiv": lambda a, b: np.floor(a / b),
    "ceildiv": lambda a, b: np.ceil(a / b), "remainder": lambda a, b: a - b * _quotient(a, b),
    FULL: lambda value, *axes: np.broadcast_to(
        value, np.broadcast_shapes(*(x.shape for x in axes))
    ),
    "cast": lambda x: x,
    NONZERO: lambda x: x,
    UNSIGNED: lambda x, size: np.where(x < 0, x + size, x),
    WRAP: lambda x, low, size: x - size * np.floor((x - low) / size),
}  # fmt: skip


def evaluate(
    node: Node,
    indices: Mapping[int, Array],
    elements: Mapping[int, Array] = MappingProxyType({}),
) -> Array:
    """Evaluate a tree at each place.

    Parameters
    ----------
    indices : mapping
        Coordinates along each dimension by its number, in arrays that broadcast.
    elements : mapping, optional
        Elements of operands by their numbers, likewise.

    Raises
    ------
    Unsupported
        A tree that has more in it than these and numbers.

    Examples
    --------
    >>> evaluate(Apply(Op.SCALE, (Index(0),), 2.0), {0: np.arange(3.0)})
    array([0., 2., 4.])
    """
    match node:
        case Num(value=value):
            return np.asarray(value)
        case Index(number=number):
            return indices[number]
        case Arg(number=number) if number in elements:
            return elements[number]
        case Apply(op=op, operands=operands, constant=constant):
            values = [evaluate(x, indices, elements) for x in operands]
            if constant is not None and op in _WITH_CONSTANT:
                return _WITH_CONSTANT[op](values[0], constant)
            if op in _APPLIED:
                return _APPLIED[op](*values)
            raise Unsupported(f"{op.value} of an index", "compute it of a tensor")
        case Raw(operands=operands) if node.name in _RAW:
            return _RAW[node.name](*(evaluate(x, indices, elements) for x in operands))
    name = node.name if isinstance(node, Raw) else "an operand"
    raise Unsupported(f"{name} of an index", "compute it of a tensor")


Places: TypeAlias = tuple[tuple[tuple[int, int], ...], int]
"""Coefficients and numbers of dimensions, and what is added to their sum."""


def as_places(node: Node) -> Places | None:
    """A tree as a sum of indices with whole coefficients; None if it is none.

    >>> as_places(Apply(Op.SHIFT, (Apply(Op.SCALE, (Index(1),), 2.0),), -1.0))
    (((2, 1),), -1)
    """
    match node:
        case Num(value=value) if value == int(value):
            return (), int(value)
        case Index(number=number):
            return ((1, number),), 0
        case Apply(op=Op.SCALE | Op.SHIFT as op, operands=(inner,), constant=float() as constant):
            found = as_places(inner)
            if found is None or constant != int(constant):
                return None
            if op is Op.SHIFT:
                return found[0], found[1] + int(constant)
            factor = int(constant)
            return tuple((c * factor, d) for c, d in found[0] if factor), found[1] * factor
        case Apply(op=Op.ADD | Op.SUB as op, operands=(a, b)):
            first, second = as_places(a), as_places(b)
            if first is None or second is None:
                return None
            sign = 1 if op is Op.ADD else -1
            terms = {d: c for c, d in first[0]}
            for c, d in second[0]:
                terms[d] = terms.get(d, 0) + sign * c
            return tuple((c, d) for d, c in terms.items() if c), first[1] + sign * second[1]
    return None


def is_mask(node: Node) -> bool:
    """Return whether a known tree is 0 at many places: a condition, or a product with one."""
    match node:
        case Raw():
            return node.name in (GREATER, DIFFERS, NOT, SELECT, INFINITE, *BOOLEAN)
        case Apply(op=Op.MUL, operands=operands):
            return any(is_mask(x) for x in operands)
        case Apply(op=Op.SCALE, operands=(inner,)):
            return is_mask(inner)
    return False


def keeps_zero(node: Node) -> bool:
    """Return whether a function is 0 where all its operands are.

    >>> from fuseloom.frontends.algebra.expressions import made
    >>> keeps_zero(made(Op.SIN, Arg(0))), keeps_zero(made(Op.COS, Arg(0)))
    (True, False)
    """
    zeros = dict.fromkeys(arguments(node), np.asarray(0.0))
    with np.errstate(all="ignore"):
        return bool(evaluate(node, {}, zeros) == 0.0)
