"""The windows through which statements read tensors: sums of indices in place of each dimension.

A made tensor declares where an index lies: ``j = 2*i + k - 1``.  A product with it reads its other
operand at that place, so that a chain of such products reads one tensor, the *base*, at a sum of
indices in each dimension: a :class:`WindowView`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fuseloom.errors import ProgramError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.relations import Relation, bounds
from fuseloom.program.types import Access, Program, Statement, Tensor

Extents = Mapping[str, int]


@dataclass(frozen=True)
class IndexSum:
    """A sum of indices, each times a number, and an offset.

    Attributes
    ----------
    terms : tuple of (str, int)
        Indices, each once, with the numbers, none of which is 0.
    offset : int
    """

    terms: tuple[tuple[str, int], ...]
    offset: int = 0

    @classmethod
    def index(cls, name: str) -> IndexSum:
        """One index alone.

        >>> IndexSum.index("i")
        IndexSum(terms=(('i', 1),), offset=0)
        """
        return cls(((name, 1),))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.terms)

    def replaced(self, places: Mapping[str, IndexSum]) -> IndexSum:
        """The same number with indices replaced by what they are equal to.

        >>> IndexSum((("j", 2),), 1).replaced({"j": IndexSum((("i", 1), ("k", 3)), -1)})
        IndexSum(terms=(('i', 2), ('k', 6)), offset=-1)
        """
        found: dict[str, int] = {}
        offset = self.offset
        for name, factor in self.terms:
            place = places.get(name, IndexSum.index(name))
            offset += factor * place.offset
            for inner, times in place.terms:
                found[inner] = found.get(inner, 0) + factor * times
        return IndexSum(tuple((x, c) for x, c in found.items() if c), offset)

    def bounds(self, extents: Extents) -> tuple[int, int]:
        """The smallest and the largest value.

        >>> IndexSum((("i", 2), ("k", 1)), -1).bounds({"i": 4, "k": 3})
        (-1, 7)
        """
        return bounds([(c, extents[x]) for x, c in self.terms], self.offset)


@dataclass(frozen=True)
class IndexRange:
    """A condition of a read: a sum of indices is 0 or more, and less than the extent.

    Attributes
    ----------
    tensor : str
        Whose elements end there.
    place : IndexSum
    extent : int
    """

    tensor: str
    place: IndexSum
    extent: int


@dataclass(frozen=True)
class WindowView:
    """A tensor that is read at a sum of indices in each dimension.

    Attributes
    ----------
    tensor : str
        The base.
    shape : tuple of int
        Its extents.
    places : tuple of IndexSum
        Where each of its dimensions is read; nothing is there outside the extents.
    ranges : tuple of IndexRange
        Where else there is nothing: statements in between have extents, too.
    chain : frozenset of str
        What these statements assign.
    padded : bool
        Whether made tensors on the way hold zeros beside their ones.
    """

    tensor: str
    shape: tuple[int, ...]
    places: tuple[IndexSum, ...]
    ranges: tuple[IndexRange, ...] = ()
    chain: frozenset[str] = frozenset()
    padded: bool = False

    @property
    def indices(self) -> frozenset[str]:
        return frozenset(x for place in self.places for x in place.names)

    def read(self, name: str, at: Mapping[str, IndexSum]) -> WindowView:
        """A view through a tensor that holds this one, with its indices at these places.

        Examples
        --------
        >>> windows = WindowView("x", (9,), (IndexSum((("i", 1), ("k", 1))),))
        >>> windows.read("w", {"i": IndexSum((("a", 2),)), "k": IndexSum.index("b")}).places
        (IndexSum(terms=(('a', 2), ('b', 1)), offset=0),)
        """
        return replace(
            self,
            places=tuple(place.replaced(at) for place in self.places),
            ranges=tuple(replace(x, place=x.place.replaced(at)) for x in self.ranges),
            chain=self.chain | {name},
        )


@dataclass(frozen=True)
class IndexPlaces:
    """The places where the made tensors of a statement put indices.

    Attributes
    ----------
    places : dict
        What an index is equal to: a sum of others.
    ranges : tuple of IndexRange
        The extents of those indices.
    operands : tuple of Access
        The operands that are not made.
    padded : bool
        Whether one of the made tensors holds zeros beside its ones.
    """

    places: dict[str, IndexSum] = field(default_factory=dict)
    ranges: tuple[IndexRange, ...] = ()
    operands: tuple[Access, ...] = ()
    padded: bool = False


def index_places(statement: Statement, extents: Extents, program: Program) -> IndexPlaces:
    """Solve the relations that a statement's made tensors declare for indices it does not keep.

    Raises
    ------
    ProgramError
        Of a relation that is none of windows, with the reason.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("x: 9 dense\\nw: 3 dense\\ny[i] = x[2*i+k] * w[k]")
    >>> index_places(program.statements[0], program.extents[0], program).places
    {'x0': IndexSum(terms=(('i', 2), ('k', 1)), offset=0)}
    """
    places: dict[str, IndexSum] = {}
    ranges: list[IndexRange] = []
    others: list[Access] = []
    padded = False
    for operand in statement.operands:
        made = program.tensor(operand.tensor)
        if made.made is None:
            others.append(operand)
            continue
        name, place = _solved(operand, made.made, {*statement.out.indices, *places})
        place = place.replaced(places)
        if name in place.names:
            raise ProgramError(f"{operand.tensor} says which elements of another are read")
        places = {x: y.replaced({name: place}) for x, y in places.items()} | {name: place}
        given = [x.tensor for x in statement.operands if x is not operand and name in x.indices]
        ended = given[0] if given else operand.tensor
        ranges.append(IndexRange(ended, IndexSum.index(name), extents[name]))
        padded = padded or _holds_zeros(made)
    solved = tuple(replace(x, place=x.place.replaced(places)) for x in ranges)
    return IndexPlaces(places, solved, tuple(others), padded)


def _solved(access: Access, relation: Relation, kept: set[str]) -> tuple[str, IndexSum]:
    """An index that is not kept, and the sum that a relation makes it equal to."""
    name = access.tensor
    if relation.entries is not None:
        raise ProgramError(f"{name} reads at the places in a list: no windows")
    target = access.indices[relation.target]
    terms = tuple((access.indices[d], c) for d, c in relation.terms)
    if target not in kept:
        return target, IndexSum(terms, relation.offset)
    for index, factor in terms:
        if index in kept:
            continue
        if abs(factor) != 1:
            raise ProgramError(f"{name} puts elements {abs(factor)} apart: no windows")
        rest = tuple((x, -factor * c) for x, c in terms if x != index)
        return index, IndexSum(((target, factor), *rest), -factor * relation.offset)
    raise ProgramError(f"{name} says which elements of another are read")


def _holds_zeros(made: Tensor) -> bool:
    """Return whether the format of a made tensor stores more than the ones."""
    levels = made.format.levels
    return made.format.block > 1 or (bool(levels) and levels[-1] is LevelFormat.DENSE)


def check_windows(views: Sequence[WindowView], extents: Extents) -> None:
    """Refuse views that no term of windows reads.

    Parameters
    ----------
    views : sequence of WindowView
        Of the factors of a product, or of one tensor.

    Raises
    ------
    ProgramError
        If a dimension is read backwards or at sums of more than two indices, two dimensions at one
        index, or a tensor in between ends before the base does.

    Examples
    --------
    >>> check_windows([WindowView("x", (9,), (IndexSum((("i", 2), ("k", 1))),))], {"i": 4, "k": 3})
    """
    for view in views:
        used = [x for place in view.places for x in place.names]
        if len(set(used)) < len(used):
            raise ProgramError(f"{view.tensor} is read along a diagonal")
        if any(c < 0 for place in view.places for _, c in place.terms):
            raise ProgramError(f"{view.tensor} is read backwards: no windows")
        if any(len(place.terms) > 2 for place in view.places):
            raise ProgramError(
                f"{view.tensor} is read at sums of more than two indices: no windows"
            )
    for limit in (x for view in views for x in view.ranges):
        low, high = limit.place.bounds(extents)
        if low >= 0 and high < limit.extent:
            continue
        if not any(_within(limit, view) for view in views):
            raise ProgramError(
                f"{limit.tensor} ends before the elements of {views[0].tensor} do: no windows"
            )


def _within(limit: IndexRange, view: WindowView) -> bool:
    """Return whether a condition holds wherever a view has an element."""
    for place, extent in zip(view.places, view.shape, strict=True):
        shift = limit.place.offset - place.offset
        if dict(place.terms) == dict(limit.place.terms) and 0 <= shift <= limit.extent - extent:
            return True
    return False


def has_windows(view: WindowView, summed: Sequence[str]) -> bool:
    """Return whether a dimension is read at the sum of a place and of an index within a window.

    Examples
    --------
    >>> has_windows(WindowView("x", (9,), (IndexSum((("i", 2), ("k", 1))),)), ["k"])
    True
    """
    return any(
        len(place.terms) == 2 and sum(x in summed for x in place.names) == 1
        for place in view.places
    )


def are_filled(views: Sequence[WindowView], extents: Extents, summed: Sequence[str]) -> bool:
    """Return whether every result of a product has an element: no window lies outside.

    Parameters
    ----------
    views : sequence of WindowView
        Of its factors; one tensor alone is a product, too.
    summed : sequence of str
        Indices that count elements within a window.

    Examples
    --------
    >>> padded = WindowView("x", (9,), (IndexSum((("i", 2), ("k", 1)), -1),))
    >>> are_filled([padded], {"i": 5, "k": 3}, ["k"]), are_filled([padded], {"i": 7, "k": 3}, ["k"])
    (True, False)
    """
    beyond = [view for view in views if not is_inside(view, extents)]
    return len(beyond) <= 1 and all(
        _has_element(place, extent, extents, summed)
        for view in beyond
        for place, extent in zip(view.places, view.shape, strict=True)
    )


def is_inside(view: WindowView, extents: Extents) -> bool:
    """Return whether all that a view reads is there.

    Examples
    --------
    >>> view = WindowView("x", (9,), (IndexSum((("i", 2), ("k", 1))),))
    >>> is_inside(view, {"i": 4, "k": 3}), is_inside(view, {"i": 5, "k": 3})
    (True, False)
    """
    ends = [place.bounds(extents) for place in view.places]
    return all(low >= 0 and high < n for (low, high), n in zip(ends, view.shape, strict=True))


def _has_element(place: IndexSum, extent: int, extents: Extents, summed: Sequence[str]) -> bool:
    """Return whether every window has an element in one dimension."""
    at = np.asarray(place.offset)
    terms = sorted(place.terms, key=lambda term: term[0] in summed)
    for name, factor in terms:
        at = at[..., None] + factor * np.arange(extents[name])
    taps = tuple(axis for axis, (name, _) in enumerate(terms) if name in summed)
    return bool(((at >= 0) & (at < extent)).any(axis=taps).all())
