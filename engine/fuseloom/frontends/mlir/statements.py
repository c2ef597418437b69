"""The statements that compute trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuseloom.frontends.algebra.conditions import lowered
from fuseloom.frontends.algebra.evaluation import is_mask
from fuseloom.frontends.algebra.expressions import (
    CAST,
    Apply,
    Arg,
    Index,
    Node,
    Num,
    Raw,
    arguments,
    is_known,
    number_of,
)
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.integers import lowered_bits
from fuseloom.frontends.mlir.named import Computation
from fuseloom.frontends.mlir.operands import OperandRead, Operands
from fuseloom.frontends.mlir.region_values import Captured
from fuseloom.frontends.mlir.syntax import Number, Type
from fuseloom.frontends.mlir.values import ConstantTensor, DimensionSize, Ignored, Value, View
from fuseloom.program.functions import Op
from fuseloom.program.types import Access


class Statements(Operands):
    """Adds the statements that the trees of an operation need."""

    def __init__(
        self,
        builder: MlirBuilder,
        computation: Computation,
        operands: Sequence[Value],
        captured: Sequence[Captured],
        names: Sequence[str],
        types: Sequence[Type],
    ) -> None:
        super().__init__(builder, computation, operands, captured, names, types)
        self.done: dict[Node, OperandRead] = {}
        self.constants: dict[tuple[Node, bool, tuple[str, ...]], OperandRead] = {}

    def _note_broadcast(self, node: Apply, over: tuple[str, ...]) -> None:
        """Say where a sum repeats an operand in the rows of another one only."""
        known = [x for x in node.operands if not is_known(x)]
        if self.builder.stated:
            return
        if self._sparse() and any(len(self.free(x)) < len(over) for x in known):
            self.builder.notes.append(
                f"line {self.place[0]}: a broadcast sum acts where the other operand has rows; "
                'module attributes {fuseloom.broadcast_add = "dense"} make it act everywhere'
            )

    def _sparse(self) -> bool:
        """Return whether the operands of the operation may lack elements."""
        trees = [x for x in self.computation.trees if not isinstance(x, Ignored)]
        read = {k for tree in trees for k in arguments(tree) if k >= 0}
        return any(self.builder.may_lack(self.operands[k]) for k in read)

    # Trees.

    def chosen(self, node: Node, size: DimensionSize) -> Access:
        places = self._emit(node, f"{self.names[0]}_places").access
        return Access(self.builder.selection(places.tensor, size, self.place), places.indices)

    def _emit(
        self, node: Node, target: str, mask: bool = False, over: tuple[str, ...] = ()
    ) -> OperandRead:
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
                self.constants[key] = OperandRead(self.known(node, target, mask, over))
            return self.constants[key]
        if node not in self.done:
            free = self.free(node)
            self.done[node] = OperandRead(self._assign(node, target, free, None))
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
                trees = self._quotient(*node.operands) if op is Op.DIV else node.operands
                names = [f"{target}_{n + 1}" for n in range(len(node.operands))]
                over = self.free(node) if op.unites else ()
                self._note_broadcast(node, over)
                operands = [
                    self._number(x.value, () if op is Op.DIV else self.free(node), name)
                    if isinstance(x, Num)
                    else self._emit(x, name, op is Op.MUL and len(names) > 1, over).access
                    for x, name in zip(trees, names, strict=True)
                ]
                if op.unites and self._sparse():  # what is filled has all elements
                    operands = [
                        self._widened(x, over, name) if self.is_filled(tree) else x
                        for x, tree, name in zip(operands, node.operands, names, strict=True)
                    ]
                if op is Op.MAXIMUM and not self._sparse() and not self.builder.stated:
                    operands = [
                        self._widened(x, over, name)
                        for x, name in zip(operands, names, strict=True)
                    ]
                elif (
                    not self.builder.stated
                    and over
                    and all(len(x.indices) < len(over) for x in operands)
                ):
                    operands[0] = self._widened(operands[0], over, names[0])
            case Index():
                op, operands = Op.SUM, [self._emit(node, f"{target}_1").access]
            case Raw():
                inner = lowered(node) or lowered_bits(node)
                if inner is None and node.name == CAST:
                    inner = node.operands[0]
                if inner is None:
                    raise self.refuse(f"{node.name} of tensors", "leave it out")
                return self._assign(inner, target, indices, type_)
            case Num():
                raise self.refuse(
                    "a number is where a tensor is wanted",
                    "arithmetic of numbers alone has no statement",
                )
        return self._statement(op, operands, target, indices, type_, constant)

    def _quotient(self, dividend: Node, divisor: Node) -> tuple[Node, Node]:
        """The operands of a quotient; a number above is one where the divisor lacks nothing."""
        number = None if self._sparse() else number_of(dividend, divisor)
        return dividend if number is None else Num(number), divisor

    def _number(self, value: float, over: tuple[str, ...], target: str) -> Access:
        """A number along all of these indices."""
        by_index = {name: self.sizes[x] for x, name in self.index.items()}
        sizes, axes = tuple(by_index[x] for x in over), tuple(range(len(over)))
        literal = Number(repr(value), self.place)
        data = ConstantTensor(target, literal, "f64", sizes, axes, None, self.place)
        return Access(self.builder.constant(data).tensor, over)

    def _widened(self, access: Access, over: tuple[str, ...], target: str) -> Access:
        """A tensor along all of these indices: those it lacks repeat it."""
        by_index = {name: self.sizes[x] for x, name in self.index.items()}
        lacks = tuple(x for x in over if x not in access.indices)
        if not lacks:
            return access
        sizes = tuple(by_index[x] for x in lacks)
        literal = Number("1.0", self.place)
        ones = ConstantTensor(
            "ones", literal, "f64", sizes, tuple(range(len(lacks))), None, self.place
        )
        other = Access(self.builder.constant(ones).tensor, lacks)
        return self._statement(Op.MUL, [access, other], f"{target}_wide", over, None)

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

    def _viewed(
        self, made: Access, out: tuple[str | None, ...], sizes: tuple[DimensionSize, ...]
    ) -> View:
        """Return an access as a view under the output's dimensions; those it lacks repeat it."""
        axes = tuple(
            made.indices.index(self.index[x])
            if x is not None and self.index[x] in made.indices
            else None
            for x in out
        )
        return View(made.tensor, axes, sizes)
