"""Directives of regions, carried over to the regions that other fusion boundaries make.

An order, lanes, look-ups and mode orders are of one region.  Where a boundary is cut, moved or
removed, each region that comes of it takes what was said of those that it is a part of, or has at
least half of, in its own index names, as far as that is legal there.  What it was told before, when
it was there once, holds instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.fusion.directives import (
    Locate,
    LocateLevel,
    Order,
    Parallel,
    Permute,
    Repeat,
    Span,
)
from fuseloom.dataflow.fusion.views import instances
from fuseloom.errors import FuseloomError
from fuseloom_workbench.state.design import BuiltDesign, Design, build, compiled

RegionSetting = Locate | LocateLevel | Parallel | Permute | Repeat
RegionDirective = RegionSetting | Order


@dataclass(frozen=True)
class Recut:
    """A design with other boundaries, compiled and estimated.

    Attributes
    ----------
    lost : tuple of str
        Directives that regions which are no more had, and that the new ones cannot have.
    resumed : tuple of str
        Directives that regions had when they were there before, and have again.
    """

    built: BuiltDesign
    lost: tuple[str, ...] = ()
    resumed: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Lost and resumed directives as sentences; empty if there are none."""
        texts = (("Given up", self.lost), ("Taken up again", self.resumed))
        return " ".join(f"{what}: {'; '.join(named)}." for what, named in texts if named)


def recut(made: Design | Recut, before: BuiltDesign) -> Recut:
    """The result of an edit, built if it is not.

    Raises
    ------
    FuseloomError
        If the design cannot be built.
    """
    return made if isinstance(made, Recut) else Recut(build(made, before))


def carried(built: BuiltDesign, design: Design) -> Recut:
    """A design that differs in its boundaries, with what was said of the regions there were.

    Raises
    ------
    FuseloomError
        If the design cannot be built.
    """
    said = {region.name: list(_said(built.design, region)) for region in built.regions}
    if not any(said.values()):
        made = build(design, built)
        return Recut(made, (), tuple(map(str, _resumed(design, made.regions, said))))
    regions = compiled(design).regions
    names = {region.name for region in regions}
    gone = [r for r in built.regions if said[r.name] and r.name not in names]
    resumed = _resumed(design, regions, said)
    placed: set[RegionDirective] = set()
    candidates: list[tuple[RegionDirective, RegionDirective]] = []
    for region in regions:
        if region.name in said:
            continue
        known = {_target(d): d for d in _said(design, region)}
        for d, own in _given(region, [(old, said[old.name]) for old in gone]):
            if _target(own) not in known:
                known[_target(own)] = own
                candidates.append((d, own))
            elif known[_target(own)] == own or known[_target(own)] in resumed:
                placed.add(d)
    made, kept = _legal(design, [own for _, own in candidates], built)
    placed |= {d for d, own in candidates if own in kept}
    tried = {d for d, _ in candidates}
    lost = [str(own) for _, own in candidates if own not in kept]
    lost += [str(d) for old in gone for d in said[old.name] if d not in placed | tried]
    return Recut(made, tuple(dict.fromkeys(lost)), tuple(map(str, resumed)))


def _resumed(
    design: Design, regions: Iterable[CompiledRegion], before: Container[str]
) -> list[RegionDirective]:
    return [d for r in regions if r.name not in before for d in _said(design, r)]


def _said(design: Design, region: CompiledRegion) -> Iterator[RegionDirective]:
    """The directives that name a region."""
    first, last = (region.region.statements[k].out.tensor for k in (0, -1))
    for setting in design.settings:
        if isinstance(setting, RegionSetting) and setting.region == Span(first, last):
            yield setting
    if order := design.orders.get(region.name):
        yield Order(first, last, order)


def _target(directive: RegionDirective) -> tuple[object, ...]:
    """The part of a region that a directive decides; two with the same one exclude each other."""
    match directive:
        case Order(first, last):
            return Order, first, last
        case Parallel(index, _, region):
            return Parallel, region, index
        case LocateLevel(view, index, _, region):
            return LocateLevel, region, view, index
        case Permute(view, _, region):
            return Permute, region, view
    return type(directive), directive.region


def _given(
    region: CompiledRegion, before: Sequence[tuple[CompiledRegion, list[RegionDirective]]]
) -> Iterator[tuple[RegionDirective, RegionDirective]]:
    """What was said of earlier regions, each with what it comes to in a new one."""
    mine = {s.out.tensor for s in region.region.statements}
    first, last = (region.region.statements[k].out.tensor for k in (0, -1))
    span = Span(first, last)
    orders: list[tuple[Order, list[str]]] = []
    for old, said in before:
        theirs = {s.out.tensor for s in old.region.statements}
        if not mine <= theirs and 2 * len(mine & theirs) < len(theirs):
            continue  # most of it is elsewhere now
        names = _renamed(old, region)
        for d in said:
            match d:
                case Order():
                    orders.append((d, [names[x] for x in d.indices if x in names]))
                case Parallel(index) if index in names:
                    yield d, replace(d, index=names[index], region=span)
                case LocateLevel(view, index) if index in names and view in region.region.views:
                    yield d, replace(d, index=names[index], region=span)
                case Permute(view, indices) if view in region.region.views:
                    own = tuple(names[x] for x in indices if x in names)
                    if len(own) == len(indices):
                        yield d, replace(d, indices=own, region=span)
                case Locate() | Repeat():
                    yield d, replace(d, region=span)
    chains = [chain for _, chain in orders]
    if {x for chain in chains for x in chain} >= set(region.own_order) and chains:
        order = next(region.pog.preferring(chains).orders(1))
        own = tuple(x for x in order if x in region.own_order)
        for d, chain in orders:
            if [x for x in own if x in chain] == chain:
                yield d, Order(first, last, own)


def _renamed(old: CompiledRegion, new: CompiledRegion) -> dict[str, str]:
    """Indices of a region by what another one calls them, which has statements of it."""
    theirs, mine = _local(old), _local(new)
    found = {}
    for x, places in theirs.items():
        shared = {y: len(places & others) for y, others in mine.items() if places & others}
        if shared:
            found[x] = max(shared, key=lambda y: (shared[y], y == x))
    return found


def _local(region: CompiledRegion) -> dict[str, set[tuple[str, str]]]:
    """By index of a region, the indices of statements that it is: statement, own name."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for view in instances(*region.region.roots):
        for own, name in view.renaming:
            found[name].add((view.tensor, own))
    return found


def _legal(
    design: Design, directives: Sequence[RegionDirective], before: BuiltDesign
) -> tuple[BuiltDesign, list[RegionDirective]]:
    """The design with those directives that it can have together, the first ones first."""
    try:
        return build(_with(design, directives), before), [*directives]
    except FuseloomError:
        made, kept = build(design, before), []
    for directive in directives if len(directives) > 1 else ():
        try:
            made = build(_with(design, [*kept, directive]), before)
        except FuseloomError:
            continue
        kept.append(directive)
    return made, kept


def _with(design: Design, directives: Iterable[RegionDirective]) -> Design:
    settings, orders = [*design.settings], {**design.orders}
    for directive in directives:
        if isinstance(directive, Order):
            orders[Span(directive.first, str(directive.last)).name] = directive.indices
        else:
            settings.append(directive)
    return replace(design, settings=tuple(settings), orders=orders)
