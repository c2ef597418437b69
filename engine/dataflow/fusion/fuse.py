"""From a program and a schedule to fused regions."""

from __future__ import annotations

from dataclasses import replace

from engine.dataflow.fusion.directives import (
    Locate,
    Parallel,
    Permute,
    Repeat,
    Setting,
    Span,
    Strict,
    blamed,
    blamed_if_named,
)
from engine.dataflow.fusion.pog import Changes
from engine.dataflow.fusion.prepare import prepare
from engine.dataflow.fusion.region import FusedRegion, RegionOptions
from engine.dataflow.fusion.regions import RegionSpan, partition
from engine.dataflow.fusion.repair import Repaired, RepairKind, agree, offers_for
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.fusion.views import Instance, Leaf, build_views, view_names
from engine.errors import OrderError, ScheduleError
from engine.program.types import Program


def fuse(
    program: Program, schedule: Schedule | None = None, *, reuse_names: bool = True
) -> tuple[FusedRegion, ...]:
    """Fuse a program's live statements into regions, as the schedule says.

    Where the constraints of a region form a cycle, the preferred repair is made
    (:mod:`engine.dataflow.fusion.repair`); a region may thereby be cut in two.

    Parameters
    ----------
    reuse_names : bool
        Let the outputs of a region share reduction indices, and so views, where their
        constraints agree (see ``build_views``).

    Raises
    ------
    ScheduleError
        If the schedule does not fit the program.
    OrderError
        If the constraints of a region form a cycle that nothing breaks.
    """
    return fuse_prepared(*prepare(program, schedule or Schedule()), reuse_names=reuse_names)


def fuse_prepared(
    program: Program, schedule: Schedule, *, reuse_names: bool = True
) -> tuple[FusedRegion, ...]:
    """Fuse a program to which its schedule's ``block`` and ``global`` are already done.

    Otherwise as :func:`fuse`; ``program`` and ``schedule`` are what
    :func:`engine.dataflow.fusion.prepare.prepare` gives.
    """
    with blamed_if_named((*schedule.fusions, *schedule.orders, *schedule.settings)):
        fuser = _Fuser(program, schedule, reuse_names)
        regions = [r for span in partition(program, schedule) for r in fuser.regions(span)]
        fuser.check_used(regions)
        return tuple(fuser.ordered(regions))


class _Fuser:
    def __init__(self, program: Program, schedule: Schedule, reuse_names: bool) -> None:
        self.reuse_names = reuse_names
        self.program = program
        self.schedule = schedule
        self.user_orders = _statement_orders(program, schedule)
        self.used: set[Setting] = set()
        self.near: dict[Setting, str] = {}
        strict = schedule.of(Strict)
        self.strict = bool(strict) and strict[-1].on

    def regions(self, span: RegionSpan) -> list[FusedRegion]:
        """The region of a span, or what is left of it after the cuts that its cycles take."""
        found = self._region(span, self.reuse_names)
        if len(span.outputs) > 1 and (found.repairs or found.pog.cyclic):
            # Each output on its own may have an order where all together have none.
            apart = self._region(span, reuse_names=False)
            found = min(found, apart, key=lambda r: (bool(r.pog.cyclic), len(r.repairs)))
        roots, pog = found.roots, found.pog
        if cycle := pog.cycle():
            offers = offers_for(self.program, roots, pog, cycle)
            views = view_names(roots)
            for offer in (o for o in offers if o.kind is RepairKind.CUT):
                parts = span.cut(self.program, views[offer.view].tensor)
                if parts is None:
                    continue
                try:
                    first, second = (self.regions(part) for part in parts)
                except OrderError:
                    continue
                inside = tuple(x for x in pog.indices if x in cycle)
                first[0] = replace(
                    first[0], repairs=(*first[0].repairs, Repaired(inside, offers, offer))
                )
                return first + second
            pog.verify()
        return [found]

    def _region(self, span: RegionSpan, reuse_names: bool) -> FusedRegion:
        """A span's region, its cycles broken as far as no cut is needed."""
        roots, extents = build_views(
            self.program, span.statements, span.outputs, reuse_names=reuse_names
        )
        asked = self._asked(span, roots)
        pog, changes, repairs = agree(self.program, roots, extents, self.user_orders, asked)
        return FusedRegion(
            self.program,
            span.name,
            span.statements,
            span.outputs,
            roots,
            extents,
            pog,
            None,
            changes,
            repairs,
            self._options(span, extents),
        )

    def _applies(self, scope: Span | None, span: RegionSpan) -> bool:
        ends = (span.statements[0].out.tensor, span.statements[-1].out.tensor)
        return scope is None or (scope.first, scope.last) == ends

    def _asked(self, span: RegionSpan, roots: tuple[Instance, ...]) -> Changes:
        """The permutations that the schedule asks for."""
        changes = Changes(strict=self.strict)
        views = view_names(roots)
        for setting in self.schedule.of(Permute):
            view = views.get(setting.view)
            if view is None or not self._applies(setting.region, span):
                continue
            if sorted(setting.indices) != sorted(view.indices):
                self.near.setdefault(setting, f"in region {span.name} it is {view}")
                continue
            self.used.add(setting)
            if isinstance(view, Leaf):
                copies = {**changes.copies, setting.view: setting.indices}
                changes = replace(changes, copies=copies)
            else:
                produced = {**changes.produced, setting.view: setting.indices}
                changes = replace(changes, produced=produced)
        return changes

    def _options(self, span: RegionSpan, extents: dict[str, int]) -> RegionOptions:
        options = RegionOptions()
        for setting in self.schedule.settings:
            if not isinstance(setting, Locate | Repeat | Parallel):
                continue
            if not self._applies(setting.region, span):
                continue
            match setting:
                case Locate(on=on):
                    options = replace(options, locate=on)
                case Repeat(references=references):
                    options = replace(options, repeat_references=references)
                case Parallel(index=index, factor=factor):
                    if index not in extents:
                        indices = ", ".join(extents)
                        self.near.setdefault(setting, f"region {span.name} has {indices}")
                        continue
                    options = replace(options, lanes=(*options.lanes, (index, factor)))
            self.used.add(setting)
        return options

    def ordered(self, regions: list[FusedRegion]) -> list[FusedRegion]:
        """The regions with the orders that the schedule chooses for them."""
        by_ends = {
            (r.statements[0].out.tensor, r.statements[-1].out.tensor): k
            for k, r in enumerate(regions)
        }
        for order in self.schedule.orders:
            if order.last is None:
                continue
            at = by_ends.get((order.first, order.last))
            if at is None:
                raise ScheduleError(
                    f"'{order}' names no region",
                    hint=f"regions: {', '.join(f'{a}..{b}' for a, b in by_ends)}",
                )
            regions[at] = replace(regions[at], chosen=order.indices)
            with blamed(order):
                regions[at].verify()
        return regions

    def check_used(self, regions: list[FusedRegion]) -> None:
        """Refuse a setting that no region took up."""
        names = [r.name for r in regions]
        for setting in self.schedule.settings:
            if not isinstance(setting, Locate | Repeat | Parallel | Permute):
                continue
            if setting in self.used:
                continue
            if setting.region is not None and setting.region.name not in names:
                hint = f"regions: {', '.join(names)}"
                raise ScheduleError(f"'{setting}' names no region", hint=hint)
            if not regions:
                what = "the program has no region"
            elif isinstance(setting, Parallel):
                what = f"no region has an index {setting.index}"
            else:
                what = "no region has such a view" + (
                    f" over {', '.join(setting.indices)}" if isinstance(setting, Permute) else ""
                )
            known = ", ".join(name for r in regions for name in r.views)
            known = f"views: {known}" if known else "memory does its reshapes; leave it out"
            hint = self.near.get(setting, known)
            raise ScheduleError(f"'{setting}': {what}", hint=hint)


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
