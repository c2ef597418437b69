"""Each cycle of a run attributed: to a region, a statement, an index, a node and a cause.

The critical path of a region has its cycles without a gap (:mod:`fuseloom.dataflow.sim.explain`),
so the parts of a run add up to its cycles exactly.  What a record does not tell has a part of its
own, which says so: regions that were not explained, the beginning of a path of which the log holds
the end only, and the many small rows of a summary that was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.sim.explain.critical import PathCause
from fuseloom.dataflow.why.spots import spots
from fuseloom.results.declarations import Record
from fuseloom.results.record import RegionRecord, RunRecord

SMALLER = "smaller parts"
"""Cause of cycles of which a record tells the node only."""
EARLIER = "before what the log holds"
UNEXPLAINED = "not explained"
RESHAPED = "reshaped in memory"
CAUSES = (*(why.value for why in PathCause), SMALLER, EARLIER, UNEXPLAINED, RESHAPED)
"""The causes of cycles."""


class AttributionLevel(Enum):
    """A level of the attribution, by the kind of a run's part."""

    RUN = "run"
    REGION = "region"
    STATEMENT = "statement"
    INDEX = "index"
    NODE = "node"
    CAUSE = "cause"


@dataclass(frozen=True)
class AttributedCycles(Record):
    """Cycles of a run, and the parts that they are the sum of.

    Attributes
    ----------
    name : str
        Of the region, statement, index, node or cause.
    cycles : int
    parts : tuple of AttributedCycles
        Smaller ones of the next level, the largest first; regions in the order they ran.  Where
        less is known, causes alone.
    node : int or None
        Number of a node in its region's graph.
    """

    level: AttributionLevel
    name: str
    cycles: int
    parts: tuple[AttributedCycles, ...] = ()
    node: int | None = None

    def leaves(self) -> Iterator[CauseCycles]:
        """Every cause with where it belongs."""
        yield from self._below({}, None)

    def _below(
        self, names: Mapping[AttributionLevel, str], node: int | None
    ) -> Iterator[CauseCycles]:
        names = {**names, self.level: self.name}
        node = self.node if self.node is not None else node
        if not self.parts:
            yield CauseCycles(names, self.cycles, node)
        for part in self.parts:
            yield from part._below(names, node)


@dataclass(frozen=True)
class CauseCycles:
    """Cycles of one cause, and where they belong by level, as far as that is known."""

    names: Mapping[AttributionLevel, str]
    cycles: int
    node: int | None = None

    def name(self, level: AttributionLevel) -> str:
        """Return the name of the part at a level; in angle brackets if it is not known."""
        if level in self.names:
            return self.names[level]
        cause = self.names.get(AttributionLevel.CAUSE, UNEXPLAINED)
        return f"‹{self.names[AttributionLevel.REGION]}: {cause}›"


@dataclass
class _CycleTally:
    """Cycles by where they belong, while they are counted."""

    cycles: dict[tuple[str, str, int, str, str], int] = field(default_factory=dict)

    def add(self, key: tuple[str, str, int, str, str], cycles: int) -> None:
        self.cycles[key] = self.cycles.get(key, 0) + cycles


def attribution(run: RunRecord, compilation: Compilation) -> AttributedCycles:
    """Attribute each cycle of a run to a cause.

    Parameters
    ----------
    run : RunRecord
        Regions that were run with ``explain`` are attributed to nodes, others are one part each.
    compilation : Compilation
        What was run.

    Returns
    -------
    AttributedCycles
        Of level ``RUN``; its cycles are those of the run, and every part is the sum of its own.

    Raises
    ------
    ValueError
        If the regions are not those of the compilation.
    """
    if [r.name for r in run.regions] != [r.name for r in compilation.regions]:
        raise ValueError("a run of other regions")
    regions = [
        _region(record, compiled)
        for record, compiled in zip(run.regions, compilation.regions, strict=True)
    ]
    regions += [
        AttributedCycles(
            AttributionLevel.REGION,
            s.out.tensor,
            0,
            (AttributedCycles(AttributionLevel.CAUSE, RESHAPED, 0),),
        )
        for s in compilation.program.live
        if not s.op.fuses
    ]
    return AttributedCycles(AttributionLevel.RUN, run.name, run.cycles, tuple(regions))


def _region(record: RegionRecord, compiled: CompiledRegion) -> AttributedCycles:
    path = record.path
    if path is None or path["cycles"] != record.cycles:
        alone = (AttributedCycles(AttributionLevel.CAUSE, UNEXPLAINED, record.cycles),)
        return AttributedCycles(AttributionLevel.REGION, record.name, record.cycles, alone)
    tally, belongs = _CycleTally(), spots(compiled)
    labels = [n.label or f"{n.op} {n.id}" for n in compiled.graph.nodes]
    told: dict[int, int] = {}

    def add(node: int, cause: str, cycles: int) -> None:
        spot = belongs[node]
        tally.add((spot.statement, spot.index, node, labels[node], cause), cycles)
        told[node] = told.get(node, 0) + cycles

    for row in path["summary"]:
        add(row["owner"], row["why"], row["cycles"])
    left = record.cycles - path["start"] - sum(told.values())
    for name, share in path["shares"].items():
        more = min(left, round(share * record.cycles) - told.get(int(name), 0))
        if more > 0:
            add(int(name), SMALLER, more)
            left -= more
    rest = (
        [AttributedCycles(AttributionLevel.CAUSE, EARLIER, path["start"])] if path["start"] else []
    )
    rest += [AttributedCycles(AttributionLevel.CAUSE, SMALLER, left)] if left else []
    return AttributedCycles(
        AttributionLevel.REGION, record.name, record.cycles, (*_statements(tally), *rest)
    )


def _statements(tally: _CycleTally) -> tuple[AttributedCycles, ...]:
    """The tree of what was counted, from its leaves."""
    causes = [
        ((statement, index, (node, label)), AttributedCycles(AttributionLevel.CAUSE, cause, cycles))
        for (statement, index, node, label, cause), cycles in tally.cycles.items()
    ]
    nodes = [
        (key[:2], AttributedCycles(AttributionLevel.NODE, key[2][1], _sum(parts), parts, key[2][0]))
        for key, parts in _grouped(causes).items()
    ]
    indices = [
        (key[:1], AttributedCycles(AttributionLevel.INDEX, key[1], _sum(parts), parts))
        for key, parts in _grouped(nodes).items()
    ]
    statements = [
        ((), AttributedCycles(AttributionLevel.STATEMENT, key[0], _sum(parts), parts))
        for key, parts in _grouped(indices).items()
    ]
    return _grouped(statements).get((), ())


def _grouped(
    parts: Sequence[tuple[Any, AttributedCycles]],
) -> dict[Any, tuple[AttributedCycles, ...]]:
    """Parts by their key, the largest first."""
    groups: dict[Any, list[AttributedCycles]] = {}
    for key, part in parts:
        groups.setdefault(key, []).append(part)
    return {key: tuple(sorted(g, key=lambda p: -p.cycles)) for key, g in groups.items()}


def _sum(parts: Sequence[AttributedCycles]) -> int:
    return sum(part.cycles for part in parts)
