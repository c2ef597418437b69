"""A fused region: its views, its constraints, its orders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from engine.errors import ScheduleError
from engine.fusion.pog import PartialOrderGraph, build_pog
from engine.fusion.regions import RegionSpan, partition
from engine.fusion.schedule import Schedule
from engine.fusion.views import Instance, Leaf, build_views, instances, walk
from engine.program.printer import statement_text
from engine.program.types import Access, Program, Statement

JSON_VERSION = 1


@dataclass(frozen=True)
class FusedRegion:
    """Consecutive statements fused across kernel boundaries.

    Attributes
    ----------
    roots : tuple of Instance
        The view of each output.
    extents : dict
        Size of each index variable.
    chosen : tuple of str or None
        The order the schedule asks for; None leaves the first legal one.
    """

    program: Program
    name: str
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    roots: tuple[Instance, ...]
    extents: dict[str, int]
    pog: PartialOrderGraph
    chosen: tuple[str, ...] | None = None

    @property
    def indices(self) -> tuple[str, ...]:
        return self.pog.indices

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Tensors the region reads from memory."""
        names = (v.tensor for v in walk(*self.roots) if isinstance(v, Leaf))
        return tuple(dict.fromkeys(names))

    def orders(self, limit: int | None = None) -> Iterator[tuple[str, ...]]:
        """Yield legal orders: first those in which every statement runs as it reads.

        A statement reads its indices in order of first appearance, operands first, so that
        ``T[i,j] = A[i,k] * X[k,j]`` runs i, k, j unless something speaks against it.  Where that
        leaves a choice, what a statement reads is complete before it goes deeper, so that a
        maximum over m' is not taken again for each m of ``d[i,m] = S[i,m] - x[i]``.
        """
        chains = []
        for view in instances(*self.roots):
            rename = dict(view.renaming)
            chains.append([rename[x] for x in view.statement.indices])
        for view in instances(*self.roots):
            for operand in (v for v in view.operands if isinstance(v, Instance)):
                foreign = [x for x in view.local if x not in operand.local]
                chains += [[x, y] for x in operand.local for y in foreign]
        natural = self.pog.preferring(chains)

        def both() -> Iterator[tuple[str, ...]]:
            yield from natural.orders()
            place: dict[str, int]
            for order in self.pog.orders():
                place = {x: k for k, x in enumerate(order)}
                if any(place[e.outer] > place[e.inner] for e in natural.edges):
                    yield order

        yield from islice(both(), limit)

    def default_order(self) -> tuple[str, ...]:
        """The order the schedule asks for, else the first of :meth:`orders`."""
        return self.chosen or next(self.orders())

    def verify(self) -> None:
        """Check that the constraints can be satisfied, and by the chosen order if there is one.

        Raises
        ------
        OrderError
            Naming the edges at fault.
        """
        self.pog.verify()
        if self.chosen is not None:
            self.pog.check(self.chosen)

    def to_json(self) -> str:
        """Versioned JSON: statements, index variables and the edges of the POG with reasons."""
        return json.dumps(
            {
                "fuseloom": "region",
                "version": JSON_VERSION,
                "name": self.name,
                "outputs": self.outputs,
                "inputs": self.inputs,
                "views": [str(view) for view in walk(*self.roots)],
                "indices": [{"name": x, "size": self.extents[x]} for x in self.indices],
                "edges": [
                    {
                        "outer": edge.outer,
                        "inner": edge.inner,
                        "hard": edge.hard,
                        "origin": edge.origin.value,
                        "reason": edge.reason,
                    }
                    for edge in self.pog.edges
                ],
                "orders": self.pog.count(),
                "chosen": self.chosen,
            }
        )

    def __str__(self) -> str:
        lines = [f"region {self.name} -> {', '.join(self.outputs)}"]
        for view in instances(*self.roots):
            over = f"  over {','.join(view.reduced)}" if view.reduced else ""
            lines.append(f"  {_text(view)}{over}")
        lines += [f"  {edge}" for edge in self.pog.edges]
        return "\n".join(lines)


def _text(view: Instance) -> str:
    """The statement of an instance in the region's index names."""
    operands = tuple(Access(v.tensor, v.indices) for v in view.operands)
    out = Access(view.tensor, view.indices)
    axis = dict(view.renaming).get(view.statement.axis or "")
    statement = replace(view.statement, out=out, operands=operands, axis=axis)
    return statement_text(statement)


def fuse(program: Program, schedule: Schedule | None = None) -> tuple[FusedRegion, ...]:
    """Fuse a program's live statements into regions, as the schedule says.

    Raises
    ------
    ScheduleError
        If the schedule does not fit the program.
    OrderError
        If the constraints of a region form a cycle.
    """
    schedule = schedule or Schedule()
    spans = partition(program, schedule)
    user_orders = _statement_orders(program, schedule)
    regions = []
    for span in spans:
        roots, extents = build_views(program, span.statements, span.outputs)
        pog = build_pog(program, roots, extents, user_orders)
        region = FusedRegion(program, span.name, span.statements, span.outputs, roots, extents, pog)
        region.verify()
        regions.append(region)
    return tuple(_with_region_orders(regions, spans, schedule))


def _statement_orders(program: Program, schedule: Schedule) -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for order in schedule.orders:
        if order.last is not None:
            continue
        statement = program.producers.get(order.first)
        if statement is None:
            raise ScheduleError(
                f"'{order}' names no statement",
                hint=f"statements assign: {', '.join(program.producers)}",
            )
        unknown = [x for x in order.indices if x not in statement.indices]
        if unknown:
            raise ScheduleError(
                f"'{order}': {order.first} has no index {unknown[0]}",
                hint=f"its indices are {', '.join(statement.indices)}",
            )
        result[order.first] = order.indices
    return result


def _with_region_orders(
    regions: list[FusedRegion], spans: tuple[RegionSpan, ...], schedule: Schedule
) -> list[FusedRegion]:
    by_ends = {
        (s.statements[0].out.tensor, s.statements[-1].out.tensor): k for k, s in enumerate(spans)
    }
    for order in schedule.orders:
        if order.last is None:
            continue
        at = by_ends.get((order.first, order.last))
        if at is None:
            raise ScheduleError(
                f"'{order}' names no region",
                hint=f"regions: {', '.join(f'{a}..{b}' for a, b in by_ends)}",
            )
        regions[at] = replace(regions[at], chosen=order.indices)
        regions[at].verify()
    return regions
