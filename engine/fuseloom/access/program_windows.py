"""The windows through which statements read dense tensors, as terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fuseloom.access.kernels import apply
from fuseloom.access.meaning import require_room, shape_of, shapes_of
from fuseloom.access.terms import Attribute, Term, tensor
from fuseloom.program.windows import Extents, IndexSum, WindowView


@dataclass(frozen=True)
class _WindowAxis:
    """One dimension of a base: windows of taps at places, and what is around."""

    place: str | None
    places: int
    stride: int
    tap: str | None
    taps: int
    dilation: int
    offset: int
    extent: int

    @property
    def span(self) -> int:
        return (self.taps - 1) * self.dilation + 1

    @property
    def reach(self) -> int:
        return (self.places - 1) * self.stride + self.span

    @property
    def padding(self) -> tuple[int, int]:
        """The elements before and after the dimension that the windows reach."""
        return max(-self.offset, 0), max(self.offset + self.reach - self.extent, 0)

    @property
    def kept(self) -> tuple[int, int]:
        """The range of the padded dimension that the windows cut into."""
        before, after = self.padding
        low, length = self.offset + before, before + self.extent + after
        if not low and (length - self.span) // self.stride + 1 == self.places:
            return 0, length
        return low, low + self.reach

    @property
    def slides(self) -> bool:
        """Tell if it is more than one index that counts elements."""
        return self.stride > 1 or self.dilation > 1 or bool(self.place and self.tap)


def _axis(place: IndexSum, extent: int, extents: Extents, summed: Sequence[str]) -> _WindowAxis:
    """One dimension; of two indices the one that is summed is in the window."""
    terms = sorted(place.terms, key=lambda term: (term[0] in summed, -term[1]))
    tap = terms.pop() if len(terms) == 2 or (terms and terms[0][0] in summed) else None
    at = terms[0] if terms else None
    return _WindowAxis(
        at[0] if at else None, extents[at[0]] if at else 1, at[1] if at else 1,
        tap[0] if tap else None, extents[tap[0]] if tap else 1, tap[1] if tap else 1,
        place.offset, extent,
    )  # fmt: skip


def window_term(
    view: WindowView, extents: Extents, access: Sequence[str], compute: Sequence[str],
    filling: str = "zero",
) -> Term:  # fmt: skip
    """A view as a pattern that iterates over some of its indices and computes on the others.

    Dilation is a window of the dilated extent, of which a second window picks every d-th element.

    Parameters
    ----------
    view : WindowView
        One that :func:`fuseloom.program.windows.check_windows` accepts.
    access, compute : sequence of str
        All its indices, in order.
    filling : str
        What is outside the base: ``zero`` or ``minimum``.

    Raises
    ------
    DataError
        If the windows would take too much memory.

    Examples
    --------
    >>> view = WindowView("x", (2, 9), (IndexSum.index("n"), IndexSum((("i", 2), ("k", 1)), -1)))
    >>> print(shape_of(window_term(view, {"n": 2, "i": 5, "k": 3}, ["n", "i"], ["k"])))
    ((2, 5), (3))
    """
    axes = [
        _axis(place, extent, extents, compute)
        for place, extent in zip(view.places, view.shape, strict=True)
    ]
    term = tensor(view.tensor, view.shape)
    for number, axis in enumerate(axes):
        if any(axis.padding):
            term = apply("pad", term, filling, number, *axis.padding)
    kept = [axis.kept for axis in axes]
    if tuple(kept) != tuple((0, extent) for extent in shape_of(term).dims):
        term = apply("box", term, *(tuple(x) for x in zip(*kept, strict=True)))
    names: list[str | None] = [axis.place or axis.tap for axis in axes]
    if any(axis.slides for axis in axes):
        term, names = _slid(term, axes)
    for number in reversed(range(len(names))):
        if names[number] is None:
            term = apply("squeeze", term, number)
            del names[number]
    for part, shape in shapes_of(term).items():
        require_room(part.construct, shape.elements)
    order = tuple(names.index(x) for x in (*access, *compute))
    if len(shape_of(term).access) != len(access):
        term = apply("access", term, len(access))
    return term if order == tuple(range(len(order))) else apply("transpose", term, order)


def _slid(term: Term, axes: Sequence[_WindowAxis]) -> tuple[Term, list[str | None]]:
    """Windows over all dimensions behind the first that are iterated over as they are."""
    first = next(n for n, axis in enumerate(axes) if axis.slides or not axis.place)
    inner = axes[first:]
    ones = (1,) * len(inner)
    sizes: tuple[Attribute, Attribute] = (
        tuple(axis.span for axis in inner), tuple(axis.stride for axis in inner)
    )  # fmt: skip
    term = apply("windows", apply("access", term, first), *sizes)
    names = [*(axis.place for axis in axes), *(axis.tap for axis in inner)]
    apart = tuple(axis.dilation for axis in inner)
    if apart == ones:
        return term, names
    return apply("windows", term, ones, apart), [*names, *(None for _ in inner)]
