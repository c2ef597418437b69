"""Nest classes: orders that give the same graph, enumerated without listing orders.

Two orders under which every instance has the same nest give the same graph (S4 of
``docs/spec/fusion.md`` §2.4), and there are far fewer classes than orders.  A class is found by
deciding, from each output inwards, how an instance's indices lie among those of its consumer; each
decision says which indices come before which, so a class is a partial order, and the number of its
orders is that of the partial order's linear extensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fuseloom.dataflow.fusion.pog import Edge, EdgeOrigin, PartialOrderGraph
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Instance


@dataclass(frozen=True)
class NestClass:
    """Orders of a region that give the same graph.

    Attributes
    ----------
    nests : tuple of (view, nest)
        Views by name and, outermost first, the indices they are iterated under.
    order : tuple of str
        The first of its orders.
    """

    nests: tuple[tuple[str, tuple[str, ...]], ...]
    order: tuple[str, ...]
    constraints: PartialOrderGraph

    @cached_property
    def orders(self) -> int:
        """The exact number of orders in the class."""
        return self.constraints.count()

    def __str__(self) -> str:
        nests = "; ".join(f"{name}: {','.join(nest)}" for name, nest in self.nests)
        return f"{'→'.join(self.order)} and {self.orders - 1:,} more ({nests})"


def nest_classes(region: FusedRegion, *, buildable: bool = True) -> Iterator[NestClass]:
    """Yield the nest classes of a region's legal orders.

    Parameters
    ----------
    buildable : bool
        Only those whose results lie where their consumers iterate (a prefix of the consumer's
        nest), which streams need; otherwise all that satisfy rule S3.

    Examples
    --------
    >>> from fuseloom.dataflow.fusion.fuse import fuse
    >>> from fuseloom.program import parse
    >>> text = "A: 4x4 dense\\nB: 4x4 dense\\nT[i,j] = A[i,k] * B[k,j]"
    >>> sum(found.orders for found in nest_classes(fuse(parse(text))[0]))
    3
    """
    yield from _ClassSearch(region, buildable).run()


@dataclass(frozen=True)
class _Poset:
    """A transitively closed partial order on numbered elements, as bit masks."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @classmethod
    def free(cls, size: int) -> _Poset:
        return cls((0,) * size, (0,) * size)

    def put(self, first: int, second: int) -> _Poset:
        """With one pair more, which must not contradict it."""
        if self.after[first] >> second & 1:
            return self
        before, after = list(self.before), list(self.after)
        low = self.before[first] | 1 << first
        high = self.after[second] | 1 << second
        for x in range(len(before)):
            if low >> x & 1:
                after[x] |= high
            if high >> x & 1:
                before[x] |= low
        return _Poset(tuple(before), tuple(after))


_Task = tuple[Instance, tuple[int, ...]]
"""An instance to place under a consumer's nest."""

_Nests = dict[tuple[int, tuple[int, ...]], tuple[int, ...]]
"""Nests decided, by the id of an instance and its consumer's nest."""

_Decided = tuple[_Poset, tuple[_Task, ...], _Nests]
"""The decisions so far, and the instances still to place."""


class _ClassSearch:
    def __init__(self, region: FusedRegion, buildable: bool) -> None:
        self.region = region
        self.buildable = buildable
        self.number = {x: k for k, x in enumerate(region.indices)}
        self.names = {id(view): name for name, view in region.views.items()}

    def run(self) -> Iterator[NestClass]:
        poset = _Poset.free(len(self.number))
        for edge in self.region.pog.edges:
            poset = poset.put(self.number[edge.outer], self.number[edge.inner])
        tasks: tuple[_Task, ...] = tuple((root, ()) for root in self.region.roots)
        ways: list[Iterator[_Decided]] = [iter(((poset, tasks, {}),))]
        while ways:
            step = next(ways[-1], None)
            if step is None:
                ways.pop()
                continue
            poset, tasks, done = step
            while tasks and (id(tasks[0][0]), tasks[0][1]) in done:
                tasks = tasks[1:]
            if tasks:
                ways.append(self._place(poset, tasks, done))
            else:
                yield self._found(poset, done)

    def _place(self, poset: _Poset, tasks: tuple[_Task, ...], done: _Nests) -> Iterator[_Decided]:
        """Decide the nest of the first task in every way; the others are left."""
        (view, consumer), rest = tasks[0], tasks[1:]
        for nest, decided in self._nests(view, consumer, poset):
            inner = tuple((v, nest) for v in view.operands if isinstance(v, Instance))
            yield decided, inner + rest, {**done, (id(view), consumer): nest}

    def _nests(
        self, view: Instance, consumer: tuple[int, ...], poset: _Poset
    ) -> Iterator[tuple[tuple[int, ...], _Poset]]:
        """Every nest of an instance under a consumer's, and what it says about the order."""
        local = {self.number[x] for x in view.local}
        reduced = {self.number[x] for x in view.reduced}

        def extend(
            nest: tuple[int, ...], left: tuple[int, ...], poset: _Poset
        ) -> Iterator[tuple[tuple[int, ...], _Poset]]:
            if local.isdisjoint(left):  # what is left of the consumer's nest lies inside
                if not self.buildable or self._is_prefix(nest, reduced, consumer):
                    yield nest, poset
                return
            mask = sum(1 << x for x in left)
            for x in left:
                if poset.before[x] & mask:
                    continue
                if x not in local and not reduced.isdisjoint(nest):
                    continue  # S3: a foreign index inside a reduction
                decided, others = poset, tuple(y for y in left if y != x)
                for y in others:
                    decided = decided.put(x, y)
                yield from extend((*nest, x), others, decided)

        elements = sorted(local.union(consumer))
        yield from extend((), tuple(elements), poset)

    @staticmethod
    def _is_prefix(nest: tuple[int, ...], reduced: set[int], consumer: tuple[int, ...]) -> bool:
        outer = tuple(x for x in nest if x not in reduced)
        return not consumer or outer == consumer[: len(outer)]

    def _found(self, poset: _Poset, done: _Nests) -> NestClass:
        indices = self.region.indices
        edges = tuple(
            Edge(indices[x], indices[y], EdgeOrigin.USER, "the nests of this class")
            for x in range(len(indices))
            for y in range(len(indices))
            if poset.after[x] >> y & 1
        )
        nests = {
            (self.names[view], tuple(indices[x] for x in nest)) for (view, _), nest in done.items()
        }
        place = {name: k for k, name in enumerate(self.region.views)}
        ordered = sorted(nests, key=lambda pair: (place[pair[0]], pair[1]))
        return NestClass(tuple(ordered), self._first(poset), PartialOrderGraph(indices, edges))

    def _first(self, poset: _Poset) -> tuple[str, ...]:
        left: Sequence[int] = range(len(poset.before))
        order: list[str] = []
        while left:
            mask = sum(1 << x for x in left)
            x = next(x for x in left if not poset.before[x] & mask)
            order.append(self.region.indices[x])
            left = [y for y in left if y != x]
        return tuple(order)
