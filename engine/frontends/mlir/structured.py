"""Structured operations as statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.errors import ProgramError
from engine.frontends.mlir.builder import Builder
from engine.frontends.mlir.expressions import (
    Apply,
    Arg,
    Node,
    Num,
    Raw,
    arguments,
    refuse_meaning,
)
from engine.frontends.mlir.named import Computation
from engine.frontends.mlir.syntax import Type
from engine.frontends.mlir.values import Blank, Constant, Data, Ignored, Size, Value, View
from engine.program.types import Access, Op

LOWEST = -65504.0
"""A maximum may start here or below; the smallest number of half precision."""


@dataclass(frozen=True)
class _Read:
    """A use of a tensor and the dimensions it has."""

    access: Access

    @property
    def dims(self) -> tuple[str, ...]:
        return self.access.indices


class Structured:
    """Adds the statements of one structured operation.

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
        self.reads: dict[int, _Read] = {}
        self.done: dict[Node, _Read] = {}
        self._equate()

    def results(self) -> tuple[Value, ...]:
        trees = zip(self.computation.trees, range(len(self.names)), strict=True)
        return tuple(
            Ignored("it has no meaning in a program: only floating-point results do")
            if tree is None
            else self._result(tree, n)
            for tree, n in trees
        )

    def _refuse(self, message: str, hint: str) -> ProgramError:
        return refuse_meaning(message, hint, self.place)

    # Sizes.

    def _equate(self) -> None:
        maps = self.computation.maps
        if len(maps) != len(self.operands):
            raise self._refuse(
                f"{len(maps)} indexing maps for {len(self.operands)} operands",
                "one map per input and output, in their order",
            )
        for k, (value, map_) in enumerate(zip(self.operands, maps, strict=True)):
            if len(map_.dims) != len(self.computation.dims):
                raise self._refuse(
                    f"the maps have {len(self.computation.dims)} and {len(map_.dims)} dimensions",
                    "all maps of an operation have the same dimensions",
                )
            sizes = _sizes(value)
            if sizes is None:
                continue
            if len(map_.results) != len(sizes):
                raise self._refuse(
                    f"operand {k} has {len(sizes)} dimensions, its map {len(map_.results)} results",
                    "a map has one result per dimension",
                )
            for axis, (x, size) in enumerate(zip(self._results_of(k), sizes, strict=True)):
                mine = Size(1) if x is None else self.sizes[x]
                if not mine.equate(size):
                    what = "the constant 0 stands for" if x is None else f"index {x} has size"
                    raise self._refuse(
                        f"{what} {mine.value}, but dimension {axis} of operand {k} is {size.value}",
                        "make the dimensions agree",
                    )

    def _results_of(self, k: int) -> tuple[str | None, ...]:
        """Results of a map in the first map's names: those of a position are the same index."""
        map_, dims = self.computation.maps[k], self.computation.dims
        return tuple(None if r is None else dims[map_.dims.index(r)] for r in map_.results)

    # Operands.

    def _read(self, number: int) -> _Read:
        if number not in self.reads:
            self.reads[number] = self._read_new(number)
        return self.reads[number]

    def _read_new(self, number: int) -> _Read:
        if number < 0:
            return _Read(Access(self.captured[-1 - number].tensor, ()))
        value = self.operands[number]
        view = self._view(value, number)
        results = self._results_of(number)
        zeros = [p for p, x in enumerate(results) if x is None and view.axes[p] is not None]
        if zeros:
            view = self._squeezed(view, zeros)
        at = {axis: p for p, axis in enumerate(view.axes) if axis is not None}
        names = [results[at[axis]] for axis in range(len(at))]
        for n, x in enumerate(names):
            if x in names[:n]:
                raise self._refuse(
                    f"operand {number} is read along a diagonal: two of its dimensions are {x}",
                    "diagonals are outside the subset; use two indices",
                )
        return _Read(Access(view.tensor, tuple(self.index[x] for x in names if x is not None)))

    def _view(self, value: Value, number: int) -> View:
        match value:
            case View():
                return value
            case Data():
                return self.builder.constant(value)
            case Blank(fill=None):
                raise self._refuse(
                    f"operand {number} is read, but tensor.empty gives no elements",
                    "fill it with linalg.fill, or read another value",
                )
            case Ignored(reason=reason):
                raise self._refuse(f"operand {number} cannot be read: {reason}", "leave it out")
        raise self._refuse(
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

    # Trees.

    def _free(self, node: Node) -> tuple[str, ...]:
        """Indices of a tree, in dataflow order."""
        found = {x for number in arguments(node) for x in self._read(number).dims}
        return tuple(x for x in self.index.values() if x in found)

    def _emit(self, node: Node, target: str) -> _Read:
        """A use of what a tree computes, over all its indices."""
        if isinstance(node, Arg):
            return self._read(node.number)
        if node not in self.done:
            free = self._free(node)
            self.done[node] = _Read(self._assign(node, target, free, None))
        return self.done[node]

    def _assign(
        self, node: Node, target: str, indices: tuple[str, ...], type_: Type | None
    ) -> Access:
        """Statements for a tree, the last one over these indices; what they lack is summed."""
        operands: list[Access]
        constant: float | None = None
        match node:
            case Arg():
                op, operands = Op.SUM, [self._read(node.number).access]
            case Apply():
                op, constant = node.op, node.constant
                names = [f"{target}_{n + 1}" for n in range(len(node.operands))]
                operands = [
                    self._emit(x, name).access for x, name in zip(node.operands, names, strict=True)
                ]
            case Raw(name=name):
                raise self._refuse(
                    _RAW.get(name, (name, ""))[0], _RAW.get(name, ("", "leave it out"))[1]
                )
            case Num():
                raise self._refuse(
                    "a number is where a tensor is wanted",
                    "arithmetic of numbers alone has no statement",
                )
        return self._statement(op, operands, target, indices, type_, constant)

    def _statement(
        self,
        op: Op,
        operands: Sequence[Access],
        target: str,
        indices: tuple[str, ...],
        type_: Type | None,
        constant: float | None = None,
    ) -> Access:
        by_index = {name: self.sizes[x] for x, name in self.index.items()}
        view = self.builder.assign(
            target,
            op,
            operands,
            indices,
            tuple(by_index[x] for x in indices),
            self.place,
            constant=constant,
            order=tuple(self.index.values()),
            format=None if type_ is None else type_.format,
        )
        return Access(view.tensor, indices)

    # Results.

    def _result(self, tree: Node, n: int) -> Value:
        number = self.inputs + n
        out = self._results_of(number)
        start = self.operands[number]
        sizes = _sizes(start) or ()
        type_ = self.types[n]
        self._check_output(out)
        if isinstance(tree, Num):
            return Blank(sizes, type_.format, tree.value)
        if self.computation.reduced:
            return self._reduced(tree, number, out, sizes, type_)
        if isinstance(tree, Arg) and (moved := self._moved(tree, out, type_, n)) is not None:
            return moved
        free = self._free(tree)
        indices = self._kept(out, free)
        left = [x for x in free if x not in indices]
        if left:
            raise self._refuse(
                f"index {left[0]} is parallel, but the output's map lacks it",
                "mark it as reduction and accumulate, or give the output the index",
            )
        made = self._assign(tree, self.names[n], indices, self._typed(type_, out, indices))
        return self._viewed(made, out, sizes)

    def _check_output(self, out: tuple[str | None, ...]) -> None:
        for n, x in enumerate(out):
            if x is not None and x in out[:n]:
                raise self._refuse(
                    f"the output has the index {x} twice", "diagonals are outside the subset"
                )
            if x in self.computation.reduced:
                raise self._refuse(
                    f"the output has the index {x}, which is a reduction",
                    "mark it as parallel, or take it out of the output's map",
                )

    def _kept(self, out: tuple[str | None, ...], free: tuple[str, ...]) -> tuple[str, ...]:
        """Indices of the output that some operand has."""
        names = (self.index[x] for x in out if x is not None)
        return tuple(x for x in names if x in free)

    def _typed(self, type_: Type, out: tuple[str | None, ...], indices: tuple[str, ...]) -> Type:
        """The type of a result without the dimensions that its tensor does not have."""
        if type_.format is None or len(indices) == len(out):
            return type_
        kept = [p for p, x in enumerate(out) if x is not None and self.index[x] in indices]
        fmt = type_.format
        pairs = [(m, lv) for m, lv in zip(fmt.mode_order, fmt.levels, strict=True) if m in kept]
        levels = tuple(level for _, level in pairs)
        order = tuple(kept.index(mode) for mode, _ in pairs)
        return replace(type_, format=replace(fmt, levels=levels, mode_order=order))

    def _viewed(self, made: Access, out: tuple[str | None, ...], sizes: tuple[Size, ...]) -> View:
        """What an access gives under the output's dimensions; those it lacks repeat it."""
        axes = tuple(
            made.indices.index(self.index[x])
            if x is not None and self.index[x] in made.indices
            else None
            for x in out
        )
        return View(made.tensor, axes, sizes)

    def _moved(self, tree: Arg, out: tuple[str | None, ...], type_: Type, n: int) -> Value | None:
        """A bare yield that needs no statement: of a constant, or a broadcast."""
        value = self.operands[tree.number] if tree.number >= 0 else None
        source = self._results_of(tree.number) if tree.number >= 0 else ()
        if (
            isinstance(value, Data)
            and None not in source
            and sorted(map(str, source)) == sorted(map(str, out))
        ):
            permutation = tuple(value.permutation[source.index(x)] for x in out)
            return replace(value, name=self.names[n], permutation=permutation, format=type_.format)
        free = self._free(tree)
        if all(x is not None and self.index[x] in free for x in out):
            return None
        sizes = _sizes(self.operands[self.inputs + n]) or ()
        return self._viewed(self._read(tree.number).access, out, sizes)

    def _reduced(
        self,
        tree: Node,
        number: int,
        out: tuple[str | None, ...],
        sizes: tuple[Size, ...],
        type_: Type,
    ) -> Value:
        op, inner = self._accumulated(tree, number)
        target = self.names[number - self.inputs]
        start = self.operands[number]
        free = self._free(inner)
        indices = self._kept(out, free)
        self._check_reduced(free, indices)
        also = self._start(op, start)
        typed = self._typed(type_, out, indices)
        gone = [x for x in free if x not in indices]
        name = target if also is None else f"{target}_sum"
        final = typed if also is None else None
        if op is Op.MAX and gone:
            operand = self._emit(inner, f"{target}_1").access
            made = self._statement(Op.MAX, [operand], name, indices, final)
        elif isinstance(inner, Apply) and inner.op in _SUMMED:
            made = self._assign(inner, name, indices, final)
        else:
            operand = self._emit(inner, f"{target}_1").access
            made = self._statement(Op.SUM, [operand], name, indices, final)
        if also is not None:
            read = self._read(number).access
            both = tuple(self.index[x] for x in out if x is not None)
            kept = tuple(x for x in both if x in (*made.indices, *read.indices))
            made = self._statement(
                Op.ADD, [made, read], target, kept, self._typed(type_, out, kept)
            )
        return self._viewed(made, out, sizes)

    def _accumulated(self, tree: Node, number: int) -> tuple[Op, Node]:
        """Whether a reduction sums or takes the maximum, and of what."""
        out = Arg(number)
        op: Op | None = None
        operands: tuple[Node, ...] = ()
        if isinstance(tree, Apply) and tree.op is Op.ADD:
            op, operands = Op.SUM, tree.operands
        elif isinstance(tree, Raw) and tree.name == "max":
            op, operands = Op.MAX, tree.operands
        if op is not None and out in operands:
            inner = operands[1] if operands[0] == out else operands[0]
            if number not in arguments(inner):
                return op, inner
        raise self._refuse(
            "the region of a reduction must yield the accumulated output",
            "yield addf(%out, x) for a sum, maximumf(%out, x) for a maximum",
        )

    def _check_reduced(self, free: tuple[str, ...], indices: tuple[str, ...]) -> None:
        reduced = {self.index[x]: x for x in self.computation.dims if x in self.computation.reduced}
        for name, x in reduced.items():
            if name not in free and self.sizes[x].value != 1:
                raise self._refuse(
                    f"index {x} is reduced, but no operand has it",
                    "multiply by a tensor of ones that has it",
                )
        for name in free:
            if name not in indices and name not in reduced:
                raise self._refuse(
                    f"index {name} is parallel, but the output's map lacks it",
                    "mark it as reduction, or give the output the index",
                )

    def _start(self, op: Op, start: Value) -> Value | None:
        """What a reduction starts from, if that is more than its identity."""
        fill: float | None
        match start:
            case Blank(fill=fill):
                pass
            case Constant(value=fill):
                pass
            case Data():
                if op is Op.SUM and start.splat != 0.0:
                    return start
                fill = float("nan") if start.splat is None else start.splat
            case _:
                if op is Op.SUM:
                    return start
                fill = float("nan")
        if op is Op.SUM and fill not in (None, 0.0):
            raise self._refuse(f"the sum starts at {fill}", "fill its output with 0.0")
        if op is Op.MAX and fill is not None and not fill <= LOWEST:
            raise self._refuse(
                "the maximum does not start at minus infinity",
                "fill its output with 0xFF800000 : f32",
            )
        return None


_SUMMED = (Op.MUL, Op.ADD, Op.SUB, Op.DIV)
_RAW = {
    "max": (
        "the maximum of two tensors is outside the subset",
        "a maximum is a reduction, or with 0 a relu",
    ),
    "sqrt": ("a square root is outside the subset", "write math.rsqrt, or 1.0 / math.sqrt"),
    "erf": ("math.erf is known inside a GELU only", "0.5 * x * (1 + erf(x / sqrt(2)))"),
    "greater": ("a comparison is no value of a program", "use it in arith.select as a relu"),
    "less": ("a comparison is no value of a program", "use it in arith.select as a relu"),
}


def _sizes(value: Value) -> tuple[Size, ...] | None:
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
