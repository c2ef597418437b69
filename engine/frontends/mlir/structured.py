"""Structured operations as statements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from engine.errors import ProgramError
from engine.frontends.mlir.builder import Builder
from engine.frontends.mlir.choices import lowered
from engine.frontends.mlir.exactness import absent_is_zero
from engine.frontends.mlir.expressions import (
    CAST,
    Apply,
    Arg,
    Index,
    Node,
    Num,
    Raw,
    add,
    arguments,
    is_known,
    negated,
    sub,
)
from engine.frontends.mlir.known import is_mask
from engine.frontends.mlir.named import Computation
from engine.frontends.mlir.operands import Operands, Read, sizes_of
from engine.frontends.mlir.regions import Captured, is_least
from engine.frontends.mlir.syntax import Sum, Type
from engine.frontends.mlir.values import Blank, Constant, Data, Ignored, Size, Value, View
from engine.program.relations import affine_text
from engine.program.types import Access, Op


class Structured(Operands):
    """Adds the statements of one structured operation."""

    def __init__(
        self,
        builder: Builder,
        computation: Computation,
        operands: Sequence[Value],
        captured: Sequence[Captured],
        names: Sequence[str],
        types: Sequence[Type],
    ) -> None:
        super().__init__(builder, computation, operands, captured, names, types)
        self.done: dict[Node, Read] = {}
        self.constants: dict[tuple[Node, bool, tuple[str, ...]], Read] = {}

    def results(self) -> tuple[Value, ...]:
        trees = zip(self.computation.trees, range(len(self.names)), strict=True)
        self._note_stored()
        return tuple(
            tree if isinstance(tree, Ignored) else self._lazily(tree, n) for tree, n in trees
        )

    def _note_stored(self) -> None:
        """Say where an operation means something else than over dense tensors."""
        for tree in self.computation.trees:
            if self._sparse() and not isinstance(tree, Ignored) and not absent_is_zero(tree):
                self.builder.notes.append(
                    f"line {self.place[0]}: the operation acts on the elements that are stored; "
                    "over dense tensors it would give other elements than 0 elsewhere"
                )

    def _note_broadcast(self, node: Apply, over: tuple[str, ...]) -> None:
        """Say where a sum repeats an operand in the rows of another one only."""
        known = [x for x in node.operands if not is_known(x)]
        if self._sparse() and any(len(self.free(x)) < len(over) for x in known):
            self.builder.notes.append(
                f"line {self.place[0]}: a broadcast sum acts where the other operand has rows; "
                'module attributes {fuseloom.broadcast_add = "dense"} make it act everywhere'
            )

    def _sparse(self) -> bool:
        """Whether an input of the operation may lack elements."""
        return any(self.builder.may_lack(x) for x in self.operands[: self.inputs])

    def _lazily(self, tree: Node, n: int) -> Value:
        """A result; what is wrong with one of whole numbers counts where it is needed."""
        try:
            found = self._result(tree, n)
        except ProgramError as problem:
            if not self.types[n].is_integer:
                raise
            return Ignored(problem.message, problem)
        if isinstance(found, View) and self.types[n].format is None and not self.whole:
            read = [self.operands[k] for k in arguments(tree) if k >= 0]
            return replace(found, holes=any(isinstance(x, View) and x.holes for x in read))
        return found

    # Trees.

    def _emit(
        self, node: Node, target: str, mask: bool = False, over: tuple[str, ...] = ()
    ) -> Read:
        """A use of what a tree computes, over all its indices.

        ``mask`` says that it is the factor of a product, where zeros may be absent; a constant
        that is no mask has all the indices ``over``, as it has elements everywhere.
        """
        if isinstance(node, Arg):
            return self.read(node.number)
        if is_known(node):
            mask = mask and is_mask(node)
            key = node, mask, over
            if key not in self.constants:
                self.constants[key] = Read(self.known(node, target, mask, over))
            return self.constants[key]
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
                over = self.free(node) if op.unites else ()
                self._note_broadcast(node, over)
                operands = [
                    self._emit(x, name, op is Op.MUL and len(names) > 1, over).access
                    for x, name in zip(node.operands, names, strict=True)
                ]
            case Index():
                op, operands = Op.SUM, [self._emit(node, f"{target}_1").access]
            case Raw():
                inner = lowered(node)
                if inner is None and node.name == CAST:
                    inner = node.operands[0]
                if inner is None:
                    message, hint = _RAW.get(node.name, (f"{node.name} of tensors", "leave it out"))
                    raise self.refuse(message, hint)
                return self._assign(inner, target, indices, type_)
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
        out = self._output(number)
        start = self.operands[number]
        sizes = sizes_of(start) or ()
        type_ = self.types[n]
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
        if is_known(tree):
            read = self._emit(tree, self.names[n]).access
            return self._viewed(read, out, sizes)
        indices = self._kept(out, free)
        left = [x for x in free if x not in indices]
        if left:
            raise self.refuse(
                f"index {left[0]} is parallel, but the output's map lacks it",
                "mark it as reduction and accumulate, or give the output the index",
            )
        made = self._assign(tree, self.names[n], indices, self._typed(type_, out, indices))
        return self._viewed(made, out, sizes)

    def _output(self, number: int) -> tuple[str | None, ...]:
        """Where the output is written: each of its dimensions at an index, or at the constant 0."""
        out: list[str | None] = []
        for x in self.results_of(number):
            if isinstance(x, Sum):
                shown = affine_text([*x.terms], x.offset)
                raise self.refuse(
                    f"the output is written at {shown}",
                    "give its map one dimension per result, and multiply by a tensor that says "
                    'where it goes: an argument with {fuseloom.where = "d1 = 2*d0"}',
                )
            if x is not None and x in out:
                raise self.refuse(
                    f"the output has the index {x} twice",
                    "use two indices, and multiply by an argument "
                    'with {fuseloom.where = "d1 = d0"}',
                )
            out.append(x)
        self._check_output(tuple(out))
        return tuple(out)

    def _check_output(self, out: tuple[str | None, ...]) -> None:
        for x in out:
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
        if any(isinstance(x, Sum) for x in source):
            return None
        if (
            isinstance(value, Data)
            and None not in source
            and sorted(map(str, source)) == sorted(map(str, out))
        ):
            permutation = tuple(value.permutation[source.index(x)] for x in out)
            fmt = self.types[n].format
            same = permutation == value.permutation and fmt == value.format
            name = value.name if same else self.names[n]
            return replace(value, name=name, permutation=permutation, format=fmt)
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
        op, inner, least = self._accumulated(tree, number)
        inner = negated(inner) if least else inner  # the maximum of what is negated
        target = self.names[number - self.inputs]
        free = self.free(inner)
        indices = self._kept(out, free)
        self._check_reduced(free, indices)
        also = self._start(op, number, least)
        typed = self._typed(type_, out, indices)
        gone = [x for x in free if x not in indices]
        name = target if also is None else f"{target}_{'sum' if op is Op.SUM else 'max'}"
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
        if also is not None:
            both = tuple(self.index[x] for x in out if x is not None)
            if least:
                also = self._statement(
                    Op.SCALE, [also], f"{target}_start", also.indices, None, -1.0
                )
            kept = tuple(x for x in both if x in (*made.indices, *also.indices))
            typed = self._typed(type_, out, kept)
            joined = Op.ADD if op is Op.SUM else Op.MAXIMUM
            name = f"{target}_joined" if least else target
            made = self._statement(joined, [made, also], name, kept, None if least else typed)
        if least:
            made = self._statement(Op.SCALE, [made], target, made.indices, typed, -1.0)
        return self._viewed(made, out, sizes)

    def _accumulated(self, tree: Node, number: int) -> tuple[Op, Node, bool]:
        """Whether a reduction sums or takes the maximum, of what, and whether of its negative."""
        out = Arg(number)
        match tree:
            case Apply(op=Op.ADD | Op.SUB):
                rest = _taken_out(tree, out)
                if rest is not None and number not in arguments(rest):
                    return Op.SUM, rest, False
            case Raw(name="max" | "min" | "or" | "and", operands=operands) if out in operands:
                inner = operands[1] if operands[0] == out else operands[0]
                if number not in arguments(inner):
                    return Op.MAX, inner, tree.name in ("min", "and")
        raise self.refuse(
            "the region of a reduction must yield the accumulated output",
            "yield addf(%out, x) for a sum, maximumf or minimumf(%out, x) for a maximum or "
            "minimum; a product of all elements has no counterpart",
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

    def _start(self, op: Op, number: int, least: bool) -> Access | None:
        """What a reduction starts from, if that is more than its identity."""
        start = self.operands[number]
        fill: float | None
        match start:
            case Blank(fill=fill) | Constant(value=fill) | Data(splat=fill):
                pass
            case _:
                fill = float("nan")
        if isinstance(start, Blank) and fill is None:
            return None
        if fill is not None:
            element = self.types[number - self.inputs].element
            if op is Op.SUM and fill == 0.0:
                return None
            if op is Op.MAX and is_least(-fill if least else fill, element):
                return None
            if not math.isfinite(fill) and not math.isnan(fill):
                raise self.refuse(
                    f"the {'minimum' if least else 'maximum' if op is Op.MAX else 'sum'} starts "
                    f"at {fill}",
                    "fill its output with the infinity that every element replaces, "
                    f"{'0x7F800000' if least else '0xFF800000'} : f32"
                    if op is Op.MAX
                    else "fill its output with 0.0",
                )
        return self.read(number).access


def _taken_out(tree: Node, out: Arg) -> Node | None:
    """What is added to the output in a sum of several terms; None if it is not in it once."""
    if tree == out:
        return Num(0.0)
    if not isinstance(tree, Apply) or tree.op not in (Op.ADD, Op.SUB):
        return None
    a, b = tree.operands
    for mine, other in ((a, b), (b, a)):
        if mine is b and tree.op is Op.SUB:
            break
        rest = _taken_out(mine, out)
        if rest is None:
            continue
        if rest == Num(0.0):
            return negated(other) if tree.op is Op.SUB else other
        return sub(rest, other) if tree.op is Op.SUB else add(rest, other)
    return None


_SUMMED = (Op.MUL, Op.ADD, Op.SUB, Op.DIV)
_RAW = {
    "erf": ("math.erf is known inside a GELU only", "0.5 * x * (1 + erf(x / sqrt(2)))"),
}
