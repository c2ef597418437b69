"""Remedies for a region that cannot be built: changes of the schedule or program that were tried.

What stands in the way of a region is known where it shows, a way around it only when a region
has been built under it.  So each remedy is compiled before it is told, within a budget of time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations
from typing import TypeAlias

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.fusion.directives import Fuse, Order, Parallel, Permute
from fuseloom.dataflow.fusion.regions import partition
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import FuseloomError
from fuseloom.program.printer import declaration
from fuseloom.program.types import BroadcastAdd, Program, Statement

SECONDS = 1.0
"""Processor time after which no other remedy is tried."""
MOST = 2
"""Remedies told."""
MODE_ORDERS = 8
"""Other orders of levels tried of the inputs."""

_GUESSES = ("cut ", "move ", "fuse ", "store ", "declare ", "use 'option", "'permute")
"""Beginnings of hints that say what may help: they are told only if it was tried."""

Build: TypeAlias = Callable[
    [Program, Schedule, Sequence[Statement], tuple[str, ...] | None], list[CompiledRegion]
]
"""Compiles the regions of some statements of a program under a schedule and maybe an order."""


@dataclass(frozen=True)
class RefusedRegion:
    """A run of statements that makes no region, or none under the order that was asked for.

    Attributes
    ----------
    schedule : Schedule
        What is left of it after its directives that change the program.
    order : tuple of str, optional
        The order that the schedule asks for.
    """

    program: Program
    schedule: Schedule
    statements: tuple[Statement, ...]
    order: tuple[str, ...] | None


def remedies(
    refused: RefusedRegion, build: Build, hint: str | None = None, seconds: float = SECONDS
) -> str | None:
    """Return remedies that help, the smallest change first; None if none was found.

    Parameters
    ----------
    hint : str, optional
        What has been said where the region was refused; it is kept if it is no guess.
    build : callable
        Compiles, and raises a :class:`~fuseloom.errors.FuseloomError` where it cannot.
    seconds : float
        Processor time after which no other is tried.
    """
    until = time.process_time() + seconds
    found = [] if hint is None or hint.startswith(_GUESSES) else [hint]
    for attempt in (_other_order, _cut, _permuted, _without, _stored, _dense_sums):
        if len(found) == MOST or time.process_time() > until:
            break
        text = next(attempt(refused, build), None)
        if text is not None:
            found.append(text)
    return "; or ".join(found) or None


def _tried(
    build: Build,
    program: Program,
    schedule: Schedule,
    statements: Sequence[Statement],
    order: tuple[str, ...] | None,
) -> list[CompiledRegion] | None:
    try:
        return build(program, schedule, statements, order)
    except FuseloomError:
        return None


def _everywhere(refused: RefusedRegion, build: Build, program: Program, schedule: Schedule) -> bool:
    """Return whether all regions can be built in a changed program, which may cut none."""
    ends = _ends(refused.statements)
    for span in partition(program, schedule):
        order = refused.order if _ends(span.statements) == ends else None
        if not _tried(build, program, schedule, span.statements, order):
            return False
    return True


def _ends(statements: Sequence[Statement]) -> tuple[str, str]:
    return statements[0].out.tensor, statements[-1].out.tensor


def _other_order(refused: RefusedRegion, build: Build) -> Iterator[str]:
    """Another order of the region, where the schedule names one."""
    if refused.order is None:
        return
    made = _tried(build, refused.program, refused.schedule, refused.statements, None)
    if made and len(made) == 1 and made[0].own_order:
        yield f"take '{Order(*_ends(refused.statements), made[0].own_order)}'"


def _wishes(refused: RefusedRegion) -> list[Order]:
    """The orders that the schedule asks for of single statements of the region."""
    names = {s.out.tensor for s in refused.statements}
    return [o for o in refused.schedule.orders if o.last is None and o.first in names]


def _permuted(refused: RefusedRegion, build: Build) -> Iterator[str]:
    """Inputs and outputs stored in the order that the schedule names."""
    program, schedule = refused.program, refused.schedule
    wishes = _wishes(refused)
    order = refused.order
    if order is None and len(wishes) == len(refused.statements) == 1:
        order = wishes[0].indices
    free = replace(schedule, orders=tuple(o for o in schedule.orders if o not in wishes))
    made = None if order is None else _tried(build, program, free, refused.statements, None)
    if order is None or not made or len(made) != 1:
        return
    rank = {x: k for k, x in enumerate(order)}
    texts: list[str] = []
    settings: list[Permute] = []
    region = made[0].region
    for name, view in region.views.items():
        tensor = program.tensor(view.tensor)
        if not set(view.indices) <= rank.keys():
            continue
        wanted = tuple(sorted(view.indices, key=lambda x: rank[x]))
        stored = tuple(view.indices[m] for m in tensor.format.mode_order)
        if stored == wanted or tensor.format.all_dense:
            continue
        if tensor.name in program.given:
            settings.append(Permute(name, wanted))
            texts.append(f"'{settings[-1]}'")
        elif tensor.name in region.outputs:
            modes = tuple(map(view.indices.index, wanted))
            other = replace(tensor, format=replace(tensor.format, mode_order=modes))
            program = program.with_tensor(other)
            own = f" (with a line of its own that assigns {tensor.name})"
            texts.append(
                f"declare '{declaration(other)}'{'' if tensor.name in program.outputs else own}"
            )
    schedule = replace(schedule, settings=(*schedule.settings, *settings))
    if texts and _tried(build, program, schedule, refused.statements, refused.order):
        yield " and ".join(texts)


def _without(refused: RefusedRegion, build: Build) -> Iterator[str]:
    """The schedule without one of the directives that ask something of the region."""
    for wish in _wishes(refused):
        schedule = replace(
            refused.schedule, orders=tuple(o for o in refused.schedule.orders if o is not wish)
        )
        if _tried(build, refused.program, schedule, refused.statements, refused.order):
            yield f"leave out '{wish}'"
    for setting in refused.schedule.settings:
        if isinstance(setting, Permute | Parallel):
            rest = tuple(s for s in refused.schedule.settings if s is not setting)
            schedule = replace(refused.schedule, settings=rest)
            if _tried(build, refused.program, schedule, refused.statements, refused.order):
                yield f"leave out '{setting}'"


def _cut(refused: RefusedRegion, build: Build) -> Iterator[str]:
    """The fewest regions that are found to make the statements."""
    if len(refused.statements) == 1:
        return
    first, last = _ends(refused.statements)
    soft = tuple(replace(f, where_possible=True) for f in refused.schedule.fusions)
    schedule = replace(refused.schedule, fusions=soft or (Fuse(first, last, True),))
    began = time.process_time()
    made = _tried(build, refused.program, schedule, refused.statements, None)
    if not made or len(made) == 1:
        return
    long = time.process_time() - began > SECONDS  # then each part has been built once, and no more
    ends = [_ends(r.region.statements) for r in made]
    hard = replace(refused.schedule, fusions=tuple(Fuse(a, b) for a, b in ends if a != b))
    for part in [] if long else made:
        again = _tried(build, refused.program, hard, part.region.statements, None)
        if again is None or len(again) > 1:
            return
    before, behind = _beside(refused)
    ends = [*before, *ends, *behind]
    texts = [str(Fuse(a, b)) for a, b in ends if a != b]
    if refused.order is not None:
        texts.append("without the order of the whole")
    after = ", ".join(b for _, b in ends[:-1])
    yield f"cut the region after {after}" + (f": {'; '.join(texts)}" if texts else "")


def _beside(refused: RefusedRegion) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The ends of what the schedule fuses with the region, and the compiler has cut off."""
    live = [s.out.tensor for s in refused.program.live]
    first, last = (live.index(end) for end in _ends(refused.statements))
    for fusion in refused.schedule.fusions:
        start, end = live.index(fusion.first), live.index(fusion.last)
        if start <= first and last <= end:
            before = [(live[start], live[first - 1])] if start < first else []
            behind = [(live[last + 1], live[end])] if last < end else []
            return before, behind
    return [], []


def _stored(refused: RefusedRegion, build: Build) -> Iterator[str]:
    """One of the inputs stored in another mode order."""
    read = dict.fromkeys(a.tensor for s in refused.statements for a in s.operands)
    others = (
        (tensor, order)
        for tensor in map(refused.program.tensor, read)
        if tensor.name in refused.program.inputs and not tensor.format.all_dense
        for order in permutations(range(tensor.rank))
        if order != tensor.format.mode_order
    )
    for tensor, order in islice(others, MODE_ORDERS):
        other = replace(tensor, format=replace(tensor.format, mode_order=order))
        program = refused.program.with_tensor(other)
        if _everywhere(refused, build, program, refused.schedule):
            yield f"declare '{declaration(other)}'"


def _dense_sums(refused: RefusedRegion, build: Build) -> Iterator[str]:
    """Sums that broadcast, formed at every coordinate."""
    if refused.program.broadcast_add is BroadcastAdd.DENSE:
        return
    if any(s.op.unites and len({frozenset(a.indices) for a in s.operands}) > 1
           for s in refused.statements):  # fmt: skip
        program = replace(refused.program, broadcast_add=BroadcastAdd.DENSE)
        if _everywhere(refused, build, program, refused.schedule):
            yield "use 'option broadcast_add dense'"
