"""Operands of a structured operation: their sizes, and the places that they are read at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.tensors import axes_of
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.named import Computation
from fuseloom.frontends.mlir.region_values import Captured
from fuseloom.frontends.mlir.syntax import Result, Sum, Type, refuse_meaning
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantTensor,
    DimensionSize,
    Ignored,
    Value,
    View,
    constant_tensor,
    sizes_of,
)
from fuseloom.program.formats import Format
from fuseloom.program.types import Access
from fuseloom.wording import counted


@dataclass(frozen=True)
class StructuredOutput:
    """A result of a structured operation.

    Attributes
    ----------
    number : int
        The number of the operand that it starts from.
    dims, indices : tuple
        Per dimension of the result the dimension of the operation, and the index along it; None
        for the constant 0.
    """

    number: int
    name: str
    type: Type
    dims: tuple[str | None, ...]
    indices: tuple[str | None, ...]
    sizes: tuple[DimensionSize, ...]

    def kept(self, free: Sequence[str]) -> tuple[str, ...]:
        """Its indices among those that some operand has."""
        return tuple(x for x in self.indices if x is not None and x in free)

    def format(self, indices: Sequence[str]) -> Format | None:
        """Its format without the dimensions that a tensor of these indices does not have."""
        fmt = self.type.format
        if fmt is None or len(indices) == len(self.indices):
            return fmt
        kept = [p for p, x in enumerate(self.indices) if x in indices]
        pairs = [(m, lv) for m, lv in zip(fmt.mode_order, fmt.levels, strict=True) if m in kept]
        levels = tuple(level for _, level in pairs)
        return replace(fmt, levels=levels, mode_order=tuple(kept.index(mode) for mode, _ in pairs))

    def view(self, made: Access) -> View:
        """The view of a computed tensor as the result, broadcast along dimensions that it lacks."""
        return View(made.tensor, axes_of(self.indices, made.indices), self.sizes)


class Operands:
    """Operands of one structured operation, by number: inputs, then outputs.

    Parameters
    ----------
    values : sequence of Value
        One per map of the computation.
    captured : sequence of Captured
        Tensors of the function around it that the region reads; the first has the number -1.

    Attributes
    ----------
    sizes : dict
        Sizes of the dimensions, by the names that the text has for them.
    index : dict
        Names of the indices along them, in dataflow order.
    lengths : dict
        Sizes by index.

    Raises
    ------
    ProgramError
        The operands do not fit the maps.
    """

    def __init__(
        self,
        builder: MlirBuilder,
        computation: Computation,
        values: Sequence[Value],
        captured: Sequence[Captured] = (),
    ) -> None:
        self.builder = builder
        self.computation = computation
        self.place = computation.place
        self.values = values
        self.captured = captured
        self.sizes = {x: DimensionSize() for x in computation.dims}
        self.index = _index_names(computation.dims)
        self.lengths = {name: self.sizes[x] for x, name in self.index.items()}
        self._equate()

    def refuse(self, message: str, hint: str) -> ProgramError:
        """The error for this operation."""
        return refuse_meaning(message, hint, self.place)

    def _equate(self) -> None:
        maps = self.computation.maps
        if len(maps) != len(self.values):
            raise self.refuse(
                f"{len(maps)} indexing maps for {counted(len(self.values), 'operand')}",
                "one map per input and output, in their order",
            )
        for k, (value, map_) in enumerate(zip(self.values, maps, strict=True)):
            if len(map_.dims) != len(self.computation.dims):
                raise self.refuse(
                    f"the maps have {len(self.computation.dims)} and "
                    f"{counted(len(map_.dims), 'dimension')}",
                    "all maps of an operation have the same dimensions",
                )
            sizes = sizes_of(value)
            if sizes is None:
                continue
            if len(map_.results) != len(sizes):
                raise self.refuse(
                    f"operand {k} has {counted(len(sizes), 'dimension')}, its map "
                    f"{counted(len(map_.results), 'result')}",
                    "a map has one result per dimension",
                )
            for axis, (x, size) in enumerate(zip(self.results_of(k), sizes, strict=True)):
                if x is None or isinstance(x, Sum):
                    continue
                if not self.sizes[x].equate(size):
                    raise self.refuse(
                        f"index {x} has size {self.sizes[x].value}, but dimension {axis} of "
                        f"operand {k} is {size.value}",
                        "make the dimensions agree",
                    )

    def results_of(self, k: int) -> tuple[Result, ...]:
        """Results of a map in the first map's names: those of a position are the same index.

        The constant 0 is one place of several where the dimension has several.
        """
        map_, dims = self.computation.maps[k], self.computation.dims
        renamed = dict(zip(map_.dims, dims, strict=True))
        sizes = sizes_of(self.values[k]) or ()
        found: list[Result] = []
        for axis, r in enumerate(map_.results):
            if isinstance(r, Sum):
                found.append(Sum(tuple((c, renamed[x]) for c, x in r.terms), r.offset))
            elif r is None and axis < len(sizes) and sizes[axis].value not in (None, 1):
                found.append(Sum((), 0))
            else:
                found.append(None if r is None else renamed[r])
        return tuple(found)

    def index_of(self, number: int) -> str:
        """The index along a dimension, if the operation has as many."""
        names = list(self.lengths)
        if not 0 <= number < len(names):
            raise self.refuse(
                f"linalg.index {number} of an operation of {counted(len(names), 'dimension')}",
                "dimensions count from 0",
            )
        return names[number]

    def shape(self, indices: Sequence[str]) -> tuple[DimensionSize, ...]:
        """The sizes of a tensor with these indices."""
        return tuple(self.lengths[x] for x in indices)

    def output(self, number: int, name: str, type_: Type) -> StructuredOutput:
        """The result that starts from an operand; its dimensions are different ones."""
        dims: list[str | None] = []
        for x in self.results_of(number):
            assert not isinstance(x, Sum)
            if x is not None and x in dims:
                raise self.refuse(
                    f"the output has the index {x} twice",
                    "use two indices, and multiply by an argument "
                    'with {fuseloom.where = "d1 = d0"}',
                )
            dims.append(x)
        indices = tuple(None if x is None else self.index[x] for x in dims)
        sizes = sizes_of(self.values[number]) or ()
        return StructuredOutput(number, name, type_, tuple(dims), indices, sizes)

    def over(self, output: StructuredOutput) -> frozenset[str]:
        """Dimensions over which a result is reduced: of several, each has its own."""
        return self.computation.reduced.difference(output.dims)

    def may_lack(self, number: int) -> bool:
        """Return whether an operand may lack elements."""
        return self.builder.may_lack(self.values[number])

    def view(self, number: int) -> View:
        """An operand as a tensor of the program; one without elements is refused."""
        value = self.values[number]
        match value:
            case View():
                return value
            case ConstantTensor():
                return self.builder.constant(value)
            case Blank(fill=None, format=None):
                raise self.refuse(
                    f"operand {number} is read, but tensor.empty gives no elements",
                    "fill it with linalg.fill, or read another value",
                )
            case Blank(sizes=sizes, format=fmt, fill=fill):  # one with an encoding holds zeros
                name = f"filled_{number}"
                return self.builder.constant(
                    constant_tensor(name, fill or 0.0, sizes, self.place, fmt)
                )
            case Ignored():
                raise self.refuse(f"operand {number} cannot be read: {value.reason}", value.hint)
        raise self.refuse(f"operand {number} is no tensor", "use the number itself in the region")


def _index_names(dims: Sequence[str]) -> dict[str, str]:
    """Names of the text language for the dimensions of a map."""
    made: dict[str, str] = {}
    for x in dims:
        name = x.replace(".", "_").replace("$", "_")
        while name in made.values():
            name += "_"
        made[x] = name
    return made
