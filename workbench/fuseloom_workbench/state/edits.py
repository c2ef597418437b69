"""The edits of a design by a visitor: a design in, another one out."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.fusion.directives import Setting, Store
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import OrderError, ProgramError, ScheduleError
from fuseloom.models import MODELS
from fuseloom.program.printer import statement_text
from fuseloom.program.types import Program
from fuseloom_workbench.state.carrying import Recut, carried
from fuseloom_workbench.state.design import (
    BuiltDesign,
    Design,
    build,
    fences,
    live_statements,
)
from fuseloom_workbench.state.sources import (
    ARCHIVED,
    chosen_options,
    fitting_data,
    fitting_options,
    source,
)


def started(
    model: str,
    data: str | None,
    seed: int,
    schedule: str | None,
    machine: Machine | None,
) -> Design:
    """The design that a model is shown with, under the schedule it starts with or another one.

    Raises
    ------
    FuseloomError
        If there is no such model, the data do not fit, or the schedule.
    """
    if data is None:
        known = model in MODELS or ARCHIVED.fullmatch(model)
        data = fitting_data(model)[0] if known else "random"
    if schedule is None:
        schedule = starting_schedule(source(model, data, seed, None).model.presets)
    return Design.scheduled(model, data, seed, Schedule.parse(schedule), machine=machine)


def with_data(design: Design, data: str | None, seed: int | None) -> Design:
    """The design with other data, by name, or another seed; sizes stay where they fit.

    Raises
    ------
    ProgramError
        If the data do not fit.
    """
    chosen = data or design.data
    return replace(
        design,
        data=chosen,
        seed=design.seed if seed is None else seed,
        options=fitting_options(design.model, chosen, design.options),
    )


def with_schedule(design: Design, text: str, as_written: bool = False) -> Design:
    """The design with another schedule.

    Parameters
    ----------
    as_written : bool
        Whether it says everything, as that of a run does: ``Design.as_written``.

    Raises
    ------
    FuseloomError
        If it is none, or does not fit the program.
    """
    made = Design.scheduled(
        design.model, design.data, design.seed, Schedule.parse(text), design.text,
        design.machine, design.options, design.uploads,
    )  # fmt: skip
    return replace(made, as_written=as_written)


def with_pair_moved(built: BuiltDesign, first: int, second: int) -> Recut:
    """The design with both gaps cut that were not, and fused that were; the same gap counts once.

    Raises
    ------
    FuseloomError
        If there is no such gap, or a region cannot be built.
    """
    return with_cuts(built, {*built.gaps} ^ {first, second})


def with_cuts(built: BuiltDesign, gaps: Iterable[int]) -> Recut:
    """The design cut exactly at these gaps between boxes.

    Raises
    ------
    FuseloomError
        If there is no such gap, or a region cannot be built.
    """
    wanted = sorted(set(gaps))
    units = built.units
    for gap in wanted:
        if not 0 < gap < len(units):
            raise ScheduleError(
                f"there is no gap {gap} to cut",
                hint=f"a boundary stands between two kernels: 1 to {len(units) - 1}",
            )
    for gap in built.gaps:
        if gap not in wanted and (memory := _reshape_at(built, gap)):
            raise _barrier(memory)
    cuts = frozenset(units[gap].start for gap in wanted)
    kept = _settings(built, cuts)
    dropped = [str(setting) for setting in built.design.settings if setting not in kept]
    recut = carried(built, replace(built.design, cuts=cuts, settings=kept))
    return replace(recut, lost=(*dropped, *recut.lost))


def _settings(built: BuiltDesign, cuts: Collection[int]) -> tuple[Setting, ...]:
    """The design's settings but for how a tensor is stored that these cuts keep inside a region."""
    inside = {s.out.tensor: bisect(sorted(cuts), k) for k, s in enumerate(built.live)}
    leaving = set(built.program.outputs) | {
        access.tensor
        for statement in built.live
        for access in statement.operands
        if inside.get(access.tensor) != inside[statement.out.tensor]
    }
    settings = built.design.settings
    kept = (s for s in settings if not isinstance(s, Store) or s.tensor in leaving)
    return tuple(kept)


def with_boundary_moved(built: BuiltDesign, gap: int, to: int) -> Recut:
    """The design with one boundary moved to another gap.

    Raises
    ------
    FuseloomError
        If there is no boundary, another one stands between there and here, or a region cannot be
        built.
    """
    cuts = set(built.gaps)
    if gap not in cuts:
        raise ScheduleError(f"there is no boundary at gap {gap} to move")
    if to == gap:
        return Recut(built)
    if memory := _reshape_at(built, gap):
        raise _barrier(memory)
    between = range(min(gap, to), max(gap, to) + 1)
    met = next((c for c in built.gaps if c != gap and c in between), None)
    if met is not None:
        if memory := _reshape_at(built, met):
            raise _barrier(memory)
        left, right = built.units[met - 1].name, built.units[met].name
        raise ScheduleError(
            f"a boundary stands already between {left} and {right}",
            hint="remove one of them to fuse the regions",
        )
    return with_cuts(built, (cuts - {gap}) | {to})


def _reshape_at(built: BuiltDesign, gap: int) -> str:
    """The reshape on either side of a gap, by the name of its box; nothing if there is none."""
    return next((unit.name for unit in built.units[gap - 1 : gap + 1] if unit.memory), "")


def _barrier(memory: str) -> ScheduleError:
    return ScheduleError(
        f"nothing fuses across {memory}: a reshape is a fusion barrier, as memory does it",
        hint="move other boundaries up to it from either side",
    )


def with_region_order(built: BuiltDesign, region: int, order: Sequence[str]) -> Design:
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


def with_row_moved(built: BuiltDesign, region: int, row: str, to: int) -> Design:
    """The design with an index of a region at another place of its table's rows.

    Raises
    ------
    OrderError
        If the row is not the program's, the place is outside, or the region does not allow it.
    """
    return with_region_order(built, region, moved(built.regions[region], row, to))


def moved(compiled: CompiledRegion, row: str, to: int) -> list[str]:
    """A region's own indices with one of them at another place of its table's rows.

    Raises
    ------
    OrderError
        If the row is not the program's, or the place is outside.
    """
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
    return [x for x in rows if x in own]


def with_program(built: BuiltDesign, text: str) -> Design:
    """The design with edited program text; cuts and orders stay where statements are the same.

    Raises
    ------
    FuseloomError
        If the text is no program.
    """
    d = built.design
    own = replace(d, text=None).source.model.program
    edited = None if text.strip() == str(own).strip() else text
    program = replace(d, text=edited).source.model.program
    heads = {built.live[c].out.tensor for c in d.cuts}
    same = program == built.program
    live = live_statements(program, d) if same else program.live
    cuts = {k for k, s in enumerate(live) if k and s.out.tensor in heads} | fences(live)
    return replace(
        d,
        text=edited,
        cuts=frozenset(cuts),
        orders=d.orders if same else {},
        wishes=d.wishes if same else (),
        settings=d.settings if same else (),
    )


def with_options(built: BuiltDesign, given: Mapping[str, object]) -> Design:
    """The design for other sizes; cuts and orders stay where the statements are the same.

    Raises
    ------
    ProgramError
        If they do not fit, or the program was edited, whose text has its sizes.
    """
    d = built.design
    if d.text is not None:
        raise ProgramError(
            "the program was edited: its text has its sizes",
            hint="change them there, or put the model's own text back",
        )
    design = replace(d, options=chosen_options(d.model, d.data, given))
    if _statements(design.source.model.program) == _statements(built.program):
        return design
    presets = design.source.model.presets
    text = presets.get(built.preset_name) or starting_schedule(presets)
    return Design.scheduled(
        d.model, d.data, d.seed, Schedule.parse(text), None, d.machine, design.options, d.uploads
    )


def _statements(program: Program) -> list[str]:
    return [statement_text(statement) for statement in program.live]


def starting_schedule(presets: Mapping[str, str]) -> str:
    """Return the first schedule of a model: ``partial``, if it has such a preset."""
    return presets.get("partial", next(iter(presets.values()), ""))


def with_order(design: Design, region: str, order: tuple[str, ...] | None) -> Design:
    """The design with one region's order chosen, or left to be the best one (None)."""
    orders = {name: chosen for name, chosen in design.orders.items() if name != region}
    return replace(design, orders=orders if order is None else {**orders, region: order})


def region_after(shown: CompiledRegion, built: BuiltDesign) -> int:
    """Return the number of the region that now has the first statement of the one shown."""
    first = shown.region.statements[0].out.tensor
    for number, region in enumerate(built.regions):
        if any(s.out.tensor == first for s in region.region.statements):
            return number
    return 0
