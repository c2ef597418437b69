"""Structured operations as statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.frontends.mlir.builder import Builder
from engine.frontends.mlir.expressions import (
    CAST,
    Apply,
    Arg,
    Node,
    Num,
    Raw,
    arguments,
    as_maximum,
    negated,
)
from engine.frontends.mlir.named import Computation
from engine.frontends.mlir.operands import Operands, Read, sizes_of
from engine.frontends.mlir.syntax import Type
from engine.frontends.mlir.values import Blank, Constant, Data, Ignored, Size, Value, View
from engine.program.types import Access, Op

LOWEST = -65504.0
"""A maximum may start here or below; the smallest number of half precision."""


class Structured(Operands):
    """Adds the statements of one structured operation."""

    def __init__(
        self,
        builder: Builder,
        computation: Computation,
        operands: Sequence[Value],
        captured: Sequence[View],
        names: Sequence[str],
        types: Sequence[Type],
    ) -> None:
        super().__init__(builder, computation, operands, captured, names, types)
        self.done: dict[Node, Read] = {}

    def results(self) -> tuple[Value, ...]:
        trees = zip(self.computation.trees, range(len(self.names)), strict=True)
        return tuple(
            Ignored("it has no meaning in a program: only floating-point results do")
            if tree is None
            else self._result(tree, n)
            for tree, n in trees
        )

    # Trees.

    def _emit(self, node: Node, target: str) -> Read:
        """A use of what a tree computes, over all its indices."""
        if isinstance(node, Arg):
            return self.read(node.number)
        if node not in self.done:
            free = self.free(node)
            self.done[node] = Read(self._assign(node, target, free, None))
        return self.done[node]

    def _assign(
        self, node: Node, target: str, indices: tuple[str, ...], type_: Type | None
    ) -> Access:
        """Statements for a tree, the last one over these indices; what they lack is summed."""
        operands: list[Access]
        constant: float | None = None
        match node:
            case Arg():
                op, operands = Op.SUM, [self.read(node.number).access]
            case Apply():
                op, constant = node.op, node.constant
                names = [f"{target}_{n + 1}" for n in range(len(node.operands))]
                operands = [
                    self._emit(x, name).access for x, name in zip(node.operands, names, strict=True)
                ]
            case Raw(name="max" | "min"):
                return self._assign(as_maximum(node), target, indices, type_)
            case Raw(name=name):
                raise self.refuse(
                    _RAW.get(name, (name, ""))[0], _RAW.get(name, ("", "leave it out"))[1]
                )
            case Num():
                raise self.refuse(
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
        out = self.results_of(number)
        start = self.operands[number]
        sizes = sizes_of(start) or ()
        type_ = self.types[n]
        self._check_output(out)
        if isinstance(tree, Num):
            return Blank(sizes, type_.format, tree.value)
        if self.computation.reduced:
            return self._reduced(tree, number, out, sizes, type_)
        cast = isinstance(tree, Raw) and tree.name == CAST
        if isinstance(tree, Raw) and cast:
            tree = tree.operands[0]
        if isinstance(tree, Arg) and (moved := self._moved(tree, out, n, cast)) is not None:
            return moved
        free = self.free(tree)
        indices = self._kept(out, free)
        left = [x for x in free if x not in indices]
        if left:
            raise self.refuse(
                f"index {left[0]} is parallel, but the output's map lacks it",
                "mark it as reduction and accumulate, or give the output the index",
            )
        made = self._assign(tree, self.names[n], indices, self._typed(type_, out, indices))
        return self._viewed(made, out, sizes)

    def _check_output(self, out: tuple[str | None, ...]) -> None:
        for n, x in enumerate(out):
            if x is not None and x in out[:n]:
                raise self.refuse(
                    f"the output has the index {x} twice", "diagonals are outside the subset"
                )
            if x in self.computation.reduced:
                raise self.refuse(
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

    def _moved(self, tree: Arg, out: tuple[str | None, ...], n: int, cast: bool) -> Value | None:
        """A bare yield that needs no statement: of a constant, a broadcast, a change of type."""
        value = self.operands[tree.number] if tree.number >= 0 else None
        source = self.results_of(tree.number) if tree.number >= 0 else ()
        if (
            isinstance(value, Data)
            and None not in source
            and sorted(map(str, source)) == sorted(map(str, out))
        ):
            permutation = tuple(value.permutation[source.index(x)] for x in out)
            fmt = self.types[n].format
            return replace(value, name=self.names[n], permutation=permutation, format=fmt)
        access = self.read(tree.number).access
        names = tuple(None if x is None else self.index[x] for x in out)
        broadcast = any(x not in access.indices for x in names)
        if not set(access.indices) <= set(names):
            return None
        if not broadcast and not (cast and access.indices == names):
            return None
        return self._viewed(access, out, sizes_of(self.operands[self.inputs + n]) or ())

    def _reduced(
        self,
        tree: Node,
        number: int,
        out: tuple[str | None, ...],
        sizes: tuple[Size, ...],
        type_: Type,
    ) -> Value:
        op, inner = self._accumulated(tree, number)
        least = isinstance(tree, Raw) and tree.name == "min"  # the maximum of what is negated
        inner = negated(inner) if least else inner
        target = self.names[number - self.inputs]
        start = self.operands[number]
        free = self.free(inner)
        indices = self._kept(out, free)
        self._check_reduced(free, indices)
        also = self._start(op, start, least)
        typed = self._typed(type_, out, indices)
        gone = [x for x in free if x not in indices]
        name = target if also is None else f"{target}_sum"
        name = f"{target}_max" if least else name
        final = typed if also is None and not least else None
        if op is Op.MAX and gone:
            operand = self._emit(inner, f"{target}_1").access
            made = self._statement(Op.MAX, [operand], name, indices, final)
        elif isinstance(inner, Apply) and inner.op in _SUMMED:
            made = self._assign(inner, name, indices, final)
        else:
            operand = self._emit(inner, f"{target}_1").access
            made = self._statement(Op.SUM, [operand], name, indices, final)
        if least:
            made = self._statement(Op.SCALE, [made], target, indices, typed, -1.0)
        if also is not None:
            read = self.read(number).access
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
        elif isinstance(tree, Raw) and tree.name in ("max", "min"):
            op, operands = Op.MAX, tree.operands
        if op is not None and out in operands:
            inner = operands[1] if operands[0] == out else operands[0]
            if number not in arguments(inner):
                return op, inner
        raise self.refuse(
            "the region of a reduction must yield the accumulated output",
            "yield addf(%out, x) for a sum, maximumf or minimumf(%out, x) for a maximum or minimum",
        )

    def _check_reduced(self, free: tuple[str, ...], indices: tuple[str, ...]) -> None:
        reduced = {self.index[x]: x for x in self.computation.dims if x in self.computation.reduced}
        for name, x in reduced.items():
            if name not in free and self.sizes[x].value != 1:
                raise self.refuse(
                    f"index {x} is reduced, but no operand has it",
                    "multiply by a tensor of ones that has it",
                )
        for name in free:
            if name not in indices and name not in reduced:
                raise self.refuse(
                    f"index {name} is parallel, but the output's map lacks it",
                    "mark it as reduction, or give the output the index",
                )

    def _start(self, op: Op, start: Value, least: bool) -> Value | None:
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
            raise self.refuse(f"the sum starts at {fill}", "fill its output with 0.0")
        if op is Op.MAX and least and fill is not None and not -fill <= LOWEST:
            raise self.refuse(
                "the minimum does not start at infinity", "fill its output with 0x7F800000 : f32"
            )
        if op is Op.MAX and not least and fill is not None and not fill <= LOWEST:
            raise self.refuse(
                "the maximum does not start at minus infinity",
                "fill its output with 0xFF800000 : f32",
            )
        return None


_SUMMED = (Op.MUL, Op.ADD, Op.SUB, Op.DIV)
_RAW = {
    "erf": ("math.erf is known inside a GELU only", "0.5 * x * (1 + erf(x / sqrt(2)))"),
    "greater": ("a comparison is no value of a program", "use it in arith.select as a relu"),
    "less": ("a comparison is no value of a program", "use it in arith.select as a relu"),
}
