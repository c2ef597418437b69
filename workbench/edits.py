"""What a visitor does to the fusion and the orders of a design: a design in, another one out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.errors import OrderError, ScheduleError
from workbench.design import Built, Design, build, with_order


def with_cuts(built: Built, gaps: Iterable[int]) -> Design:
    """The design cut exactly at these gaps between boxes.

    Raises
    ------
    ScheduleError
        If there is no such gap.
    """
    wanted = sorted(set(gaps))
    units = built.units
    for gap in wanted:
        if not 0 < gap < len(units):
            raise ScheduleError(
                f"there is no gap {gap} to cut",
                hint=f"a boundary stands between two kernels: 1 to {len(units) - 1}",
            )
    return replace(built.design, cuts=frozenset(units[gap].start for gap in wanted))


def with_boundary_moved(built: Built, gap: int, to: int) -> Design:
    """The design with one boundary moved to another gap.

    Raises
    ------
    ScheduleError
        If there is no boundary, or another one stands between there and here.
    """
    cuts = set(built.gaps)
    if gap not in cuts:
        raise ScheduleError(f"there is no boundary at gap {gap} to move")
    if to == gap:
        return built.design
    between = range(min(gap, to), max(gap, to) + 1)
    met = next((c for c in built.gaps if c != gap and c in between), None)
    if met is not None:
        left, right = built.units[met - 1].name, built.units[met].name
        raise ScheduleError(
            f"a boundary stands already between {left} and {right}",
            hint="remove one of them to fuse the regions",
        )
    return with_cuts(built, (cuts - {gap}) | {to})


def with_region_order(built: Built, region: int, order: Sequence[str]) -> Design:
    """The design with a region's dataflow order, outermost index first.

    Raises
    ------
    OrderError
        If the region does not allow it.
    """
    compiled = built.regions[region]
    wanted = tuple(order)
    compiled.pog.check(wanted)
    free = with_order(built.design, compiled.name, None)
    usual = build(free, built).region_order(region)
    return free if wanted == usual else with_order(free, compiled.name, wanted)


def with_row_moved(built: Built, region: int, row: str, to: int) -> Design:
    """The design with an index of a region at another place of its table's rows.

    Raises
    ------
    OrderError
        If the row is not the program's, the place is outside, or the region does not allow it.
    """
    compiled = built.regions[region]
    rows = list(compiled.order)
    if row not in compiled.region.indices:
        raise OrderError(
            f"row {row} cannot be moved by itself: the compiler added it",
            hint="it follows the index it is named after",
        )
    if not 0 <= to < len(rows):
        edge = "outermost" if to < 0 else "innermost"
        raise OrderError(f"{row} is the {edge} index already")
    rows.insert(to, rows.pop(rows.index(row)))
    own = set(compiled.region.indices)
    return with_region_order(built, region, [x for x in rows if x in own])
