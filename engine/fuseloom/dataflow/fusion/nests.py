"""Nests: which indices each instance is iterated under, for one order.

Rules: ``docs/spec/fusion.md`` §2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fuseloom.dataflow.fusion.views import Cut, Instance, Leaf
from fuseloom.errors import OrderError
from fuseloom.program.walks import Steps, postorder, unwound


@dataclass(frozen=True, eq=False)
class PlacedLeaf:
    """A leaf as one consumer reads it."""

    leaf: Leaf

    @property
    def indices(self) -> tuple[str, ...]:
        return self.leaf.indices

    @property
    def tensor(self) -> str:
        return self.leaf.tensor


@dataclass(frozen=True, eq=False)
class Placed:
    """An instance under one nest.

    Attributes
    ----------
    nest : tuple of str
        Output indices, reductions and foreign indices, outermost first.
    """

    view: Instance
    nest: tuple[str, ...]
    operands: tuple[PlacedView, ...]

    @property
    def indices(self) -> tuple[str, ...]:
        return self.view.indices

    @property
    def tensor(self) -> str:
        return self.view.tensor

    @property
    def reduced(self) -> tuple[str, ...]:
        return self.view.reduced

    @cached_property
    def outer_nest(self) -> tuple[str, ...]:
        """The nest without the reductions: where the result lives."""
        return tuple(x for x in self.nest if x not in self.view.reduced)

    @cached_property
    def read(self) -> frozenset[str]:
        """Indices that some operand has."""
        return frozenset(x for operand in self.operands for x in operand.indices)

    @property
    def drops_zeros(self) -> bool:
        """Whether coordinates at which its value is zero are left out of it."""
        return self.view.statement.nonzero

    @property
    def foreign(self) -> tuple[str, ...]:
        """Indices the instance is recomputed under."""
        return tuple(x for x in self.nest if x not in self.view.local)


PlacedView = Placed | PlacedLeaf


def place(
    roots: Sequence[Instance],
    order: Sequence[str],
    unshared: frozenset[int] = frozenset(),
) -> tuple[Placed, ...]:
    """Give every instance its nest under an order.

    Views used under different nests are split; ids in ``unshared`` are split per consumer.

    Raises
    ------
    OrderError
        If the order breaks rule S3, naming the index, the reduction and the statement.
    """
    rank = {x: k for k, x in enumerate(order)}
    memo: dict[tuple[int, tuple[str, ...], int], Placed] = {}

    def put(view: Instance, consumer: tuple[str, ...], reader: int) -> Steps[Placed]:
        last = max((rank[x] for x in view.local), default=-1)
        foreign = tuple(x for x in consumer if x not in view.local and rank[x] < last)
        nest = tuple(sorted((*view.local, *foreign), key=rank.__getitem__))
        _check_realisable(view, nest, foreign, consumer, rank, order)
        key = (id(view), nest, reader if id(view) in unshared else 0)
        if key not in memo:
            # Behind a cut the producer runs under its alias, not under the consumer's index.
            inner = tuple(x for x in nest if not isinstance(view, Cut) or x != view.index)
            leaves: dict[int, PlacedLeaf] = {}
            operands: list[PlacedView] = []
            for operand in view.operands:
                if isinstance(operand, Leaf):
                    operands.append(leaves.setdefault(id(operand), PlacedLeaf(operand)))
                else:
                    placed: Placed = yield put(operand, inner, id(view))
                    operands.append(placed)
            memo[key] = Placed(view, nest, tuple(operands))
        return memo[key]

    return tuple(unwound(put(root, (), 0)) for root in roots)


def _check_realisable(
    view: Instance,
    nest: tuple[str, ...],
    foreign: tuple[str, ...],
    consumer: tuple[str, ...],
    rank: dict[str, int],
    order: Sequence[str],
) -> None:
    shown = "→".join(order)
    for r in view.reduced:
        for x in foreign:
            if rank[x] > rank[r]:
                raise OrderError(
                    f"order {shown} cannot be built: {view.tensor} would be recomputed for each "
                    f"{x} inside its own reduction over {r}",
                    hint=f"move {x} outside {r}, or cut the region after {view.tensor}; "
                    "'global' iterates all factors of a product at once, in any order",
                )
    if not consumer:
        return
    outer = tuple(x for x in nest if x not in view.reduced)
    if outer != consumer[: len(outer)]:
        clash = next(x for x in view.reduced if x in consumer)
        raise OrderError(
            f"order {shown} cannot be built: {view.tensor} reduces over {clash}, and what uses "
            f"it iterates {clash} outside {', '.join(outer) or 'it'}",
            hint=f"move {clash} inside {', '.join(outer) or view.tensor}, or cut the region "
            f"after {view.tensor}",
        )


def unrealisable(
    roots: Sequence[Instance], order: Sequence[str]
) -> frozenset[tuple[str, str]] | None:
    """Why :func:`place` refuses an order: pairs of indices, outer ones first; None if it does not.

    Every order that has these pairs is refused.
    """
    rank = {x: k for k, x in enumerate(order)}
    seen: set[tuple[int, tuple[str, ...]]] = set()

    def visit(
        view: Instance, consumer: dict[str, frozenset[tuple[str, str]]]
    ) -> Steps[frozenset[tuple[str, str]] | None]:
        """``consumer`` says of each index of the consumer's nest which pairs put it there."""
        last = max(view.local, key=rank.__getitem__, default=None)
        foreign = {
            x: why | {(x, last)}
            for x, why in consumer.items()
            if last is not None and x not in view.local and rank[x] < rank[last]
        }
        for r in view.reduced:
            for x, why in foreign.items():
                if rank[x] > rank[r]:
                    return why | {(r, x)}
            for x in view.indices if r in consumer else ():
                if rank[x] > rank[r]:
                    return consumer[r] | {(r, x)}
        nest = {**dict.fromkeys(view.local, frozenset()), **foreign}
        key = (id(view), tuple(sorted(nest)))
        if key in seen:
            return None
        seen.add(key)
        for operand in view.operands:
            if isinstance(operand, Instance):
                inside: frozenset[tuple[str, str]] | None = yield visit(operand, nest)
                if inside is not None:
                    return inside
        return None

    found = (unwound(visit(root, {})) for root in roots)
    return next((pairs for pairs in found if pairs is not None), None)


def walk_placed(roots: Sequence[Placed]) -> tuple[Placed, ...]:
    """Every placed instance once, producers before consumers."""
    return tuple(
        postorder(roots, lambda placed: [v for v in placed.operands if isinstance(v, Placed)])
    )


def nest_class(roots: Sequence[Instance], order: Sequence[str]) -> tuple[object, ...]:
    """A key that two orders share exactly when they give the same nests (rule S4).

    Raises
    ------
    OrderError
        If the order is not realisable.
    """
    return tuple(sorted((p.tensor, p.indices, p.nest) for p in walk_placed(place(roots, order))))
