"""Schedules that differ from one by a single change: cut, fused, ordered or dealt otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.fusion.directives import (
    Fuse,
    Global,
    Locate,
    LocateLevel,
    Parallel,
    Setting,
    Span,
)
from fuseloom.dataflow.fusion.schedule import Schedule

LANES = 2
"""Lanes that an index is dealt to."""


class EditKind(Enum):
    """A kind of change."""

    CUT = "cut"
    JOIN = "join"
    ORDER = "order"
    LOCATE = "locate"
    FACTOR = "factor"
    LANES = "lanes"
    CHANNELS = "channels"
    NODE = "node"

    @property
    def hardware(self) -> bool:
        """True if the change needs hardware that the machine lacks."""
        return self in (EditKind.LANES, EditKind.CHANNELS, EditKind.NODE)


@dataclass(frozen=True)
class ScheduleDraft:
    """A schedule with one change, not yet compiled."""

    kind: EditKind
    text: str
    schedule: Schedule


def drafts(
    compilation: Compilation,
    kernels: Mapping[str, str],
    cycles: Sequence[tuple[str, float]],
    heavy: Sequence[str] = (),
) -> Iterator[ScheduleDraft]:
    """Changes to a schedule, those that are likely to help most first.

    Parameters
    ----------
    kernels : mapping
        Of tensors that statements assign the kernel, as it is drawn.
    cycles : sequence of (str, float)
        What is expected of each region.
    heavy : sequence of str
        Tensors that are computed over and over.

    Yields
    ------
    ScheduleDraft
        Regions change their orders only where one was named for them.
    """
    base = _Base.of(compilation, kernels)
    expected = dict(cycles)
    regions = sorted(compilation.regions, key=lambda r: -expected.get(r.name, 0.0))
    cuts = [(r, k) for r in regions for k in base.seams(r)]
    first = [(r, k) for r, k in cuts if base.live[k - 1] in heavy and base.live[k] not in heavy]
    yield from (base.cut(r, k) for r, k in first)
    yield from (d for r in regions for d in base.reordered(r))
    yield from (d for r in regions for d in base.located(r))
    yield from base.factored()
    yield from (d for r in regions[:2] for d in base.dealt(r))
    yield from base.joined(expected)
    yield from (base.cut(r, k) for r, k in cuts if (r, k) not in first)


@dataclass(frozen=True)
class _Base:
    """A schedule with every region and order named, and the statements that it is about."""

    schedule: Schedule
    given: Schedule
    live: tuple[str, ...]
    regions: tuple[CompiledRegion, ...]
    kernels: Mapping[str, str]

    @classmethod
    def of(cls, compilation: Compilation, kernels: Mapping[str, str]) -> _Base:
        resolved = compilation.resolved
        settings = tuple(s for s in resolved.settings if s not in compilation.stores)
        live = tuple(s.out.tensor for s in compilation.program.live)
        base = replace(resolved, settings=settings)
        return cls(base, compilation.schedule, live, compilation.regions, kernels)

    def name(self, tensor: str) -> str:
        return self.kernels.get(tensor, tensor)

    def seams(self, region: CompiledRegion) -> Iterator[int]:
        """Positions of the statements in a region with which another kernel begins."""
        first, last = _ends(region)
        for k in range(self.live.index(first) + 1, self.live.index(last) + 1):
            one, other = self.live[k - 1], self.live[k]
            if one not in self.kernels or self.kernels.get(other) != self.kernels[one]:
                yield k

    def cut(self, region: CompiledRegion, at: int) -> ScheduleDraft:
        """The region cut before the statement at a position."""
        first, last = _ends(region)
        parts = [(first, self.live[at - 1]), (self.live[at], last)]
        fusions = tuple(Fuse(a, b) for a, b in parts if a != b)
        text = f"Cut before {self.name(self.live[at])}"
        return ScheduleDraft(EditKind.CUT, text, self._without(region, fusions=fusions))

    def factored(self) -> Iterator[ScheduleDraft]:
        """Products that were merged into one, one after another again."""
        for merged in self.given.of(Global):
            if merged.region is None:
                continue
            first, last = merged.region.first, merged.region.last
            region = next((r for r in self.regions if last in _names(r)), None)
            if region is None:
                continue
            schedule = self._without(region, fusions=self._fusion(region))
            settings = tuple(s for s in schedule.settings if s != merged)
            text = f"Compute {self.name(first)} and {self.name(last)} one after another"
            yield ScheduleDraft(EditKind.FACTOR, text, replace(schedule, settings=settings))

    def joined(self, cycles: Mapping[str, float]) -> Iterator[ScheduleDraft]:
        """Two neighbouring regions fused, those that take most cycles first."""
        pairs = sorted(pairwise(self.regions), key=lambda p: -sum(cycles.get(r.name, 0) for r in p))
        for one, other in pairs:
            (first, end), (begin, last) = _ends(one), _ends(other)
            if self.live.index(end) + 1 != self.live.index(begin):
                continue
            text = f"Fuse {self.name(end)} and {self.name(begin)}"
            yield ScheduleDraft(
                EditKind.JOIN, text, self._without(one, other, fusions=(Fuse(first, last),))
            )

    def reordered(self, region: CompiledRegion) -> Iterator[ScheduleDraft]:
        """A region under its best order, where the schedule names one."""
        wished = {o.first for o in self.given.orders if o.last is None}
        mine = _names(region)
        if region.region.chosen is None and wished.isdisjoint(mine):
            return
        schedule = self._without(region, fusions=self._fusion(region))
        orders = tuple(o for o in schedule.orders if o.last is not None or o.first not in mine)
        text = f"Another order of {self._title(region)}"
        yield ScheduleDraft(EditKind.ORDER, text, replace(schedule, orders=orders))

    def located(self, region: CompiledRegion) -> Iterator[ScheduleDraft]:
        """A region whose levels may be looked up, where the schedule says that they are not."""
        if region.region.options.locate and not region.region.options.scanned:
            return
        schedule = self._without(region, fusions=self._fusion(region))
        settings = [s for s in schedule.settings if not (isinstance(s, Locate) and not s.region)]
        off = (r for r in self.regions if r is not region and not r.region.options.locate)
        settings += [Locate(False, Span(*_ends(r))) for r in off]
        text = f"Look up what {self._title(region)} scans"
        yield ScheduleDraft(EditKind.LOCATE, text, replace(schedule, settings=tuple(settings)))

    def dealt(self, region: CompiledRegion) -> Iterator[ScheduleDraft]:
        """The outermost index of a region in lanes, where none is."""
        if region.region.options.lanes:
            return
        first, last = _ends(region)
        for index in region.own_order[:1]:
            lanes = Parallel(index, LANES, Span(first, last))
            schedule = replace(self.schedule, settings=(*self.schedule.settings, lanes))
            text = f"{index} of {self._title(region)} in {LANES} lanes"
            yield ScheduleDraft(EditKind.LANES, text, schedule)

    def _title(self, region: CompiledRegion) -> str:
        first, last = (self.name(x) for x in _ends(region))
        return first if first == last else f"{first} to {last}"

    def _fusion(self, region: CompiledRegion) -> tuple[Fuse, ...]:
        first, last = _ends(region)
        return (Fuse(first, last),) if first != last else ()

    def _without(self, *regions: CompiledRegion, fusions: tuple[Fuse, ...]) -> Schedule:
        """The schedule without what it says of some regions, and with other fusions."""
        gone = {_ends(region) for region in regions}
        own = {Span(*ends) for ends in gone}

        def stays(s: Setting) -> bool:
            return not (isinstance(s, Locate | LocateLevel | Parallel) and s.region in own)

        kept = tuple(f for f in self.schedule.fusions if (f.first, f.last) not in gone)
        orders = tuple(o for o in self.schedule.orders if (o.first, o.last) not in gone)
        return Schedule(
            (*kept, *fusions),
            orders,
            tuple(s for s in self.schedule.settings if stays(s)),
        )


def _names(region: CompiledRegion) -> set[str]:
    return {s.out.tensor for s in region.region.statements}


def _ends(region: CompiledRegion) -> tuple[str, str]:
    first, _, last = region.name.partition("..")
    return first, last or first
