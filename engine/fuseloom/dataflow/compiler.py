"""From a program and a schedule to one dataflow graph per region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeAlias

from fuseloom import faults
from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compilation import Compilation, CompiledRegion, finished
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.fusion.directives import (
    Parallel,
    Span,
    blamed,
    blamed_if_named,
)
from fuseloom.dataflow.fusion.fuse import (
    fuse_kinds,
    fuse_statements,
    fused_where_possible,
    less_shared,
)
from fuseloom.dataflow.fusion.pog import MOST_COUNTED, orders_text
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.regions import partition
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.search import OrderSearch, reason_for
from fuseloom.dataflow.remedies import RefusedRegion, remedies
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.renaming import RegionClass
from fuseloom.dataflow.table.build import build_table
from fuseloom.dataflow.table.cuts import TooManyCutsError
from fuseloom.errors import FuseloomError, InternalError, LoweringError, OrderError, ScheduleError
from fuseloom.program.printer import print_program
from fuseloom.program.types import Program, Statement
from fuseloom.wording import counted

MAX_ORDERS_TRIED = 2_000
PART_TRIES = 200
"""Kinds of orders tried for each part of a region that cannot be built as a whole."""
MAX_OVERCUT = 3
"""Orders that may take too many stream cuts before no other is tried: each takes long."""


def compile_region(
    region: FusedRegion,
    order: Sequence[str] | None = None,
    *,
    passes: Sequence[str] | None = None,
    tries: int = MAX_ORDERS_TRIED,
    before: CompiledBefore | None = None,
) -> CompiledRegion:
    """Compile one region.

    Without an order, the schedule's is used; without that, the first legal order that the
    machine can realise (see :meth:`FusedRegion.orders`).

    Parameters
    ----------
    passes : sequence of str, optional
        As for :func:`compile_program`.
    tries : int
        How many kinds of orders to try where none is given.
    before : CompiledBefore, optional
        Where to look whether an equal region has been compiled, and to note it.

    Raises
    ------
    OrderError, LoweringError
        If the order is illegal, or no order works (with the first reason met).
    GraphError
        If a pass is not known, or stands where it cannot.
    """
    if order is None:
        order = region.chosen
    if before is not None and passes is None:
        asked = tries if order is None else tuple(order)
        return before.get(region, asked, lambda: compile_region(region, order, tries=tries))
    if order is not None:
        return _built(region, tuple(order), passes)
    reason: FuseloomError | None = None
    search = OrderSearch(region, tries * len(region.indices))
    tried = overcut = 0
    for candidate in islice(search, tries):
        tried += 1
        try:
            return _built(region, candidate, passes)
        except (OrderError, LoweringError) as problem:
            reason = reason or problem
            overcut += isinstance(problem, TooManyCutsError)
            if overcut >= MAX_OVERCUT:
                break
            search.refuse(reason_for(region, candidate))
    if reason is None:
        raise LoweringError(
            f"region {region.name}: no legal order found in {counted(search.steps, 'step')}",
            hint="fuse fewer statements, or name an order",
        )
    refusal, first = LoweringError(f"region {region.name}: no order can be built"), reason
    every = search.exhausted and not overcut
    refusal.describe(partial(_none_built, region, tried, every, first))
    refusal.suggest(lambda: first.hint)
    raise refusal


def _none_built(region: FusedRegion, tried: int, every: bool, reason: FuseloomError) -> str:
    """The message of a region of which no order can be built.

    Parameters
    ----------
    tried : int
        Kinds of orders that were tried.
    every : bool
        Whether these were all.
    reason : FuseloomError
        The error of the first.
    """
    count = region.pog.count_within(MOST_COUNTED)
    which = f"its {orders_text(count)}" if count != 1 else "its legal orders (one)"
    if count is None or not every:
        which = f"the {counted(tried, 'kind')} tried of {orders_text(count)}"
    return (
        f"region {region.name}: none of {which} can be built; "
        f"the first fails with: {reason.message}"
    )


def _built(
    region: FusedRegion, order: tuple[str, ...], passes: Sequence[str] | None
) -> CompiledRegion:
    """A region under one order.

    An unexpected exception is reported (:mod:`fuseloom.faults`) and raised as an internal error, so
    that other orders are tried; what passes do that the caller names is the caller's.

    Raises
    ------
    OrderError, LoweringError
        If it cannot be built; an :class:`~fuseloom.errors.InternalError` for a fault of Fuseloom.
    ScheduleError
        If the schedule asks for what the region has not.
    """
    try:
        return finished(region, build_table(region, order), passes)
    except (OrderError, LoweringError, ScheduleError):
        raise
    except Exception as fault:
        if passes is not None:
            raise
        name = ",".join(order)
        what = f"order {name} of region {region.name} could not be built"
        with faults.about(program=partial(print_program, region.program)):
            report = faults.report(what, fault, region=region.name, order=name)
        raise InternalError(
            str(report), hint="take another order or fuse fewer statements, and report the error"
        ) from fault


@check_arguments
def compile_program(
    program: Program,
    schedule: Schedule | str | None = None,
    *,
    passes: Sequence[str] | None = None,
    before: CompiledBefore | None = None,
) -> Compilation:
    """Fuse a program under a schedule and lower every region.

    Parameters
    ----------
    schedule : Schedule or str, optional
        Schedule, or its text; by default every statement is a region of its own.
    passes : sequence of str, optional
        Names of the passes to run over each graph, in that order, and no others; by default
        those that stand so in :data:`fuseloom.dataflow.samml.passes.PASSES`.
    before : CompiledBefore, optional
        Regions that have been compiled under other schedules, which need not be compiled again.

    Raises
    ------
    FuseloomError
        Whatever stands in the way, naming it, the rule and the way out.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.load("spmm")[0].program
    >>> (region,) = fl.compile(program, "order T: i,k,j").regions
    >>> region.order
    ('i', 'k', 'j')
    >>> print(region.table)
        | A[i,k]                 | X[k,j]                  | T[i,j]
    ----+------------------------+-------------------------+-----------
    i   | LS(root)               | Rep(root,<A.i>)         | <A.i>
    k   | LS(<A.i>)              | Locate(<X.i>,<A.k>.crd) | reduced
    j   | (RepV)                 | LS(<X.k>)               | Acc1_k.crd
    val | RepV(Val(<A.k>),<X.j>) | Val(<X.j>)              | Acc1_k.val
    Acc1_k = Spacc1(inner=<X.j>.crd, outer=<A.k>.crd, MUL(<A.val>,<X.val>))
    """
    if schedule is None:
        schedule = Schedule()
    elif isinstance(schedule, str):
        schedule = Schedule.parse(schedule)
    with faults.about(program=partial(print_program, program), schedule=partial(str, schedule)):
        return _compile_prepared(program, schedule, passes, before)


def _compile_prepared(
    program: Program,
    schedule: Schedule,
    passes: Sequence[str] | None,
    before: CompiledBefore | None,
) -> Compilation:
    prepared, rest = prepare(program, schedule)
    build = partial(compile_region, passes=passes, before=before)
    regions: list[CompiledRegion] = []
    kinds: dict[int, RegionClass[CompiledRegion]] = {}
    for number, (region, like) in enumerate(_fused(prepared, rest, build)):
        if like in kinds:
            regions.append(_like(kinds[like], region, passes))
            continue
        made = _blamed(rest, region, build)
        if len(made) == 1 and made[0].region is region:
            kinds[number] = RegionClass(made[0].graph, region.statements, made[0])
        regions += made
    return Compilation(prepared, schedule, tuple(regions), program)


def _fused(
    program: Program, schedule: Schedule, build: _Build
) -> list[tuple[FusedRegion, int | None]]:
    """The regions of a program; where none can be fused, the error has remedies that help."""
    try:
        return fuse_kinds(program, schedule)
    except (OrderError, LoweringError) as problem:
        told = problem.hint

        def hint() -> str | None:
            refused = _without_order(program, schedule)
            return told if refused is None else remedies(refused, partial(_regions_of, build), told)

        problem.suggest(hint)
        raise


def _without_order(program: Program, schedule: Schedule) -> RefusedRegion | None:
    """The first run of statements that no order satisfies, or not the one that is asked for."""
    for span in partition(program, schedule):
        ends = span.statements[0].out.tensor, span.statements[-1].out.tensor
        asked = [o for o in schedule.orders if o.last and (o.first, o.last) == ends]
        try:
            regions = fuse_statements(program, schedule, span.statements)
            for order in asked:
                (region,) = regions
                replace(region, chosen=order.indices).verify()
        except (OrderError, LoweringError):
            chosen = asked[-1].indices if asked else None
            return RefusedRegion(program, schedule, span.statements, chosen)
    return None


def _like(
    kind: RegionClass[CompiledRegion], region: FusedRegion, passes: Sequence[str] | None
) -> CompiledRegion:
    """A region that is equal to a compiled one but for names, built when somebody looks.

    Who looks at its graph alone gets the other's, renamed.
    """
    other = kind.compiled

    def make() -> CompiledRegion:
        return _built(region, other.own_order, passes)

    def graph() -> Graph:
        return kind.graph_of(region.name, region.statements, lambda: make().graph)

    return CompiledRegion.late(
        make, {"graph": graph}, region=region, changes=other.changes, _like=other
    )


_Build: TypeAlias = Callable[..., CompiledRegion]
""":func:`compile_region`, as the program is to be compiled."""


def _compiled(
    schedule: Schedule, region: FusedRegion, build: _Build, tries: int = MAX_ORDERS_TRIED
) -> list[CompiledRegion]:
    """A region compiled; where the schedule says so and it must be, in several."""
    try:
        return [_whole(schedule, region, build, tries)]
    except (OrderError, LoweringError):
        if region.chosen is not None or len(region.statements) == 1:
            raise
        if not fused_where_possible(region.program, schedule, region.statements):
            raise
    found: list[CompiledRegion] = []
    left = region.statements
    while left:
        whole, left = _largest(region.program, schedule, left, build, len(region.statements))
        found.append(whole)
    return found


def _whole(
    schedule: Schedule,
    region: FusedRegion,
    build: _Build,
    tries: int = MAX_ORDERS_TRIED,
) -> CompiledRegion:
    try:
        return build(region, tries=tries)
    except (OrderError, LoweringError) as problem:
        if region.chosen is not None:
            raise
        # What its parts share may rule out the orders that each of them has.
        for apart in less_shared(region, schedule):
            try:
                return build(apart, tries=tries)
            except (OrderError, LoweringError):
                continue
        raise problem


def _blamed(schedule: Schedule, region: FusedRegion, build: _Build) -> list[CompiledRegion]:
    """Compile a region; what is wrong with it is told with the place of the directive at fault."""
    orders = (o for o in schedule.orders if o.last and Span(o.first, o.last).name == region.name)
    with blamed(next(orders, None)), blamed_if_named(schedule.of(Parallel)):
        try:
            return _compiled(schedule, region, build)
        except (OrderError, LoweringError) as problem:
            refused = RefusedRegion(region.program, schedule, region.statements, region.chosen)
            tried = partial(_regions_of, build)
            problem.suggest(partial(remedies, refused, tried, problem.hint))
            raise


def _regions_of(
    build: _Build,
    program: Program,
    schedule: Schedule,
    statements: Sequence[Statement],
    order: tuple[str, ...] | None,
) -> list[CompiledRegion]:
    """Some statements compiled under another schedule, in another program, or both."""
    regions = fuse_statements(program, schedule, tuple(statements))
    if order is not None:
        (region,) = regions
        region = replace(region, chosen=order)
        region.verify()
        regions = [region]
    return [made for region in regions for made in _compiled(schedule, region, build, PART_TRIES)]


def _largest(
    program: Program,
    schedule: Schedule,
    statements: tuple[Statement, ...],
    build: _Build,
    known: int,
) -> tuple[CompiledRegion, tuple[Statement, ...]]:
    """As many of the first statements as are found to make a region, and those that are left.

    So many as are ``known`` not to make one, with more orders tried, are not tried again.

    The number is doubled as long as it can be built, then found by halving, which takes it that
    what is part of a region can be built; what cannot is tried for few statements more than can.

    Raises
    ------
    OrderError, LoweringError
        If the first alone cannot be built.
    """

    def first(count: int) -> CompiledRegion:
        if count >= known:
            raise LoweringError(f"the first {counted(known, 'statement')} make no region")
        made = fuse_statements(program, schedule, statements[:count])
        if len(made) > 1:
            raise LoweringError(f"region {made[0].name} ends before {statements[count - 1].out}")
        return _whole(schedule, made[0], build, PART_TRIES)

    best, low, high = first(1), 1, len(statements) + 1
    while high - low > 1:
        middle = (low + high) // 2 if high <= len(statements) else min(2 * low, high - 1)
        try:
            best, low = first(middle), middle
        except (OrderError, LoweringError):
            high = middle
    return best, statements[low:]
