"""Operands of a structured operation: their sizes, and what they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import ProgramError
from engine.frontends.mlir.builder import Builder
from engine.frontends.mlir.expressions import (
    Node,
    arguments,
    refuse_meaning,
)
from engine.frontends.mlir.named import Computation
from engine.frontends.mlir.syntax import Type
from engine.frontends.mlir.values import Blank, Constant, Data, Ignored, Size, Value, View
from engine.program.types import Access, Op


@dataclass(frozen=True)
class Read:
    """A use of a tensor and the dimensions it has."""

    access: Access

    @property
    def dims(self) -> tuple[str, ...]:
        return self.access.indices


class Operands:
    """Operands of one structured operation, by number.

    Parameters
    ----------
    operands : sequence of Value
        Inputs, then outputs, one per map of the computation.
    captured : sequence of View
        Scalars from outside the region.
    names, types
        Per result.
    """

    def __init__(
        self,
        builder: Builder,
        computation: Computation,
        operands: Sequence[Value],
        captured: Sequence[View],
        names: Sequence[str],
        types: Sequence[Type],
    ) -> None:
        self.builder = builder
        self.computation = computation
        self.place = computation.place
        self.operands = list(operands)
        self.captured = captured
        self.names = names
        self.types = types
        self.inputs = len(operands) - len(names)
        self.sizes = {x: Size() for x in computation.dims}
        self.index = _index_names(computation.dims)
        self.reads: dict[int, Read] = {}
        self._equate()

    def refuse(self, message: str, hint: str) -> ProgramError:
        return refuse_meaning(message, hint, self.place)

    # Sizes.

    def _equate(self) -> None:
        maps = self.computation.maps
        if len(maps) != len(self.operands):
            raise self.refuse(
                f"{len(maps)} indexing maps for {len(self.operands)} operands",
                "one map per input and output, in their order",
            )
        for k, (value, map_) in enumerate(zip(self.operands, maps, strict=True)):
            if len(map_.dims) != len(self.computation.dims):
                raise self.refuse(
                    f"the maps have {len(self.computation.dims)} and {len(map_.dims)} dimensions",
                    "all maps of an operation have the same dimensions",
                )
            sizes = sizes_of(value)
            if sizes is None:
                continue
            if len(map_.results) != len(sizes):
                raise self.refuse(
                    f"operand {k} has {len(sizes)} dimensions, its map {len(map_.results)} results",
                    "a map has one result per dimension",
                )
            for axis, (x, size) in enumerate(zip(self.results_of(k), sizes, strict=True)):
                mine = Size(1) if x is None else self.sizes[x]
                if not mine.equate(size):
                    what = "the constant 0 stands for" if x is None else f"index {x} has size"
                    raise self.refuse(
                        f"{what} {mine.value}, but dimension {axis} of operand {k} is {size.value}",
                        "make the dimensions agree",
                    )

    def results_of(self, k: int) -> tuple[str | None, ...]:
        """Results of a map in the first map's names: those of a position are the same index."""
        map_, dims = self.computation.maps[k], self.computation.dims
        return tuple(None if r is None else dims[map_.dims.index(r)] for r in map_.results)

    # Operands.

    def read(self, number: int) -> Read:
        if number not in self.reads:
            self.reads[number] = self._read_new(number)
        return self.reads[number]

    def _read_new(self, number: int) -> Read:
        if number < 0:
            return Read(Access(self.captured[-1 - number].tensor, ()))
        value = self.operands[number]
        view = self._view(value, number)
        results = self.results_of(number)
        zeros = [p for p, x in enumerate(results) if x is None and view.axes[p] is not None]
        if zeros:
            view = self._squeezed(view, zeros)
        at = {axis: p for p, axis in enumerate(view.axes) if axis is not None}
        names = [results[at[axis]] for axis in range(len(at))]
        for n, x in enumerate(names):
            if x in names[:n]:
                raise self.refuse(
                    f"operand {number} is read along a diagonal: two of its dimensions are {x}",
                    "diagonals are outside the subset; use two indices",
                )
        return Read(Access(view.tensor, tuple(self.index[x] for x in names if x is not None)))

    def _view(self, value: Value, number: int) -> View:
        match value:
            case View():
                return value
            case Data():
                return self.builder.constant(value)
            case Blank(fill=None):
                raise self.refuse(
                    f"operand {number} is read, but tensor.empty gives no elements",
                    "fill it with linalg.fill, or read another value",
                )
            case Ignored(reason=reason):
                raise self.refuse(f"operand {number} cannot be read: {reason}", "leave it out")
        raise self.refuse(
            f"operand {number} is a filled tensor that no pattern of the subset takes",
            "use the number itself in the region",
        )

    def _squeezed(self, view: View, zeros: Sequence[int]) -> View:
        """The tensor without dimensions of size 1 that a map reads at the constant 0."""
        gone = {view.axes[p] for p in zeros}
        kept = [axis for axis in view.axes if axis is not None]
        names = {axis: f"d{n}" for n, axis in enumerate(sorted(kept))}
        left = [axis for axis in sorted(kept) if axis not in gone]
        sizes = {axis: view.sizes[p] for p, axis in enumerate(view.axes)}
        made = self.builder.assign(
            f"{view.tensor}_flat",
            Op.SUM,
            [Access(view.tensor, tuple(names.values()))],
            tuple(names[axis] for axis in left),
            tuple(sizes[axis] for axis in left),
            self.place,
        )
        axes = tuple(
            left.index(axis) if axis is not None and axis in left else None for axis in view.axes
        )
        return View(made.tensor, axes, view.sizes)

    def free(self, node: Node) -> tuple[str, ...]:
        """Indices of a tree, in dataflow order."""
        found = {x for number in arguments(node) for x in self.read(number).dims}
        return tuple(x for x in self.index.values() if x in found)


def sizes_of(value: Value) -> tuple[Size, ...] | None:
    """Sizes under the text's dimensions; None for what is no tensor."""
    if isinstance(value, View | Data | Blank):
        return value.sizes
    return () if isinstance(value, Constant) else None


def _index_names(dims: Sequence[str]) -> dict[str, str]:
    """Names of the text language for the dimensions of a map."""
    made: dict[str, str] = {}
    for x in dims:
        name = x.replace(".", "_").replace("$", "_")
        while name in made.values():
            name += "_"
        made[x] = name
    return made
