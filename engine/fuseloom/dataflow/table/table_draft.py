"""A fusion table while it is being built, and its last step: merging joined levels."""

from __future__ import annotations

from fuseloom.dataflow.table.cells import (
    AccIn,
    Accumulator,
    Cell,
    CellKind,
    Column,
    ConstructionStep,
    JoinOf,
    Level,
    LevelTree,
    LocatedLevel,
    Scan,
    ScanIn,
    SearchIn,
    Shifted,
    coordinates,
)
from fuseloom.program.primes import unused


class TableContext:
    """The context that all outputs of a table share."""

    PHASES = ("leaves", "repeats", "compute", "reduce", "merge")

    def __init__(self, extents: dict[str, int]) -> None:
        self.extents = extents
        self.columns: list[Column] = []
        self.levels: dict[str, Level] = {}
        self.accumulators: dict[str, Accumulator] = {}
        self.steps: dict[str, list[ConstructionStep]] = {phase: [] for phase in self.PHASES}
        self.cells: dict[tuple[str, str], Cell] = {}
        """By column and row, as they are before levels are merged."""
        self._taken: set[str] = set()

    def column_name(self, tensor: str) -> str:
        name = unused(tensor, self._taken)
        self._taken.add(name)
        return name

    def accumulator_name(self, stem: str) -> str:
        return unused(stem, self.accumulators)

    def step(self, phase: str, title: str, changes: list[tuple[str, str, Cell]]) -> None:
        if changes:
            self.steps[phase].append(ConstructionStep(phase, title, tuple(changes)))
            if phase != "merge":
                self.cells.update(((column, row), cell) for column, row, cell in changes)


def merge(draft: TableContext, number: int) -> None:
    """Put projections of output ``number``'s joined levels in their members' places."""
    for level in draft.levels.values():
        if level.root == number and not isinstance(level.tree, ScanIn | AccIn):
            changes: list[tuple[str, str, Cell]] = []
            _members(draft, level, level.tree, changes, set())
            once = {(column, row): cell for column, row, cell in changes}
            changes = [(column, row, cell) for (column, row), cell in once.items()]
            draft.step("merge", f"merge {level.name}", changes)


def _members(
    draft: TableContext,
    level: Level,
    tree: LevelTree,
    changes: list[tuple[str, str, Cell]],
    seen: set[int],
) -> None:
    """Rewrite the cells whose streams take part in a level; shared parts are ``seen`` once."""
    if id(tree) in seen:
        return
    seen.add(id(tree))
    joined = f" -> {level.name}" if _joins(level.tree) else ""
    match tree:
        case JoinOf(children=children):
            for child in children:
                _members(draft, level, child, changes, seen)
        case Shifted(child=child):
            _members(draft, level, child, changes, seen)
        case LocatedLevel(child=child, columns=columns):
            _members(draft, level, child, changes, seen)
            inside = bool(joined) and tree is not level.tree
            crd = _driver(child, level.index) if inside else level.name
            for column in columns:
                old = draft.cells[column, level.index]
                assert isinstance(old.expression, Scan)
                text = f"Locate({old.expression.parent},{coordinates(crd)})"
                text += joined if inside else ""
                cell = Cell(CellKind.LOCATE, text, old.expression, old.target)
                changes.append((column, level.index, cell))
        case SearchIn(column=column, wanted=wanted):
            old = draft.cells[column, level.index]
            assert isinstance(old.expression, Scan)
            crd = coordinates(_driver(wanted, level.index))
            text = f"Search({old.expression.parent},{crd}){joined}"
            changes.append(
                (column, level.index, Cell(CellKind.SEARCH, text, old.expression, old.target))
            )
        case ScanIn(column=column) if joined:
            old = draft.cells[column, level.index]
            cell = Cell(CellKind.JOIN, old.text + joined, old.expression, old.target)
            changes.append((column, level.index, cell))
        case AccIn(accumulator=name) if joined:
            accumulator = draft.accumulators[name]
            column = accumulator.column
            old = draft.cells[column, level.index]
            payload = " (val)" if tree.index == accumulator.indices[-1] else ""
            cell = Cell(CellKind.JOIN, f"{old.text}{joined}{payload}", None, old.target)
            changes.append((column, level.index, cell))
        case _:
            pass


def _joins(tree: LevelTree) -> bool:
    """Return whether the coordinates of a level come from a joiner."""
    while isinstance(tree, LocatedLevel | Shifted):
        tree = tree.child
    return isinstance(tree, JoinOf)


def _driver(tree: LevelTree, index: str) -> str:
    return f"<{tree.column}.{index}>" if isinstance(tree, ScanIn) else index
