"""Elements of access patterns as expressions of their indices; nothing is copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Term
from fuseloom.codegen.imperative import BinaryOperation, ElementAccess, Expr, Int
from fuseloom.errors import LoweringError

Read: TypeAlias = Callable[[Sequence[Expr]], Expr]


@dataclass(frozen=True)
class ElementView:
    """Elements of an access pattern, as expressions of their indices.

    Attributes
    ----------
    dims : tuple of int
    read : callable
        Indices to the element.
    buffer : str
        The array whose elements these are, in order; empty of others.
    """

    dims: Dims
    read: Read
    buffer: str = ""


@dataclass(frozen=True)
class TupleView:
    """Tuples of elements of several patterns.

    Attributes
    ----------
    axis : int
        The dimension that numbers the patterns.
    parts : tuple of ElementView
        The patterns; their dimensions are those of the tuples without that one.
    """

    axis: int
    parts: tuple[ElementView, ...]


def of_buffer(name: str, dims: Dims) -> ElementView:
    """All elements of an array, the last index fastest.

    Examples
    --------
    >>> of_buffer("r0", (2, 3)).read([Int(1), Int(2)])
    ElementAccess(array='r0', index=Int(value=5))
    """
    return ElementView(dims, lambda x: ElementAccess(name, offset(x, dims)), name)


def moved(part: Term, view: ElementView, dims: Dims, shape: AccessShape) -> ElementView:
    """A view of the operand of a construct that only moves indices.

    Parameters
    ----------
    part : Term
        The construct: ``transpose``, ``windows``, ``slice``, ``box``, ``squeeze``, ``insert-axis``
        or ``broadcast``.
    view : ElementView
        Its operand.
    dims : tuple of int
        Of its result.
    shape : AccessShape
        Of its operand.

    Raises
    ------
    LoweringError
        If it is another construct, and when an element is read.

    Examples
    --------
    >>> from fuseloom.access.terms import tensor
    >>> part = Term("slice", (0, 1, 3), (tensor("A", (4,)),))
    >>> moved(part, of_buffer("r0", (4,)), (2,), AccessShape((), (4,))).read([Int(1)])
    ElementAccess(array='r0', index=Int(value=2))
    """
    given: tuple[Any, ...] = part.attributes

    def read(x: Sequence[Expr]) -> list[Expr]:
        match part.construct:
            case "transpose":
                return [x[given[0].index(k)] for k in range(len(x))]
            case "windows":
                first, count = len(shape.access), len(given[0])
                places, within = x[first : first + count], x[first + count :]
                begins = [
                    _sum(_times(place, stride), inner)
                    for place, inner, stride in zip(places, within, given[1], strict=True)
                ]
                return [*x[:first], *begins]
            case "slice":
                return [plus(i, given[1] * (k == given[0])) for k, i in enumerate(x)]
            case "box":
                return [plus(i, low) for i, low in zip(x, given[0], strict=True)]
            case "squeeze":
                return [*x[: given[0]], Int(0), *x[given[0] :]]
            case "insert-axis":
                return [*x[: given[0]], *x[given[0] + 1 :]]
            case "broadcast":
                return [Int(0) if n == 1 else i for i, n in zip(x, shape.dims, strict=True)]
        raise LoweringError(f"{part.construct} is not compiled")

    return ElementView(dims, lambda x: view.read(read(x)))


def pairs(
    first: ElementView, second: ElementView, left: AccessShape, right: AccessShape
) -> TupleView:
    """Each element of a pattern beside each of another: their Cartesian product.

    Parameters
    ----------
    first, second : ElementView
    left, right : AccessShape
        Their shapes, with the same compute dimensions.

    Examples
    --------
    >>> one, two = of_buffer("r0", (2, 4)), of_buffer("r1", (3, 4))
    >>> made = pairs(one, two, AccessShape((2,), (4,)), AccessShape((3,), (4,)))
    >>> made.axis, [part.read([Int(1), Int(2), Int(3)]).index.value for part in made.parts]
    (2, [7, 11])
    """
    a, b = len(left.access), len(right.access)
    dims = (*left.access, *right.access, *left.compute)
    return TupleView(
        a + b,
        (
            ElementView(dims, lambda x: first.read([*x[:a], *x[a + b :]])),
            ElementView(dims, lambda x: second.read([*x[a : a + b], *x[a + b :]])),
        ),
    )


def elements(view: ElementView, axis: int) -> list[ElementView]:
    """A view for each index of a dimension.

    Examples
    --------
    >>> [part.read([]).index.value for part in elements(of_buffer("r0", (3,)), 0)]
    [0, 1, 2]
    """
    rest = (*view.dims[:axis], *view.dims[axis + 1 :])

    def element(number: int) -> ElementView:
        return ElementView(rest, lambda x: view.read([*x[:axis], Int(number), *x[axis:]]))

    return [element(number) for number in range(view.dims[axis])]


def reshaped(view: ElementView, dims: Dims) -> ElementView | None:
    """The same elements in the same order, in other dimensions; None if only a copy has them.

    Examples
    --------
    >>> reshaped(of_buffer("r0", (2, 3)), (6,)).dims
    (6,)
    >>> print(reshaped(ElementView((2, 3), lambda x: x[0]), (6,)))
    None
    """
    if view.buffer:
        return of_buffer(view.buffer, dims)
    if [x for x in view.dims if x > 1] != [x for x in dims if x > 1]:
        return None
    large = [k for k, extent in enumerate(dims) if extent > 1]

    def read(indices: Sequence[Expr]) -> Expr:
        given = iter([indices[k] for k in large])
        return view.read([next(given) if x > 1 else Int(0) for x in view.dims])

    return ElementView(dims, read)


def offset(indices: Sequence[Expr], dims: Dims) -> Expr:
    """The place of an element in a buffer.

    Examples
    --------
    >>> offset([Int(1), Int(2)], (2, 3))
    Int(value=5)
    """
    place: Expr = Int(0)
    for index, extent in zip(indices, dims, strict=True):
        place = _sum(_times(place, extent), index)
    return place


def plus(expr: Expr, count: int) -> Expr:
    """An index, moved.

    Examples
    --------
    >>> plus(Int(1), 2)
    Int(value=3)
    """
    return _sum(expr, Int(count))


def _times(expr: Expr, count: int) -> Expr:
    if isinstance(expr, Int):
        return Int(expr.value * count)
    return expr if count == 1 else BinaryOperation("*", expr, Int(count))


def _sum(left: Expr, right: Expr) -> Expr:
    match left, right:
        case Int(a), Int(b):
            return Int(a + b)
        case Int(0), _:
            return right
        case _, Int(0):
            return left
    return BinaryOperation("+", left, right)
