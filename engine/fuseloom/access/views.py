"""Elements of access patterns as expressions of their indices; nothing is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Term
from fuseloom.codegen.imperative import BinaryOperation, ElementAccess, Expr, Int, Var
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
    groups : tuple of tuples of int
        Of elements that were flattened without a copy: per dimension the extents that it runs
        through, all larger than 1. Then ``read`` takes an index of each of these.
    """

    dims: Dims
    read: Read
    buffer: str = ""
    groups: tuple[Dims, ...] = ()

    @property
    def extents(self) -> Dims:
        """Those of the indices that ``read`` takes."""
        return sum(self.groups, ()) if self.groups else self.dims

    def group(self, number: int) -> Dims:
        """The extents that a dimension runs through."""
        return self.groups[number] if self.groups else (self.dims[number],)

    def keeps_order(self, number: int) -> bool:
        """Tell if an index runs through neighbours, or does not move."""
        return all(apart[number] in (0, 1) for apart in steps(self))

    def uses(self) -> list[int]:
        """The numbers of the indices that matter."""
        return [k for k in range(len(self.extents)) if any(apart[k] for apart in steps(self))]


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


def part_of(view: ElementView, dims: Dims, number: int, low: int) -> ElementView | None:
    """As many elements of a view as dimensions say, from an index of one dimension on.

    None if that dimension was flattened.

    Examples
    --------
    >>> part_of(of_buffer("r0", (5,)), (2,), 0, 3).read([Int(1)])
    ElementAccess(array='r0', index=Int(value=4))
    """
    if len(view.group(number) if dims else ()) > 1:
        return None
    place = sum(map(len, view.groups[:number])) if view.groups else number
    groups = tuple(
        (dims[k],) if k == number and group else group for k, group in enumerate(view.groups)
    )

    def read(x: Sequence[Expr]) -> Expr:
        return view.read([plus(i, low * (k == place)) for k, i in enumerate(x)])

    return ElementView(dims, read, groups=groups)


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
                    added(times(place, stride), inner)
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
    >>> turned = ElementView((2, 3), lambda x: of_buffer("r0", (3, 2)).read([x[1], x[0]]))
    >>> reshaped(turned, (6,)).groups, reshaped(turned, (3, 2))
    (((2, 3),), None)
    """
    if view.buffer:
        return of_buffer(view.buffer, dims)
    common = shared_extents([view.extents, dims])
    if common is None:
        return None
    groups = _split(common, dims)
    finer = _finer(view, common)
    if any(len(group) > 1 for group in groups):
        return ElementView(dims, finer, groups=groups)
    return ElementView(
        dims, lambda x: finer([index for index, group in zip(x, groups, strict=True) if group])
    )


def regrouped(view: ElementView, groups: tuple[Dims, ...]) -> ElementView:
    """A view whose dimensions run through more extents than before.

    Parameters
    ----------
    view : ElementView
    groups : tuple of tuples of int
        Per dimension, extents that divide those of the view.

    Examples
    --------
    >>> view = regrouped(of_buffer("r0", (6,)), ((2, 3),))
    >>> view.read([Int(1), Int(2)])
    ElementAccess(array='r0', index=Int(value=5))
    """
    return ElementView(view.dims, _finer(view, sum(groups, ())), groups=groups)


def widened(view: ElementView, dims: Dims, places: tuple[int, ...]) -> ElementView:
    """A view that more indices are given, of which it reads some.

    Examples
    --------
    >>> widened(of_buffer("r0", (3,)), (2, 3), (1,)).read([Int(1), Int(2)]).index.value
    2
    """
    extents = tuple(
        view.group(places.index(k)) if k in places else (extent,) for k, extent in enumerate(dims)
    )
    starts = [sum(map(len, extents[:k])) for k in range(len(extents))]

    def read(x: Sequence[Any]) -> Any:
        return view.read(
            [x[starts[k] + n] for k in places for n in range(len(extents[k]))]
        )  # fmt: skip

    return ElementView(dims, read, groups=extents if view.groups else ())


def aligned(views: Sequence[ElementView]) -> list[ElementView] | None:
    """Views by the same indices, of extents that divide theirs; None if there are none.

    Parameters
    ----------
    views : sequence of ElementView
        The first one has all dimensions, another one may have only the first of these.

    Examples
    --------
    >>> turned = ElementView((2, 3), lambda x: of_buffer("r0", (3, 2)).read([x[1], x[0]]))
    >>> made = aligned([reshaped(turned, (6,)), of_buffer("r1", (6,))])
    >>> [view.extents for view in made]
    [(2, 3), (2, 3)]
    """
    groups: list[Dims] = []
    for k in range(len(views[0].dims)):
        extents = shared_extents([view.group(k) for view in views if k < len(view.dims)])
        if extents is None:
            return None
        groups.append(extents)
    return [regrouped(view, tuple(groups[: len(view.dims)])) for view in views]


def shared_extents(several: Sequence[Dims]) -> Dims | None:
    """Extents that divide all of several lists, which run through as many elements.

    Examples
    --------
    >>> shared_extents([(6, 5), (2, 15)]), shared_extents([(2, 3), (3, 2)])
    ((2, 3, 5), None)
    """
    counts = sorted({prod(dims[k:]) for dims in several for k in range(len(dims) + 1)})
    if counts[0] == 0 or any(large % small for small, large in pairwise(counts)):
        return None
    return tuple(large // small for small, large in pairwise(counts))[::-1]


def _split(extents: Dims, dims: Dims) -> tuple[Dims, ...]:
    """Extents, those of each dimension together."""
    left = list(extents)
    groups: list[Dims] = []
    for extent in dims:
        group: list[int] = []
        while prod(group) != extent:
            group.append(left.pop(0))
        groups.append(tuple(group))
    return tuple(groups)


def steps(view: ElementView) -> list[tuple[int, ...]]:
    """The stride of each index in each array that is read.

    Examples
    --------
    >>> steps(of_buffer("r0", (2, 3)))
    [(3, 1)]
    """
    names = [f"i{k}" for k in range(len(view.extents))]
    read = view.read([Var(name) for name in names])
    found = [strides(access.index) for access in accesses(read)]
    return [tuple(moves.get(name, 0) for name in names) for moves in found]


def _finer(view: ElementView, extents: Dims) -> Read:
    """A view that is read by indices of extents that divide its own."""
    groups = _split(extents, view.extents)

    def read(x: Sequence[Expr]) -> Expr:
        left = iter(x)
        return view.read([offset([next(left) for _ in group], group) for group in groups])

    return read


def accesses(expr: Any) -> Iterator[ElementAccess]:
    """The elements of arrays that an expression reads.

    Examples
    --------
    >>> [x.array for x in accesses(BinaryOperation("*", ElementAccess("r0", Int(1)), Int(2)))]
    ['r0']
    """
    if isinstance(expr, ElementAccess):
        yield expr
    elif is_dataclass(expr):
        for field in fields(expr):
            yield from accesses(getattr(expr, field.name))


def strides(index: Expr) -> Mapping[str, int]:
    """The stride of each variable in a place of a buffer.

    Raises
    ------
    LoweringError
        If it is no sum of multiples of variables.

    Examples
    --------
    >>> strides(offset([Var("i"), plus(Var("j"), 1)], (4, 5)))
    {'i': 5, 'j': 1}
    """
    found: dict[str, int] = {}
    todo = [(index, 1)]
    while todo:
        match todo.pop():
            case Int(), _:
                pass
            case Var(name), count:
                found[name] = found.get(name, 0) + count
            case BinaryOperation("+", left, right), count:
                todo += [(right, count), (left, count)]
            case BinaryOperation("*", left, Int(value)), count:
                todo.append((left, count * value))
            case other, _:
                raise LoweringError(f"{other} is no sum of multiples of indices")
    return found


def offset(indices: Sequence[Expr], dims: Dims) -> Expr:
    """The place of an element in a buffer.

    Examples
    --------
    >>> offset([Int(1), Int(2)], (2, 3))
    Int(value=5)
    """
    place: Expr = Int(0)
    for index, extent in zip(indices, dims, strict=True):
        place = added(times(place, extent), index)
    return place


def plus(expr: Expr, count: int) -> Expr:
    """An index, moved.

    Examples
    --------
    >>> plus(Int(1), 2)
    Int(value=3)
    """
    return added(expr, Int(count))


def times(expr: Expr, count: int) -> Expr:
    """An index, multiplied.

    Examples
    --------
    >>> times(Int(2), 3), times(Var("i"), 1)
    (Int(value=6), Var(name='i'))
    """
    if isinstance(expr, Int):
        return Int(expr.value * count)
    return expr if count == 1 else BinaryOperation("*", expr, Int(count))


def added(left: Expr, right: Expr) -> Expr:
    """The sum of two indices.

    Examples
    --------
    >>> added(Int(0), Var("i"))
    Var(name='i')
    """
    match left, right:
        case Int(a), Int(b):
            return Int(a + b)
        case Int(0), _:
            return right
        case _, Int(0):
            return left
    return BinaryOperation("+", left, right)
