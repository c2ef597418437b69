"""From a program and a schedule to fused regions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import TypeVar

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.fusion.alike import Kinds
from fuseloom.dataflow.fusion.directives import (
    Locate,
    LocateLevel,
    Parallel,
    Permute,
    Repeat,
    Setting,
    Span,
    Store,
    Strict,
    blamed,
    blamed_if_named,
)
from fuseloom.dataflow.fusion.pog import Changes
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.region import FusedRegion, RegionOptions
from fuseloom.dataflow.fusion.regions import RegionSpan, partition, statement_orders
from fuseloom.dataflow.fusion.repair import Repair, Repaired, RepairKind, agree, offers_for
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.view_builder import SharingPreference, TooManyViewsError, build_views
from fuseloom.dataflow.fusion.views import Instance, Leaf, view_names
from fuseloom.errors import ScheduleError
from fuseloom.program.types import Program, Statement

MAX_CUTS_TRIED = 64
"""Places tried for a cut where constraints form a cycle; of more, so many evenly spread."""

_T = TypeVar("_T")


@check_arguments
def fuse(
    program: Program,
    schedule: Schedule | None = None,
    *,
    share: SharingPreference = SharingPreference.ALL,
) -> tuple[FusedRegion, ...]:
    """Fuse a program's live statements into regions, as the schedule says.

    Where the constraints of a region form a cycle, the preferred repair is made
    (:mod:`fuseloom.dataflow.fusion.repair`); a region may thereby be cut in two.

    Parameters
    ----------
    share : SharingPreference
        What the outputs of a region may have in common where their constraints agree; where
        they do not, less is tried.

    Raises
    ------
    ScheduleError
        If the schedule does not fit the program.
    OrderError
        If the constraints of a region form a cycle that nothing breaks.

    Examples
    --------
    >>> import fuseloom as fl
    >>> gcn, _ = fl.load("gcn", "karate")
    >>> for region in fl.fuse(gcn.program, fl.Schedule.parse(gcn.presets["partial"])):
    ...     print(region.name, region.default_order(), region.pog.count())
    T1..H ('i', 'k', 'p', 'n') 5
    T5..Y ('i', 'k', 'n', 'm') 1
    """
    return fuse_prepared(*prepare(program, schedule or Schedule()), share=share)


def fuse_prepared(
    program: Program, schedule: Schedule, *, share: SharingPreference = SharingPreference.ALL
) -> tuple[FusedRegion, ...]:
    """Fuse a program to which its schedule's ``block`` and ``global`` are already done.

    Otherwise as :func:`fuse`; ``program`` and ``schedule`` are what
    :func:`fuseloom.dataflow.fusion.prepare.prepare` gives.
    """
    with blamed_if_named((*schedule.fusions, *schedule.orders, *schedule.settings)):
        fuser = _Fuser(program, schedule, share)
        regions = [r for span in partition(program, schedule) for r in fuser.regions(span)]
        fuser.check_used(regions)
        return tuple(fuser.ordered(regions))


def fuse_kinds(program: Program, schedule: Schedule) -> list[tuple[FusedRegion, int | None]]:
    """As :func:`fuse_prepared`; of regions equal but for names only the first is fused now.

    Returns
    -------
    list of (region, number)
        The number is that of the region before it that it is like; None where there is none.  Of
        one that is like another only what the program says is known; the rest is made when
        somebody looks (:class:`~fuseloom.program.late_fields.LateFields`).
    """
    with blamed_if_named((*schedule.fusions, *schedule.orders, *schedule.settings)):
        fuser = _Fuser(program, schedule, SharingPreference.ALL)
        kinds = Kinds(program, schedule, fuser.user_orders)
        first: dict[Hashable, tuple[int, tuple[Setting, ...]]] = {}
        regions: list[FusedRegion] = []
        like: list[int | None] = []
        for span in partition(program, schedule):
            key, settings = kinds.key(span), kinds.settings(span)
            at, theirs = first.get(key, (None, ()))
            if at is not None:
                pairs = zip(settings, theirs, strict=True)
                fuser.used.update(mine for mine, their in pairs if their in fuser.used)
                regions.append(fuser.late(span, kinds.chosen(span)))
                like.append(at)
                continue
            made = fuser.regions(span)
            if len(made) == 1 and fuser.near.keys().isdisjoint(settings):
                first[key] = len(regions), settings
            regions += made
            like += [None] * len(made)
        fuser.check_used(regions)
        return list(zip(fuser.ordered(regions), like, strict=True))


def less_shared(region: FusedRegion, schedule: Schedule) -> Iterator[FusedRegion]:
    """The same region with less that its parts have in common, where an order may exist.

    Only what differs from what was there before: a region whose parts share nothing is given no
    second time.  ``schedule`` is the one that the region was fused under, as for
    :func:`fuse_prepared`.
    """
    fuser = _Fuser(region.program, schedule, SharingPreference.ALL)
    span = RegionSpan(region.name, region.statements, region.outputs)
    seen = {_extent(region)}
    for share in SharingPreference.ALL.less(len(span.outputs)):
        made = fuser.region(span, share)
        if not made.pog.cyclic and _extent(made) not in seen:
            seen.add(_extent(made))
            yield made


def _extent(region: FusedRegion) -> tuple[int, tuple[str, ...], str]:
    """Return a measure of a region's size; less sharing makes it larger."""
    return len(region.views), tuple(region.extents), str(region)


def fuse_statements(
    program: Program, schedule: Schedule, statements: tuple[Statement, ...]
) -> list[FusedRegion]:
    """The region of a run of consecutive statements, whatever the schedule fuses; or more.

    Raises
    ------
    OrderError
        If the constraints of a region form a cycle that nothing breaks.
    """
    return _Fuser(program, schedule, SharingPreference.ALL).regions(
        RegionSpan.of(program, statements)
    )


def fused_where_possible(
    program: Program, schedule: Schedule, statements: tuple[Statement, ...]
) -> bool:
    """Return whether one ``fuse … where possible`` is what fuses these statements."""
    place = {s.out.tensor: k for k, s in enumerate(program.live)}
    first, last = (place[s.out.tensor] for s in (statements[0], statements[-1]))
    return any(
        f.where_possible and place[f.first] <= first and last <= place[f.last]
        for f in schedule.fusions
    )


class _Fuser:
    def __init__(self, program: Program, schedule: Schedule, share: SharingPreference) -> None:
        self.share = share
        self.program = program
        self.schedule = schedule
        self.user_orders = statement_orders(program, schedule)
        self.used: set[Setting] = set()
        self.near: dict[Setting, str] = {}
        self.known: dict[str, FusedRegion] = {}
        strict = schedule.of(Strict)
        self.strict = bool(strict) and strict[-1].on

    def regions(self, span: RegionSpan) -> list[FusedRegion]:
        """The region of a span, or what is left of it after the cuts that its cycles take.

        One cut that ends all cycles is preferred, then one that leaves as long a region without
        any before it as there is; what is behind it is cut further.
        """
        done: list[FusedRegion] = []
        rest: RegionSpan | None = span
        while rest is not None:
            try:
                found = self._best(rest)
            except TooManyViewsError:
                parts = self._longest(rest) if self._soft(rest) else None
                if parts is None:
                    raise
                done.append(self._best(parts[0]))
                rest = parts[1]
                continue
            cut = self._cut(rest, found) if found.pog.cyclic else None
            if cut is None and found.pog.cyclic and self._soft(rest):
                parts = self._longest(rest)
                if parts is not None:
                    done.append(self._best(parts[0]))
                    rest = parts[1]
                    continue
            if cut is None:
                found.pog.verify()
                return [*done, found]
            offers, offer, first, rest = cut
            cycle = found.pog.cycle()
            inside = tuple(x for x in found.pog.indices if x in cycle)
            made = self._best(first)
            done.append(replace(made, repairs=(*made.repairs, Repaired(inside, offers, offer))))
        return done

    def late(self, span: RegionSpan, chosen: tuple[str, ...] | None) -> FusedRegion:
        """The region of a span like which another one has been, fused when somebody looks."""

        def make() -> FusedRegion:
            (found,) = self.regions(span)
            return replace(found, chosen=chosen)

        return FusedRegion.late(
            make,
            program=self.program,
            name=span.name,
            statements=span.statements,
            outputs=span.outputs,
            chosen=chosen,
        )

    def _cut(
        self, span: RegionSpan, found: FusedRegion
    ) -> tuple[tuple[Repair, ...], Repair, RegionSpan, RegionSpan] | None:
        """All offers for a region's first cycle, the cut to make, and the spans beside it."""
        offers = offers_for(self.program, found.roots, found.pog, found.pog.cycle())
        names = {offer.view: found.views[offer.view].tensor for offer in offers}
        place = {s.out.tensor: k for k, s in enumerate(span.statements)}
        longest: tuple[Repair, RegionSpan, RegionSpan] | None = None
        cuts = {names[o.view]: o for o in reversed(offers) if o.kind is RepairKind.CUT}
        for name, offer in _thinned([*reversed(cuts.items())], MAX_CUTS_TRIED):
            parts = span.cut(self.program, name)
            if parts is None or not self._has_order(parts[0]):
                continue
            if self._has_order(parts[1]):
                return offers, offer, *parts
            if longest is None or place[name] >= len(longest[1].statements):
                longest = (offer, *parts)
        return None if longest is None else (offers, *longest)

    def _soft(self, span: RegionSpan) -> bool:
        """Return whether the schedule fuses these statements only where that is possible."""
        return fused_where_possible(self.program, self.schedule, span.statements)

    def _longest(self, span: RegionSpan) -> tuple[RegionSpan, RegionSpan] | None:
        """The span cut after as many statements as have an order together."""
        names = [s.out.tensor for s in span.statements[:-1]]
        cuts = (span.cut(self.program, name) for name in _thinned(names[::-1], MAX_CUTS_TRIED))
        tried = [parts for parts in cuts if parts is not None]
        # The fewer statements, the fewer views, so that most of the large ones need no look.
        first = bisect_left(tried, True, key=lambda parts: self._has_few_views(parts[0]))
        return next((parts for parts in tried[first:] if self._has_order(parts[0])), None)

    def _has_few_views(self, span: RegionSpan) -> bool:
        try:
            self._best(span)
        except TooManyViewsError:
            return False
        return True

    def _has_order(self, span: RegionSpan) -> bool:
        try:
            return not self._best(span).pog.cyclic
        except TooManyViewsError:
            return False

    def _best(self, span: RegionSpan) -> FusedRegion:
        """A span's region: its outputs share what leaves the fewest cycles and repairs."""
        if span.name not in self.known:
            found = self.region(span, self.share)
            for share in self.share.less(len(span.outputs)):
                # Repaired is well enough, unless outputs on their own take fewer repairs.
                fewer = found.repairs and share is not SharingPreference.APART
                if not (found.pog.cyclic or fewer):
                    continue
                apart = self.region(span, share)
                found = min(found, apart, key=lambda r: (bool(r.pog.cyclic), len(r.repairs)))
            self.known[span.name] = found
        return self.known[span.name]

    def region(self, span: RegionSpan, share: SharingPreference) -> FusedRegion:
        """A span's region, its cycles broken as far as no cut is needed."""
        roots, extents = build_views(self.program, span.statements, span.outputs, share=share)
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
            self._options(span, extents, roots),
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

    def _options(
        self, span: RegionSpan, extents: dict[str, int], roots: tuple[Instance, ...]
    ) -> RegionOptions:
        options = RegionOptions()
        views = view_names(roots)
        for setting in self.schedule.settings:
            if not isinstance(setting, Locate | LocateLevel | Repeat | Parallel):
                continue
            if not self._applies(setting.region, span):
                continue
            match setting:
                case Locate(on=on):
                    options = replace(options, locate=on)
                case LocateLevel(view=view, index=index, on=on):
                    if view not in views:
                        continue
                    if not isinstance(views[view], Leaf):
                        what = (
                            f"region {span.name} computes {view}; only what it reads is looked up"
                        )
                        self.near.setdefault(setting, what)
                        continue
                    if index not in views[view].indices:
                        self.near.setdefault(setting, f"in region {span.name} it is {views[view]}")
                        continue
                    options = options.with_level(view, index, on)
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
            if regions[at].chosen is not None:  # another like it has been seen to be right
                continue
            regions[at] = replace(regions[at], chosen=order.indices)
            with blamed(order):
                regions[at].verify()
        return regions

    def check_used(self, regions: list[FusedRegion]) -> None:
        """Refuse a setting that no region took up."""
        names = [r.name for r in regions]
        self._check_stores(regions)
        for setting in self.schedule.settings:
            if not isinstance(setting, Locate | LocateLevel | Repeat | Parallel | Permute):
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

    def _check_stores(self, regions: list[FusedRegion]) -> None:
        """Refuse to say how what no region writes is stored."""
        if any(fusion.where_possible for fusion in self.schedule.fusions):
            return  # there may be more cuts
        for store in self.schedule.of(Store):
            home = next((r for r in regions if store.tensor in _assigned(r)), None)
            if home is not None and store.tensor not in home.outputs:
                raise ScheduleError(
                    f"'{store}': {store.tensor} never leaves the region {home.name}",
                    hint=f"leave it out, or write 'materialise {store.tensor}'",
                )


def _assigned(region: FusedRegion) -> set[str]:
    return {s.out.tensor for s in region.statements}


def _thinned(some: list[_T], most: int) -> list[_T]:
    """At most so many of a list, evenly spread."""
    return some[:: -(-len(some) // most)] if some else []
