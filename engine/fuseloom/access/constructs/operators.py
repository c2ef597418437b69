"""``compute``: an operator applied to the compute dimensions at every access position."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuseloom.access.constructs.construct import Array, Construct, TermPart, require
from fuseloom.access.shapes import AccessShape, Dims

DOT_PRODUCT = "dotProd"


@dataclass(frozen=True)
class Operator:
    """An operator of ``compute`` (Glenside, table 2).

    Attributes
    ----------
    name : str
    text : str
        What it does with the compute dimensions.
    least : int
        The fewest compute dimensions that it takes.
    dims : callable
        Compute dimensions of the operand to those of the result.
    apply : callable
        An array and its number of access dimensions to the result.
    """

    name: str
    text: str
    least: int
    dims: Callable[[Dims], Dims]
    apply: Callable[[Array, int], Array]


def _all(array: Array, access: int) -> tuple[int, ...]:
    return tuple(range(access, array.ndim))


def _softmax(array: Array, access: int) -> Array:
    axes = _all(array, access)
    powers = np.exp(array - array.max(axis=axes, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axes, keepdims=True))


def _nothing(_: Dims) -> Dims:
    return ()


def _same(dims: Dims) -> Dims:
    return dims


def _rest(dims: Dims) -> Dims:
    return dims[1:]


OPERATORS: Mapping[str, Operator] = {
    operator.name: operator
    for operator in (
        Operator("reduceSum", "the sum of all values", 1, _nothing,
                 lambda a, n: np.asarray(a.sum(axis=_all(a, n)))),
        Operator("reduceMax", "the largest value", 1, _nothing,
                 lambda a, n: np.asarray(a.max(axis=_all(a, n)))),
        Operator(DOT_PRODUCT, "products of the elements of a tuple, summed", 1, _nothing,
                 lambda a, n: np.asarray(a.prod(axis=n).sum(axis=tuple(range(n, a.ndim - 1))))),
        Operator("elementwiseAdd", "the sum of a tuple, element by element", 1, _rest,
                 lambda a, n: np.asarray(a.sum(axis=n))),
        Operator("elementwiseMul", "the product of a tuple, element by element", 1, _rest,
                 lambda a, n: np.asarray(a.prod(axis=n))),
        Operator("relu", "the larger of a value and 0", 0, _same,
                 lambda a, n: np.maximum(a, 0.0)),
        Operator("softmax", "powers of e, divided by their sum", 1, _same, _softmax),
    )
}  # fmt: skip
"""By name; the paper's table 2 and those of its implementation."""


def operator_of(name: Any) -> Operator:
    """The operator of a name.

    Raises
    ------
    ShapeError
        If there is none.

    Examples
    --------
    >>> operator_of("reduceMax").text
    'the largest value'
    """
    require(name in OPERATORS, f"{name} is no operator", f"operators are {', '.join(OPERATORS)}")
    return OPERATORS[name]


def _shape(shapes: Sequence[AccessShape], attributes: tuple[Any, ...]) -> AccessShape:
    operator, operand = operator_of(attributes[0]), shapes[0]
    require(
        len(operand.compute) >= operator.least,
        f"{operator.name} needs compute dimensions, and {operand} has none",
        "(access TERM N) makes all dimensions from number N on compute dimensions",
    )
    return AccessShape(operand.access, operator.dims(operand.compute))


def _compute(
    values: Sequence[Array], shapes: Sequence[AccessShape], attributes: tuple[Any, ...]
) -> Array:
    return operator_of(attributes[0]).apply(values[0], len(shapes[0].access))


CONSTRUCTS = (
    Construct(
        "compute",
        (TermPart.WORD, TermPart.TERM),
        "an operator, applied to the compute dimensions",
        _shape,
        _compute,
    ),
)
