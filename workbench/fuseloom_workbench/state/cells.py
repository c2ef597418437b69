"""The choices at a cell of the fusion table: directives that lower it otherwise.

A cell is where a column, that is one use of a tensor, and an index meet.  What the schedule may say
about it is a handful of directives (``docs/spec/fusion.md`` §3.3): a level is scanned or looked up,
an operand that lacks the index repeats references or values, the index is dealt to lanes, a
computed tensor is written to memory, or what is written is stored dense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.fusion.directives import (
    LocateLevel,
    Parallel,
    Repeat,
    Setting,
    Span,
    Store,
)
from fuseloom.dataflow.table.cells import VALUE_ROW, CellKind, Column
from fuseloom.errors import ScheduleError
from fuseloom.program.formats import LevelFormat
from fuseloom.wording import counted
from fuseloom_workbench.state.carrying import Recut
from fuseloom_workbench.state.design import BuiltDesign, Design
from fuseloom_workbench.state.edits import with_cuts

LANES = (2, 4)
"""Lanes that the menu of a cell offers; the schedule's text takes others."""
_LEVELS = (CellKind.SCAN, CellKind.JOIN, CellKind.LOCATE, CellKind.SEARCH)
_REPEATED = (CellKind.REPEAT, CellKind.VALUE_REPEAT)


@dataclass(frozen=True)
class CellChoice:
    """One entry of a cell's menu.

    Attributes
    ----------
    key : str
        What it is asked for by.
    text, says : str
        In the menu, and what it means.
    chosen : bool
        Whether the schedule says so already.
    design : callable
        The design with it.
    """

    key: str
    text: str
    says: str
    chosen: bool
    design: Callable[[], Design | Recut]


def choices(built: BuiltDesign, region: int, column: str, row: str) -> tuple[CellChoice, ...]:
    """Return the choices of the schedule at a cell, in the order of the menu."""
    compiled = built.regions[region]
    cell = compiled.table.cells.get((column, row))
    found = next((c for c in compiled.table.columns if c.name == column), None)
    if cell is None or found is None:
        return ()
    menu = _Menu(built, compiled)
    made: list[CellChoice] = []
    if found.leaf and cell.kind in _LEVELS:
        made += menu.level(column, row)
    if cell.kind in _REPEATED:
        made += menu.repeated()
    if row in compiled.region.indices and cell.kind is not CellKind.PASS:
        made += menu.lanes(row)
    if not found.leaf and row == VALUE_ROW:
        made += menu.computed(found)
    return tuple(made)


def with_choice(built: BuiltDesign, region: int, column: str, row: str, key: str) -> Design | Recut:
    """The design with an entry of a cell's menu.

    Raises
    ------
    ScheduleError
        If the cell has no such entry.
    """
    for choice in choices(built, region, column, row):
        if choice.key == key:
            return choice.design()
    raise ScheduleError(
        f"cell {column}.{row} has no choice {key!r}", hint="open its menu again: the table changed"
    )


class _Menu:
    """Entries about one region."""

    def __init__(self, built: BuiltDesign, region: CompiledRegion) -> None:
        self.built = built
        self.region = region
        statements = region.region.statements
        self.span = Span(statements[0].out.tensor, statements[-1].out.tensor)
        self.settings = built.design.settings

    def level(self, view: str, index: str) -> Iterator[CellChoice]:
        """Scan a level of a view, look it up at the coordinates of others, or what is cheaper."""

        on, off = (LocateLevel(view, index, on, self.span) for on in (True, False))

        def mine(s: Setting) -> bool:
            return s in (on, off)

        said = next((s == on for s in self.settings if mine(s)), None)
        yield self._choice(
            "scan", f"Scan {view}.{index}", "Walk through all that the level stores.",
            said is False, mine, off,
        )  # fmt: skip
        yield self._choice(
            "locate", f"Look {view}.{index} up", "Ask the level for the coordinates of the other "
            "operands: a dense level by position, a compressed one by searching.",
            said is True, mine, on,
        )  # fmt: skip
        if said is not None:
            yield self._choice(
                "level", f"Leave {view}.{index} to the compiler",
                "Looked up where the estimate says that it is faster.", False, mine, None,
            )  # fmt: skip

    def repeated(self) -> Iterator[CellChoice]:
        """Yield the choices of repetition over indices that an operand lacks."""

        def mine(s: Setting) -> bool:
            return isinstance(s, Repeat) and s.region == self.span

        now = self.region.region.options.repeat_references
        yield self._choice(
            "references", "Repeat references", "References are repeated, and the value is loaded "
            "again each time; holds for the whole region.",
            now, mine, Repeat(True, self.span),
        )  # fmt: skip
        yield self._choice(
            "values", "Repeat values", "The value is loaded once and repeated; holds for the "
            "whole region.",
            not now, mine, Repeat(False, self.span),
        )  # fmt: skip

    def lanes(self, index: str) -> Iterator[CellChoice]:
        """Deal an index to lanes."""

        def mine(s: Setting) -> bool:
            return isinstance(s, Parallel) and s.index == index and s.region == self.span

        now = dict(self.region.region.options.lanes).get(index, 1)
        for lanes in LANES:
            yield self._choice(
                f"lanes {lanes}", f"Deal {index} to {counted(lanes, 'lane')}",
                f"What comes after {index} is built {lanes} times; each lane takes its share of "
                "the coordinates.",
                now == lanes, mine, Parallel(index, lanes, self.span),
            )  # fmt: skip
        if now > 1:
            yield self._choice("lanes 1", f"One lane for {index}", "No copies.", False, mine, None)

    def computed(self, column: Column) -> Iterator[CellChoice]:
        """Write a computed tensor to memory, and how what is written is stored."""
        tensor = column.statement
        names = [s.out.tensor for s in self.region.region.statements]
        ends = {unit.statements[-1]: gap for gap, unit in enumerate(self.built.units, start=1)}
        if tensor in names[:-1] and tensor in ends:
            gaps = {*self.built.gaps, ends[tensor]}
            yield CellChoice(
                "write", f"Write {tensor} to memory", "Cuts the region after it: it is stored, "
                "and the next region reads it.",
                False, lambda: with_cuts(self.built, gaps),
            )  # fmt: skip
        read = any(tensor in (x.tensor for x in s.operands) for s in self.built.live)
        if tensor not in self.region.region.outputs or not read:
            return

        stored = [s for s in self.settings if isinstance(s, Store) and s.tensor == tensor]

        def mine(s: Setting) -> bool:
            return s in stored

        words = {
            LevelFormat.DENSE: "every level dense, which needs no coordinates; only what is "
            "complete whatever the data can be",
            LevelFormat.COMPRESSED: "every level compressed",
        }
        for level, says in words.items():
            yield self._choice(
                f"store {level.value}", f"Store {tensor} {level.value}", f"In memory {says}.",
                any(set(s.levels) == {level} for s in stored), mine, Store(tensor, (level,)),
            )  # fmt: skip
        if stored:
            yield self._choice(
                "store", f"Leave the format of {tensor} to the compiler",
                "Dense where that costs nothing by the estimate.", False, mine, None,
            )  # fmt: skip

    def _choice(
        self,
        key: str,
        text: str,
        says: str,
        chosen: bool,
        mine: Callable[[Setting], bool],
        said: Setting | None,
    ) -> CellChoice:
        def design() -> Design:
            kept = tuple(s for s in self.settings if not mine(s))
            return replace(self.built.design, settings=(*kept, said) if said is not None else kept)

        return CellChoice(key, text, says, chosen, design)
