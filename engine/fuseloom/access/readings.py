"""Elements of access patterns as a program reads them: tensors at sums of indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fuseloom.access.shapes import Dims
from fuseloom.access.views import ElementView
from fuseloom.codegen.imperative import Expr, Int
from fuseloom.program.windows import IndexSum, WindowView, is_inside


@dataclass(frozen=True)
class Reading:
    """A tensor of a program, read at sums of the indices of a pattern; or a number.

    Attributes
    ----------
    tensor : str
    shape : tuple of int
        Its extents.
    places : tuple of ElementView
        Per dimension the coordinate that is read, as an element; then one more, which is 0.
    whole : bool
        Whether the tensor has every element, whatever the data.
    filling : str
        What is read outside of it: ``zero`` or ``minimum``; empty if nothing is.
    value : float, optional
        Of a number; it has no tensor.
    """

    tensor: str
    shape: Dims
    places: tuple[ElementView, ...]
    whole: bool = True
    filling: str = ""
    value: float | None = None

    @property
    def view(self) -> ElementView:
        """One of the views by the indices of the pattern: all have the same."""
        return self.places[-1]

    @property
    def dims(self) -> Dims:
        """The extents of the pattern."""
        return self.view.dims

    def moved(self, change: Callable[[ElementView], ElementView]) -> Reading:
        """The same elements by other indices."""
        return replace(self, places=tuple(map(change, self.places)))

    def sums(self) -> tuple[IndexSum, ...]:
        """The coordinates as sums of indices, which are named by their numbers."""
        size = len(self.view.extents)
        return tuple(_sum(place, size) for place in self.places[:-1])

    def window(self) -> WindowView:
        """The tensor and where it is read, as programs say it."""
        return WindowView(self.tensor, self.shape, self.sums())

    @property
    def extents(self) -> Mapping[str, int]:
        """Those of the indices, by the names that :meth:`sums` gives them."""
        return {str(n): extent for n, extent in enumerate(self.view.extents)}

    @property
    def read(self) -> frozenset[int]:
        """The numbers of the indices that count more than one element."""
        named = {int(name) for place in self.sums() for name in place.names}
        return frozenset(n for n in named if self.view.extents[n] > 1)

    @property
    def is_complete(self) -> bool:
        """Tell if all elements are there, whatever the data."""
        return self.whole and self.is_inside

    @property
    def is_inside(self) -> bool:
        """Tell if nothing is read outside of the tensor."""
        return is_inside(self.window(), self.extents)

    @property
    def is_outside(self) -> bool:
        """Tell if no element of the tensor is read at all."""
        ends = [place.bounds(self.extents) for place in self.sums()]
        return any(high < 0 or low >= n for (low, high), n in zip(ends, self.shape, strict=True))


def _sum(place: ElementView, size: int) -> IndexSum:
    def at(chosen: int) -> int:
        found: Expr = place.read([Int(int(n == chosen)) for n in range(size)])
        assert isinstance(found, Int)
        return found.value

    offset = at(-1)
    factors = [(str(n), at(n) - offset) for n in range(size)]
    return IndexSum(tuple((name, factor) for name, factor in factors if factor), offset)


def whole_tensor(name: str, dims: Dims) -> Reading:
    """All elements of a tensor.

    Examples
    --------
    >>> whole_tensor("A", (2, 3)).sums()[1]
    IndexSum(terms=(('1', 1),), offset=0)
    """
    return Reading(name, dims, (*(index(dims, k) for k in range(len(dims))), constant(dims)))


def number(value: float, view: ElementView) -> Reading:
    """A number wherever a view has an element.

    Examples
    --------
    >>> number(0.5, whole_tensor("A", (2, 3)).view).dims
    (2, 3)
    """
    return Reading("", (), (constant(view.dims, view.groups),), value=value)


def index(dims: Dims, k: int, groups: tuple[Dims, ...] = ()) -> ElementView:
    """An index as the element of a view.

    Examples
    --------
    >>> index((2, 3), 1).read([Int(0), Int(2)])
    Int(value=2)
    """
    return ElementView(dims, lambda x: x[k], groups=groups)


def constant(dims: Dims, groups: tuple[Dims, ...] = ()) -> ElementView:
    """A view whose elements are 0.

    Examples
    --------
    >>> constant((2,)).read([Int(1)])
    Int(value=0)
    """
    return ElementView(dims, lambda _: Int(0), groups=groups)
