"""Orders one after another, skipping those that are known to fail for a reason already met.

An order that cannot be built fails because some indices come before others: those pairs are a
refusal, and every other order with the same pairs fails for the same reason.  The search walks the
legal orders as :meth:`PartialOrderGraph.orders` does, index by index, and leaves a branch as soon
as what it has placed settles all pairs of a refusal, however many orders the branch holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fuseloom.dataflow.fusion.nests import Placed, place, unrealisable
from fuseloom.dataflow.fusion.pog import PartialOrderGraph
from fuseloom.dataflow.fusion.region import FusedRegion

MAX_STEPS = 200_000

Pairs = frozenset[tuple[str, str]]
"""Pairs of indices, the outer one first."""


@dataclass(frozen=True)
class _Refusal:
    """Pairs of indices as bit masks.

    Attributes
    ----------
    before : dict
        Per index the indices that come before it.
    outer : int
        All indices that come before some index: once they are placed, every pair is settled.
    """

    before: dict[str, int]
    outer: int

    def contradicted(self, index: str, placed: int) -> bool:
        """Return whether placing an index now violates a constraint that another comes first."""
        return bool(self.before.get(index, 0) & ~placed)


@dataclass
class _Frame:
    """Orders that begin with ``done``.

    Attributes
    ----------
    live : tuple of _Refusal
        The refusals that ``done`` does not contradict, of the first ``known`` there are.
    rest : iterator
        Indices still to be placed next, with what is to come before each.
    """

    done: tuple[str, ...]
    placed: int
    live: tuple[_Refusal, ...]
    known: int
    rest: Iterator[tuple[str, int]]


class OrderSearch:
    """The legal orders of a region, the natural ones first (see :meth:`FusedRegion.orders`).

    Iterating gives the orders of ``region.orders()`` in the same sequence, less those that
    :meth:`refuse` has ruled out by then.

    Attributes
    ----------
    steps : int
        Indices placed so far; the search gives up after ``max_steps``.
    exhausted : bool
        Whether every legal order was given or ruled out.
    """

    def __init__(self, region: FusedRegion, max_steps: int = MAX_STEPS) -> None:
        self.region = region
        self.max_steps = max_steps
        self.steps = 0
        self.exhausted = False
        self._pairs: list[Pairs] = []
        self._refusals: list[_Refusal] = []
        self._before: dict[str, int] = {}  # what the phase's edges put before each index
        self._bit = {x: 1 << k for k, x in enumerate(region.indices)}

    def refuse(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Rule out the orders that have all these pairs."""
        self._pairs.append(frozenset(pairs))
        self._refusals.append(self._refusal(self._pairs[-1]))

    def _refusal(self, pairs: Pairs) -> _Refusal:
        before: dict[str, int] = {}
        outer = 0
        for a, b in pairs:
            if not self._before.get(b, 0) & self._bit[a]:  # every order of this phase has it
                before[b] = before.get(b, 0) | self._bit[a]
                outer |= self._bit[a]
        return _Refusal(before, outer)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        natural = self.region.natural
        yield from self._orders(natural)
        self.refuse((e.outer, e.inner) for e in natural.edges)
        yield from self._orders(self.region.pog)
        self.exhausted = self.steps < self.max_steps

    def _orders(self, pog: PartialOrderGraph) -> Iterator[tuple[str, ...]]:
        self._before = {x: sum(self._bit[y] for y in outer) for x, outer in pog.ancestors().items()}
        self._refusals = [self._refusal(pairs) for pairs in self._pairs]
        frames = [self._frame((), 0, tuple(self._refusals))]
        if not self._bit:
            yield ()
        while frames:
            frame = frames[-1]
            step = self._step(frame)
            if step is None:
                frames.pop()
            elif len(step.done) == len(self._bit):
                yield step.done
            else:
                frames.append(step)

    def _frame(self, done: tuple[str, ...], placed: int, live: tuple[_Refusal, ...]) -> _Frame:
        return _Frame(done, placed, live, len(self._refusals), iter(self._before.items()))

    def _step(self, frame: _Frame) -> _Frame | None:
        """The next way to go on from a frame; None at its end.

        A refusal that arrives on the way back is looked at by every frame it passes.
        """
        placed, missing = frame.placed, ~frame.placed
        for x, needed in frame.rest:
            if placed & self._bit[x] or needed & missing:
                continue
            if frame.known < len(self._refusals):
                late = self._refusals[frame.known :]
                frame.live += tuple(r for r in late if not self._contradicts(frame.done, r))
                frame.known = len(self._refusals)
            if self.steps >= self.max_steps or not all(r.outer & missing for r in frame.live):
                return None  # all orders from here have the pairs of a refusal
            self.steps += 1
            inside = tuple([r for r in frame.live if not r.before.get(x, 0) & missing])
            return self._frame((*frame.done, x), placed | self._bit[x], inside)
        return None

    def _contradicts(self, done: Sequence[str], refusal: _Refusal) -> bool:
        placed = 0
        for x in done:
            if refusal.contradicted(x, placed):
                return True
            placed |= self._bit[x]
        return False


def reason_for(region: FusedRegion, order: Sequence[str]) -> Pairs:
    """Why an order fails: pairs of indices whose orders all fail likewise.

    Where a result does not lie where it is used, that takes few pairs.  Otherwise they are what
    makes the nests: orders with the same nests give the same graph (``docs/spec/fusion.md`` §2.4,
    S4).
    """
    few = unrealisable(region.roots, order)
    if few is not None:
        return few
    pairs: set[tuple[str, str]] = set()
    seen: set[int] = set()

    todo: list[tuple[Placed, tuple[str, ...]]] = [(r, ()) for r in place(region.roots, order)]
    while todo:
        placed, consumer = todo.pop()
        pairs.update(zip(placed.nest, placed.nest[1:], strict=False))
        inside = set(consumer).difference(placed.nest)
        pairs.update((placed.nest[-1], x) for x in inside if placed.nest)
        if id(placed) not in seen:
            seen.add(id(placed))
            todo += [(v, placed.nest) for v in placed.operands if isinstance(v, Placed)]
    return frozenset(pairs)
