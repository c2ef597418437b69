"""Operands of a structured operation: their sizes, and what they read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.evaluation import Array, evaluate
from fuseloom.frontends.algebra.expressions import (
    CAST,
    Arg,
    Node,
    Num,
    Raw,
    Unsupported,
    arguments,
    leaves,
    places,
)
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.computed_access import read_at
from fuseloom.frontends.mlir.exactness import absent_is_zero
from fuseloom.frontends.mlir.named import Computation
from fuseloom.frontends.mlir.region_values import Captured
from fuseloom.frontends.mlir.syntax import Number, Result, Sum, Type, refuse_meaning
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    DeferredConstant,
    DimensionSize,
    Ignored,
    Value,
    View,
    exact,
)
from fuseloom.program.formats import Format
from fuseloom.program.functions import Op
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access
from fuseloom.wording import counted


@dataclass(frozen=True)
class OperandRead:
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
    captured : sequence of Captured
        What the region reads of the function around it.
    names, types
        Per result.
    """

    def __init__(
        self,
        builder: MlirBuilder,
        computation: Computation,
        operands: Sequence[Value],
        captured: Sequence[Captured],
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
        self.sizes = {x: DimensionSize() for x in computation.dims}
        self.index = _index_names(computation.dims)
        self.reads: dict[int, OperandRead] = {}
        self.called = _called(computation.trees, names)
        self.whole = any(
            isinstance(tree, Ignored) or not absent_is_zero(tree) for tree in computation.trees
        )
        self._equate()

    def refuse(self, message: str, hint: str) -> ProgramError:
        return refuse_meaning(message, hint, self.place)

    def is_filled(self, node: Node) -> bool:
        """Return whether a tree has one number of the data everywhere, as a filled tensor does."""
        values = [self.operands[k] for k in arguments(node) if k >= 0]
        return not self.free(node) and any(isinstance(x, View) and x.rank > 0 for x in values)

    # Sizes.

    def _equate(self) -> None:
        maps = self.computation.maps
        if len(maps) != len(self.operands):
            raise self.refuse(
                f"{len(maps)} indexing maps for {counted(len(self.operands), 'operand')}",
                "one map per input and output, in their order",
            )
        for k, (value, map_) in enumerate(zip(self.operands, maps, strict=True)):
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
        sizes = sizes_of(self.operands[k]) or ()
        found: list[Result] = []
        for axis, r in enumerate(map_.results):
            if isinstance(r, Sum):
                found.append(Sum(tuple((c, renamed[x]) for c, x in r.terms), r.offset))
            elif r is None and axis < len(sizes) and sizes[axis].value not in (None, 1):
                found.append(Sum((), 0))
            else:
                found.append(None if r is None else renamed[r])
        return tuple(found)

    # Operands.

    def read(self, number: int) -> OperandRead:
        if number not in self.reads:
            self.reads[number] = self._read_new(number)
        return self.reads[number]

    def _read_new(self, number: int) -> OperandRead:
        if number < 0:
            return self._read_captured(number)
        value = self.operands[number]
        view = self._view(value, number)
        if view.holes and self.whole:
            view = filled_up(self.builder, view, self.place)
        results = self.results_of(number)
        zeros = [p for p, x in enumerate(results) if x is None and view.axes[p] is not None]
        if zeros:
            view = self._squeezed(view, zeros)
        at = {axis: p for p, axis in enumerate(view.axes) if axis is not None}
        positions: list[str | Sum] = []
        for axis in range(len(at)):
            x = results[at[axis]]
            assert x is not None  # these are squeezed
            if isinstance(x, Sum):
                x = Sum(tuple((c, self.index[y]) for c, y in x.terms), x.offset)
            else:
                x = self.index[x]
            positions.append(x)
        sizes = {name: self.sizes[x] for x, name in self.index.items()}
        lengths = [view.sizes[at[axis]] for axis in range(len(at))]
        return OperandRead(
            read_at(self.builder, view.tensor, positions, lengths, sizes, self.place)
        )

    def _read_captured(self, number: int) -> OperandRead:
        """A tensor of the function, at sums of the operation's indices, or at chosen places."""
        captured = self.captured[-1 - number]
        view = captured.value
        if isinstance(view, ConstantTensor):
            view = self.builder.constant(view)
        if view.holes and self.whole:
            view = filled_up(self.builder, view, self.place)
        at = {axis: p for p, axis in enumerate(view.axes) if axis is not None}
        positions: list[str | Sum | Access] = []
        for axis in range(len(at)):
            where = captured.places[at[axis]]
            if not isinstance(where, tuple):
                positions.append(self.chosen(where, view.sizes[at[axis]]))
                continue
            terms, offset = where
            named = tuple((c, self.index_of(d)) for c, d in terms)
            plain = len(named) == 1 and named[0][0] == 1 and offset == 0
            size = view.sizes[at[axis]]
            if plain and self.sizes[self.computation.dims[terms[0][1]]].value == size.value:
                positions.append(named[0][1])
            else:
                positions.append(Sum(named, offset))
        sizes = {name: self.sizes[x] for x, name in self.index.items()}
        lengths = [view.sizes[at[axis]] for axis in range(len(at))]
        name = self.called.get(number)
        return OperandRead(
            read_at(self.builder, view.tensor, positions, lengths, sizes, self.place, name)
        )

    def chosen(self, node: Node, size: DimensionSize) -> Access:
        """The selection of the places that a tree holds, along a dimension of a size."""
        raise NotImplementedError

    def _view(self, value: Value, number: int) -> View:
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
                literal = Number(repr(fill or 0.0), self.place)
                axes = tuple(range(len(sizes)))
                data = ConstantTensor(
                    f"filled_{number}", literal, "f64", sizes, axes, fmt, self.place
                )
                return self.builder.constant(data)
            case Ignored():
                raise self.refuse(f"operand {number} cannot be read: {value.reason}", value.hint)
        raise self.refuse(f"operand {number} is no tensor", "use the number itself in the region")

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
        return View(made.tensor, axes, view.sizes, view.holes)

    def free(self, node: Node) -> tuple[str, ...]:
        """Indices of a tree, in dataflow order."""
        found = {x for number in arguments(node) for x in self.read(number).dims}
        found.update(self.index_of(n) for n in places(node))
        return tuple(x for x in self.index.values() if x in found)

    def index_of(self, number: int) -> str:
        """The index along a dimension."""
        names = list(self.index.values())
        if not 0 <= number < len(names):
            raise self.refuse(
                f"linalg.index {number} of an operation of {counted(len(names), 'dimension')}",
                "dimensions count from 0",
            )
        return names[number]

    def known(self, node: Node, target: str, mask: bool, over: tuple[str, ...] = ()) -> Access:
        """The constant that a tree of indices and numbers is; a mask has its zeros absent.

        It has the indices ``over``, too.
        """
        wanted = {*over, *(self.index_of(n) for n in places(node))}
        names = list(self.index.values())
        numbers = [n for n, x in enumerate(names) if x in wanted]
        indices = tuple(names[n] for n in numbers)
        by_index = {name: self.sizes[x] for x, name in self.index.items()}
        sizes = tuple(by_index[x] for x in indices)

        infinite = any(isinstance(x, Num) and math.isinf(x.value) for x in leaves(node))
        signs = (-1.0, 1.0) if infinite else ()

        def compute(shape: tuple[int, ...]) -> Array:
            axes = {
                n: np.arange(float(size)).reshape([-1 if k == j else 1 for k in range(len(shape))])
                for j, (n, size) in enumerate(zip(numbers, shape, strict=True))
            }
            try:
                with np.errstate(all="ignore"):
                    values = np.broadcast_to(evaluate(node, axes), shape)
            except Unsupported as problem:
                raise self.refuse(problem.message, problem.hint) from None
            whole = np.isfinite(values) & (np.rint(values) == values)
            wrong = np.isnan(values) if signs else ~np.isfinite(values)
            if wrong.any() or not exact(values[whole]).all():
                raise self.refuse(
                    "numbers made of indices are not numbers of float32",
                    "integers are exact up to 2^24; use smaller dimensions",
                )
            return values

        fmt = Format.compressed(len(sizes)) if mask else None
        literal = DeferredConstant(compute, self.place, signs)
        data = ConstantTensor(
            target, literal, "f64", sizes, tuple(range(len(sizes))), fmt, self.place
        )
        return Access(self.builder.constant(data).tensor, indices)


def filled_up(builder: MlirBuilder, view: View, place: SourcePlace) -> View:
    """A tensor with all the zeros that the text has as its elements."""
    held = [p for p, axis in enumerate(view.axes) if axis is not None]
    at = {view.axes[p]: p for p in held}
    sizes = tuple(view.sizes[at[axis]] for axis in range(len(held)))
    indices = tuple(f"d{n}" for n in range(len(held)))
    literal = Number("0.0", place)
    axes = tuple(range(len(sizes)))
    zeros = builder.constant(ConstantTensor("zeros", literal, "f64", sizes, axes, None, place))
    made = builder.assign(
        f"{view.tensor}_full",
        Op.ADD,
        [Access(view.tensor, indices), Access(zeros.tensor, indices)],
        indices,
        sizes,
        place,
    )
    return replace(view, tensor=made.tensor, holes=False)


def _called(trees: Sequence[Node | Ignored], names: Sequence[str]) -> dict[int, str]:
    """Names of results that are nothing but what is read of the function."""
    found: dict[int, str] = {}
    for tree, name in zip(trees, names, strict=False):
        bare = tree.operands[0] if isinstance(tree, Raw) and tree.name == CAST else tree
        if isinstance(bare, Arg) and bare.number < 0:
            found.setdefault(bare.number, name)
    return found


def sizes_of(value: Value) -> tuple[DimensionSize, ...] | None:
    """Sizes under the text's dimensions; None for what is no tensor."""
    if isinstance(value, View | ConstantTensor | Blank):
        return value.sizes
    return () if isinstance(value, ConstantNumber) else None


def _index_names(dims: Sequence[str]) -> dict[str, str]:
    """Names of the text language for the dimensions of a map."""
    made: dict[str, str] = {}
    for x in dims:
        name = x.replace(".", "_").replace("$", "_")
        while name in made.values():
            name += "_"
        made[x] = name
    return made
