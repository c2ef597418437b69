"""The schedule of some regions, each with one candidate, as a text."""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.dataflow.fusion.directives import (
    Fuse,
    Locate,
    LocateLevel,
    Order,
    Parallel,
    Sequenced,
    Setting,
)
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.sequence import sequence_to
from fuseloom.dataflow.space.candidates import RegionCandidate, span_of
from fuseloom.program.types import Program, Statement
from fuseloom.results.order_ideals import Units


def scheduled(
    source: Program,
    statements: Sequence[Statement],
    base: Schedule,
    regions: Sequence[tuple[Units, RegionCandidate | None]],
    alone: frozenset[int],
) -> Schedule:
    """The schedule of regions that are carried out one after another.

    Parameters
    ----------
    source : Program
        As it was given.
    statements : sequence of Statement
        Those of the program that ``base`` makes of it, in its order.
    base : Schedule
        Settings that hold throughout.
    regions : sequence of (units, candidate)
        Positions of their statements, and how they are executed; None is what memory does.
    alone : frozenset of int
        Positions of statements of whose regions a schedule has nothing to say.
    """
    fusions: list[Fuse] = []
    orders: list[Order] = []
    units = [k for own, _ in regions for k in own]
    settings: list[Setting] = [s for s in base.settings if not isinstance(s, Sequenced)]
    if units == sorted(units):
        settings[:0] = base.of(Sequenced)
    elif wanted := sequence_to(source, [statements[k].out.tensor for k in units]):
        settings.insert(0, wanted)
    for own, candidate in regions:
        if candidate is None:
            continue
        span = span_of([statements[k] for k in own])
        if len(own) > 1:
            fusions.append(Fuse(span.first, span.last))
        if not alone.isdisjoint(own):
            continue
        if candidate.ordered and candidate.order:
            orders.append(Order(span.first, span.last, candidate.order))
        if not candidate.options.locate:
            settings.append(Locate(False, span))
        settings += candidate.copies
        for view, index in sorted(candidate.options.looked_up):
            settings.append(LocateLevel(view, index, True, span))
        settings += [Parallel(index, by, span) for index, by in candidate.options.lanes]
    return Schedule(tuple(fusions), tuple(orders), tuple(settings))
