"""Axes of tiles: loops of a phase whose elements a Triton program computes at once, or in turn.

Elements of some loops are counted by one variable, whose values are a tile of a power of two, as
long as it is large enough, and a loop over tiles otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from fuseloom.stitch.phase_values import (
    ElementLoad,
    ElementResult,
    KernelPhase,
    PhaseLoop,
    PhaseValue,
)
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.positions import PositionAtom, PositionSum

MOST_TILE = 4096
"""Elements of a tile that are computed at once; of more, a quarter of that, in a loop."""
MOST_REDUCED = 4096
"""Elements that are combined at once."""
MOST_ROW = 1024
"""Those of one sum."""
MOST_SUMS = 128
"""Sums that are made at once where these read rows."""
LEAST_DOT = 16
"""The least extent of a side of a matrix that Triton multiplies."""
DOT_TILES = (64, 64, 32)
"""The most rows, columns and products of a sum of a tile of a matrix product."""
ROWS, COLUMNS = "[:, None]", "[None, :]"


@dataclass(frozen=True)
class TileAxis:
    """Loops of a phase that one variable counts the elements of.

    Attributes
    ----------
    name : str
        Of the variable.
    loops : tuple of PhaseLoop
        The slowest first, each of several iterations.
    tile : int
        Elements that are computed at once; 1 if they are computed one after the other.
    view : str
        The index that makes a row or a column of a tile; empty for a tile of one dimension.
    """

    name: str
    loops: tuple[PhaseLoop, ...]
    tile: int
    view: str = ""

    @cached_property
    def extent(self) -> int:
        """The number of elements."""
        return prod(loop.extent for loop in self.loops)

    @property
    def is_looped(self) -> bool:
        """True if there are several tiles."""
        return self.extent > self.tile

    @property
    def is_masked(self) -> bool:
        """True if a tile has places without elements."""
        return self.extent % self.tile != 0

    @property
    def is_whole(self) -> bool:
        """True if there is one tile, and each of its places is an element."""
        return self.extent == self.tile

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the variables of its loops."""
        return frozenset(loop.name for loop in self.loops)


@dataclass(frozen=True)
class AxisRun:
    """Neighbouring loops of an axis whose digits a position has as one number.

    Attributes
    ----------
    axis : TileAxis
    loops : tuple of PhaseLoop
    stride : int
        The growth of the variable of the axis with the number.
    factor : int
        The growth of the position with it.
    """

    axis: TileAxis
    loops: tuple[PhaseLoop, ...]
    stride: int
    factor: int

    @property
    def extent(self) -> int:
        """The number of values."""
        return prod(loop.extent for loop in self.loops)

    @property
    def is_axis(self) -> bool:
        """True if the number is the variable of the axis."""
        return self.loops == self.axis.loops

    @property
    def name(self) -> str:
        """A name for the number, by its loops."""
        first, last = self.loops[0].name, self.loops[-1].name
        return first if len(self.loops) == 1 else f"{first}_to_{last}"

    @property
    def text(self) -> str:
        """The number as a quotient or remainder of the variable of the axis.

        Examples
        --------
        >>> axis = TileAxis("e", (PhaseLoop("i0", 4), PhaseLoop("i1", 8)), 32)
        >>> [run.text for run in axis_runs(PositionSum(), [axis])[0]]
        []
        >>> AxisRun(axis, axis.loops[1:], 1, 1).text, AxisRun(axis, axis.loops[:1], 8, 1).text
        ('e % 8', 'e // 8')
        """
        if self.is_axis:
            return self.axis.name
        over = f"{self.axis.name} // {self.stride}" if self.stride > 1 else self.axis.name
        first = self.loops[0] is self.axis.loops[0]
        return over if first else f"{over} % {self.extent}"


def axis_runs(
    at: PositionSum, axes: Sequence[TileAxis]
) -> tuple[list[AxisRun], list[tuple[PositionAtom, int]]]:
    """Divide a position into numbers of axes, and the other terms, without the constant.

    Examples
    --------
    >>> from fuseloom.stitch.positions import variable
    >>> axis = TileAxis("e", (PhaseLoop("i", 4), PhaseLoop("j", 8)), 32)
    >>> at = variable("i", 4).times(8).plus(variable("j", 8))
    >>> [(run.text, run.factor) for run in axis_runs(at, [axis])[0]]
    [('e', 1)]
    >>> at = variable("i", 4).plus(variable("j", 8).times(4))
    >>> [(run.name, run.text, run.factor) for run in axis_runs(at, [axis])[0]]
    [('i', 'e // 8', 1), ('j', 'e % 8', 4)]
    """
    factors = {atom.name: factor for atom, factor in at.terms if atom.of is None}
    runs: list[AxisRun] = []
    known: set[str] = set()
    for axis in axes:
        known |= axis.names
        behind = axis.extent
        before: AxisRun | None = None
        for loop in axis.loops:
            behind //= loop.extent
            factor = factors.get(loop.name, 0)
            if before is not None and factor and before.factor == factor * loop.extent:
                runs.pop()
                before = AxisRun(axis, (*before.loops, loop), behind, factor)
            else:
                before = AxisRun(axis, (loop,), behind, factor) if factor else None
            if before is not None:
                runs.append(before)
    return runs, [pair for pair in at.terms if pair[0].name not in known]


def tile_size(extent: int, most: int) -> int:
    """Return the least power of two that is as large as an extent, or the most.

    Examples
    --------
    >>> tile_size(40, 1024), tile_size(4000, 1024), tile_size(1, 8)
    (64, 1024, 1)
    """
    return min(1 << max(extent - 1, 0).bit_length(), most)


def several(loops: Sequence[PhaseLoop]) -> tuple[PhaseLoop, ...]:
    """Return the loops of several iterations."""
    return tuple(loop for loop in loops if loop.extent > 1)


def elementwise_axes(phase: KernelPhase, prefix: str = "") -> list[TileAxis]:
    """Return the axis of a phase without a reduction; none for a single element.

    Examples
    --------
    >>> from fuseloom.stitch.graph import DenseOperation
    >>> from fuseloom.stitch.phase_values import ElementNumber
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> one = ElementNumber(1.0, "f32")
    >>> phase = KernelPhase(DenseOperation("y", "negate", TensorShape("f32", (40,)), ("x",)), (),
    ...                     (PhaseLoop("i0", 40),), (one,), one, None, ())
    >>> [(axis.name, axis.tile, axis.is_masked) for axis in elementwise_axes(phase)]
    [('e', 64, True)]
    """
    loops = several(phase.loops)
    extent = prod(loop.extent for loop in loops)
    most = MOST_TILE if extent <= MOST_TILE else MOST_TILE // 4
    return [TileAxis(f"{prefix}e", loops, tile_size(extent, most))] if loops else []


def reduction_axes(phase: KernelPhase, prefix: str = "") -> list[TileAxis]:
    """Return the axis of elements, and that of what is combined, as far as there are both.

    Sums whose elements lie far apart, and side by side from sum to sum, are made in tiles of many
    sums.
    """
    assert phase.reduction is not None
    loops, combined = several(phase.loops), several(phase.reduction.loops)
    extent, count = (prod(loop.extent for loop in some) for some in (loops, combined))
    if _reads_rows(phase, loops, combined):
        own = tile_size(extent, MOST_SUMS)
        row = tile_size(count, MOST_REDUCED // own)
    else:
        row = tile_size(count, MOST_ROW)
        own = tile_size(extent, MOST_REDUCED // row)
    both = min(own, row) > 1
    made = [
        TileAxis(f"{prefix}e", loops, own, ROWS if both else ""),
        TileAxis(f"{prefix}r", combined, row, COLUMNS if both else ""),
    ]
    return [axis for axis in made if axis.loops]


def _reads_rows(
    phase: KernelPhase, loops: Sequence[PhaseLoop], combined: Sequence[PhaseLoop]
) -> bool:
    if not loops or not combined:
        return False
    own, row = loops[-1].name, combined[-1].name
    reads = [value.at for value in phase.values if isinstance(value, ElementLoad)]
    steps = [sum(at.factor(name) not in (0, 1) for at in reads) for name in (own, row)]
    return steps[0] < steps[1]


@dataclass(frozen=True)
class DotTiles:
    """A phase whose tiles are products of matrices.

    Attributes
    ----------
    outer : tuple of TileAxis
        Loops over matrices, one after the other.
    rows, columns, products : TileAxis
    left, right : PhaseValue
        The factors.
    """

    outer: tuple[TileAxis, ...]
    rows: TileAxis
    columns: TileAxis
    products: TileAxis
    left: PhaseValue
    right: PhaseValue


def dot_tiles(phase: KernelPhase, prefix: str = "") -> DotTiles | None:
    """Find the matrices of a dot of float32; None if it is none, or an extent is below 16."""
    product = phase.value
    if (
        phase.operation.opcode != "dot"
        or phase.reduction is None
        or phase.operation.array.element not in ("f32", "bf16")
        or not isinstance(product, ElementResult)
    ):
        return None
    left, right = product.operands
    by_use: dict[tuple[bool, bool], list[PhaseLoop]] = {}
    for loop in several(phase.loops):
        use = (loop.name in left.names, loop.name in right.names)
        by_use.setdefault(use, []).append(loop)
    groups = (by_use.get((True, False), []), by_use.get((False, True), []))
    sides = [*groups, list(several(phase.reduction.loops))]
    extents = [prod(loop.extent for loop in side) for side in sides]
    if min(extents) < LEAST_DOT:
        return None
    rows, columns, products = (
        TileAxis(f"{prefix}{name}", tuple(side), tile_size(extent, most), view)
        for name, side, extent, most, view in zip(
            "mnk", sides, extents, DOT_TILES, (ROWS, COLUMNS, COLUMNS), strict=True
        )
    )
    outer = [*by_use.get((True, True), []), *by_use.get((False, False), [])]
    alone = tuple(TileAxis(f"{prefix}{loop.name}", (loop,), 1) for loop in outer)
    return DotTiles(alone, rows, columns, products, left, right)


@dataclass(frozen=True)
class TiledPhase:
    """A phase with its axes.

    Attributes
    ----------
    number : int
    phase : KernelPhase
    prefix : str
        What names of its variables begin with.
    axes : tuple of TileAxis
        In the order of their loops, those of what is combined last.
    dot : DotTiles, optional
        The matrices, if tiles are products of such.
    """

    number: int
    phase: KernelPhase
    prefix: str
    axes: tuple[TileAxis, ...]
    dot: DotTiles | None = None

    @property
    def places(self) -> int:
        """Places of a tile."""
        tiles = self.axes[:-1] if self.dot else self.axes
        return prod(axis.tile for axis in tiles)

    @property
    def own_axes(self) -> tuple[TileAxis, ...]:
        """The axes of elements."""
        summed = {loop.name for loop in self.phase.reduction.loops} if self.phase.reduction else ()
        return tuple(axis for axis in self.axes if not axis.names & set(summed))

    @property
    def register_axes(self) -> tuple[TileAxis, ...]:
        """The axes along which it reads tiles that are kept in registers."""
        return () if self.dot else self.axes

    @property
    def is_empty(self) -> bool:
        """True if it has no elements."""
        return any(loop.extent == 0 for loop in self.phase.loops)


def tiled_phases(phased: PhasedKernel) -> list[TiledPhase]:
    """Divide the phases of a kernel into tiles."""
    made = []
    for number, phase in enumerate(phased.phases):
        prefix = f"p{number}_" if len(phased.phases) > 1 else ""
        dot = dot_tiles(phase, prefix)
        if dot is not None:
            axes = [*dot.outer, dot.rows, dot.columns, dot.products]
        elif phase.reduction is not None:
            axes = reduction_axes(phase, prefix)
        else:
            axes = elementwise_axes(phase, prefix)
        made.append(TiledPhase(number, phase, prefix, tuple(axes), dot))
    return made
