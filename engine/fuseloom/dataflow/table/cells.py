"""The contents of a fusion table: symbolic streams in named cells.

A cell refers to other cells by name, so replacing a cell (the merge step) changes what every
cell that names it sees; nothing is built before an output's value is asked for.
Rules: ``docs/spec/fusion.md`` §3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fuseloom.dataflow.table.tile_axes import TileOp
from fuseloom.program.functions import Op

VALUE_ROW = "val"
MAX_ACCUMULATOR_ORDER = 6
"""Levels that a sparse accumulator can emit at once; nests deeper than that do not occur."""


class CellKind(Enum):
    """The kind of a cell's contents, by which pictures colour and name it."""

    SCAN = "level scanner"
    LOCATE = "locator"
    SEARCH = "searcher"
    REPEAT = "repeater"
    JOIN = "joined level"
    REFERENCE = "reference"
    ACCUMULATE = "accumulator"
    VALUE = "value load"
    COMPUTE = "compute"
    REDUCED = "reduced"
    PASS = "pass-through"
    VALUE_REPEAT = "repeated below, as a value"


@dataclass(frozen=True)
class Dropped:
    """Values removed from a stream together with their coordinates: absent ones, or zeros too.

    Attributes
    ----------
    zeros_of : str
        The tensor whose zeros are left out, too; empty if they are not.
    axes : tuple of int
        Per dimension of it, which of the indices around the values counts it.
    shifts : tuple of int
        Per dimension, the coordinate at which its first element is put.
    """

    zeros_of: str = ""
    axes: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()


# Symbolic streams -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Root:
    """The one reference 0."""

    def __str__(self) -> str:
        return "root"


@dataclass(frozen=True)
class At:
    """The reference stream of a leaf's cell."""

    column: str
    row: str

    def __str__(self) -> str:
        return f"<{self.column}.{self.row}>"


Reference = Root | At


@dataclass(frozen=True)
class Scan:
    """A level scanner fed by the cell above."""

    parent: Reference
    tensor: str
    level: int
    dense: bool
    dim: int

    def __str__(self) -> str:
        return f"LS({self.parent})"


@dataclass(frozen=True)
class RepeatRef:
    """A reference repeated over the coordinates of a level."""

    source: Reference
    level: str

    def __str__(self) -> str:
        return f"Rep({self.source},{self.level})"


@dataclass(frozen=True)
class Load:
    """The values at a leaf's references; ``tile`` names their axes where they are tiles."""

    source: Reference
    tensor: str
    tile: str = ""

    def __str__(self) -> str:
        return f"Val({self.source})"


@dataclass(frozen=True)
class RepeatValue:
    """A value repeated over the coordinates of a level."""

    source: Value
    level: str

    def __str__(self) -> str:
        return f"RepV({self.source},{self.level})"


@dataclass(frozen=True)
class ValueOf:
    """The value cell of a column."""

    column: str

    def __str__(self) -> str:
        return f"<{self.column}.val>"


@dataclass(frozen=True)
class Compute:
    """An ALU operation on aligned values; no operation at all for a copy or a reduction.

    ``needs``: position of the operand without which a sum has no element, if there is one.
    ``tile``: what happens inside tiles, where the values are tiles.
    """

    op: Op
    operands: tuple[Value, ...]
    constant: float | None = None
    needs: int | None = None
    tile: TileOp | None = None

    def __str__(self) -> str:
        shown = [str(v) for v in self.operands]
        inside, fold = (" ".join(self.tile.compute), self.tile.fold) if self.tile else ("", "")
        if self.constant is not None:
            shown.append(f"{self.constant:g}")
        text = f"{self.op.name}{f'[{inside}]' if inside else ''}({','.join(shown)})"
        if self.op in (Op.SUM, Op.MAX):
            text = shown[0]
        return f"Fold[{fold}]({text})" if fold else text


@dataclass(frozen=True)
class Fold:
    """A reducer: the innermost fibers folded to one value each."""

    maximum: bool
    value: Value
    index: str
    level: str
    guide: str | None
    zero_if_empty: bool

    def __str__(self) -> str:
        return f"{'MaxReduce' if self.maximum else 'Reduce'}_{self.index}({self.value})"


@dataclass(frozen=True)
class Accumulated:
    """The values an accumulator emits, as the level that joins them passes them on.

    Without a level: as they come.
    """

    accumulator: str
    level: str | None = None

    def __str__(self) -> str:
        return f"{self.level or self.accumulator}.val"


Value = Load | RepeatValue | ValueOf | Compute | Fold | Accumulated


# Levels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScanIn:
    """The scanner in a column's cell."""

    column: str


@dataclass(frozen=True)
class SearchIn:
    """A searcher in a column's cell: what of the coordinates of another level it stores."""

    column: str
    wanted: LevelTree


@dataclass(frozen=True)
class AccIn:
    """A level that an accumulator emits.

    ``raw``: as it comes, whatever the levels outside it were joined with.
    """

    accumulator: str
    index: str
    order: int = 1
    raw: bool = False

    @property
    def name(self) -> str:
        """The name of the level: the accumulator's own name if it emits one level."""
        if self.order == 1:
            return self.accumulator
        return f"{self.accumulator}.{self.index}" + (".raw" if self.raw else "")


@dataclass(frozen=True)
class DenseIn:
    """Every coordinate of an index, once per coordinate of the levels ``outer``."""

    index: str
    dim: int
    outer: tuple[str, ...] = ()


@dataclass(frozen=True)
class LocatedLevel:
    """A level, with dense operands looked up at its coordinates."""

    child: LevelTree
    columns: tuple[str, ...]


@dataclass(frozen=True)
class JoinOf:
    """An intersecter or unioner; see ``joins.Combine`` for ``gate``.

    ``carriers`` names, for a payload that several children bring, the child it is taken from.
    """

    union: bool
    children: tuple[LevelTree, ...]
    gate: int = 0
    carriers: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Shifted:
    """An operand of a concat: its coordinates and the offset at which they are put.

    ``size`` is that of the concat's index.
    """

    child: LevelTree
    offset: int
    size: int


LevelTree = ScanIn | SearchIn | AccIn | DenseIn | LocatedLevel | JoinOf | Shifted


def parts_of(tree: LevelTree) -> tuple[LevelTree, ...]:
    """The trees directly inside one."""
    match tree:
        case JoinOf(children=children):
            return children
        case LocatedLevel(child=child) | Shifted(child=child):
            return (child,)
        case SearchIn(wanted=wanted):
            return (wanted,)
        case _:
            return ()


@dataclass(frozen=True)
class Level:
    """The one coordinate stream of a nest prefix.

    Attributes
    ----------
    name : str
        How cells refer to it: ``I_k``, ``U_n``, ``<A.i>``, ``Acc1_k``.
    prefix : tuple of str
        Indices from the outermost to this level's.
    root : int
        Which output's tree it belongs to.
    """

    name: str
    prefix: tuple[str, ...]
    root: int
    tree: LevelTree

    @property
    def index(self) -> str:
        return self.prefix[-1]


@dataclass(frozen=True)
class Accumulator:
    """A sparse accumulator of any order, or a cut (``inner`` is empty).

    Attributes
    ----------
    indices : tuple of str
        Indices of the levels it emits, outermost first; their number is its order.
    inner, outer : names of levels whose coordinates it reads
        ``outer`` is the reduced index's, ``inner`` those inside it.  A cut re-emits the level
        ``outer`` with the values.
    dims : tuple of int
        Sizes of ``indices``.
    drops : Dropped or None
        What a cut leaves out, if anything.
    joined : tuple of str
        Per emitted level but the last: the level it takes part in.  Where that has other
        coordinates, what lies inside must be aligned with it (``docs/spec/fusion.md`` §3.4).
    """

    name: str
    column: str
    reduced: str
    indices: tuple[str, ...]
    inner: tuple[str, ...]
    outer: str
    value: Value
    maximum: bool
    dims: tuple[int, ...]
    drops: Dropped | None = None
    joined: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        return not self.inner

    @property
    def order(self) -> int:
        return len(self.indices)

    def emitted(self, index: str, raw: bool = False) -> AccIn:
        """The level of an index, as it is joined or as it comes."""
        return AccIn(self.name, index, self.order, raw)

    def __str__(self) -> str:
        if self.is_cut:
            left = ", nonzero" if self.drops and self.drops.zeros_of else ""
            return f"{self.name} = Stream({coordinates(self.outer)}, {self.value}{left})"
        fold = ", max" if self.maximum else ""
        inner = ",".join(map(coordinates, self.inner))
        return (
            f"{self.name} = Spacc{self.order}(inner={inner}, "
            f"outer={coordinates(self.outer)}, {self.value}{fold})"
        )


def coordinates(level: str) -> str:
    """The coordinate stream of a level, as tables write it."""
    return f"{level}.crd"


# Cells and steps ------------------------------------------------------------------------------

Expression = Scan | RepeatRef | Value | None


@dataclass(frozen=True)
class Cell:
    """One cell: what it shows and the symbolic stream it stands for.

    Attributes
    ----------
    target : str
        ``column.row`` of the cell a reference points at; empty otherwise.
    """

    kind: CellKind
    text: str
    expression: Expression = None
    target: str = ""


PASSED = Cell(CellKind.PASS, "pass")
REPEATED_BELOW = Cell(CellKind.VALUE_REPEAT, "(RepV)")


@dataclass(frozen=True)
class ConstructionStep:
    """One step of the construction: the cells it fills or replaces."""

    phase: str
    title: str
    changes: tuple[tuple[str, str, Cell], ...]


@dataclass(frozen=True)
class Column:
    """One view of a tensor.

    Attributes
    ----------
    indices : tuple of str
        Index variables of the access, in logical order.
    nest : tuple of str
        Indices under which it is used, outermost first.
    leaf : bool
        Read from memory (True) or computed (False).
    statement : str
        The tensor whose statement computes or reads it.
    """

    name: str
    tensor: str
    indices: tuple[str, ...]
    nest: tuple[str, ...]
    leaf: bool
    statement: str

    @property
    def title(self) -> str:
        return f"{self.name}[{','.join(self.indices)}]"


@dataclass(frozen=True)
class Output:
    """The output of a region: the levels, outermost first, and the value."""

    tensor: str
    column: str
    root: int
    levels: tuple[str, ...]
    indices: tuple[str, ...]
    value: Value
    drop_values: Dropped | None
    drop_levels: tuple[bool, ...]
