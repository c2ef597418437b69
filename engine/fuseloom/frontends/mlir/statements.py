"""The statements that compute trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fuseloom.frontends.algebra.conditions import lowered
from fuseloom.frontends.algebra.evaluation import Array, Places, evaluate, is_mask
from fuseloom.frontends.algebra.expressions import (
    CAST,
    Apply,
    Arg,
    Index,
    Node,
    Num,
    Raw,
    Unsupported,
    arguments,
    is_known,
    leaves,
    number_of,
    places,
)
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.computed_access import read_at
from fuseloom.frontends.mlir.exactness import absent_is_zero
from fuseloom.frontends.mlir.integers import lowered_bits
from fuseloom.frontends.mlir.operands import Operands
from fuseloom.frontends.mlir.syntax import Result, Sum
from fuseloom.frontends.mlir.values import (
    DeferredConstant,
    DimensionSize,
    Ignored,
    View,
    constant_tensor,
    exact,
)
from fuseloom.program.formats import Format
from fuseloom.program.functions import Op
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access


class Statements:
    """The statements of one structured operation, as trees of its operands need them.

    Parameters
    ----------
    operands : Operands
    names : sequence of str
        Wishes for the names of the results.

    Attributes
    ----------
    whole : bool
        Whether a result is other than 0 where its operands have no elements.
    sparse : bool
        Whether operands that the results read may lack elements.
    """

    def __init__(self, operands: Operands, names: Sequence[str]) -> None:
        self.operands = operands
        self.builder = operands.builder
        self.place = operands.place
        self.names = names
        trees = [x for x in operands.computation.trees if not isinstance(x, Ignored)]
        self.whole = len(trees) < len(operands.computation.trees) or not all(
            map(absent_is_zero, trees)
        )
        self._read = {k for tree in trees for k in arguments(tree) if k >= 0}
        self._called = _called(operands.computation.trees, names)
        self._reads: dict[int, Access] = {}
        self._done: dict[Node, Access] = {}
        self._constants: dict[tuple[Node, bool, tuple[str, ...]], Access] = {}

    @property
    def sparse(self) -> bool:
        return any(self.operands.may_lack(k) for k in self._read)

    # Operands.

    def read(self, number: int) -> Access:
        """A use of an operand, or of a tensor of the function, over indices of the operation."""
        if number not in self._reads:
            self._reads[number] = self._new_read(number)
        return self._reads[number]

    def _new_read(self, number: int) -> Access:
        operands = self.operands
        captured = operands.captured[-1 - number] if number < 0 else None
        if captured is None:
            view = operands.view(number)
        elif isinstance(captured.value, View):
            view = captured.value
        else:
            view = self.builder.constant(captured.value)
        if view.holes and self.whole:
            view = _filled_up(self.builder, view, self.place)
        results = operands.results_of(number) if captured is None else ()
        zeros = [p for p, x in enumerate(results) if x is None and view.axes[p] is not None]
        if zeros:
            view = _squeezed(self.builder, view, zeros, self.place)
        held = view.held
        lengths = [view.sizes[p] for p in held]
        positions = [
            self._position(results[p])
            if captured is None
            else self._captured_position(captured.places[p], view.sizes[p])
            for p in held
        ]
        name = self._called.get(number)
        return read_at(
            self.builder, view.tensor, positions, lengths, operands.lengths, self.place, name
        )

    def _position(self, x: Result) -> str | Sum:
        assert x is not None  # these are squeezed
        index = self.operands.index
        if isinstance(x, Sum):
            return Sum(tuple((c, index[y]) for c, y in x.terms), x.offset)
        return index[x]

    def _captured_position(self, where: Places | Node, size: DimensionSize) -> str | Sum | Access:
        """A place along a dimension: a sum of indices, or those that a tree holds."""
        if not isinstance(where, tuple):
            chosen = self.emit(where, f"{self.names[0]}_places")
            return Access(self.builder.selection(chosen.tensor, size, self.place), chosen.indices)
        terms, offset = where
        named = tuple((c, self.operands.index_of(d)) for c, d in terms)
        plain = len(named) == 1 and named[0][0] == 1 and offset == 0
        if plain and self.operands.lengths[named[0][1]].value == size.value:
            return named[0][1]
        return Sum(named, offset)

    def as_tree(self, made: Access) -> Node:
        """A tree that is what a statement has computed."""
        number = min([*self._reads, -len(self.operands.captured)]) - 1
        self._reads[number] = made
        return Arg(number)

    def free(self, node: Node) -> tuple[str, ...]:
        """Indices of a tree, in dataflow order."""
        found = {x for number in arguments(node) for x in self.read(number).indices}
        found.update(self.operands.index_of(n) for n in places(node))
        return tuple(x for x in self.operands.lengths if x in found)

    # Trees.

    def emit(
        self, node: Node, target: str, mask: bool = False, over: tuple[str, ...] = ()
    ) -> Access:
        """A use of what a tree computes, over all its indices.

        ``mask`` says that it is the factor of a product, where zeros may be absent; a constant
        that is no mask has all the indices ``over``, as it has elements everywhere.
        """
        if isinstance(node, Arg):
            return self.read(node.number)
        if is_known(node):
            mask = mask and is_mask(node)
            key = node, mask, over
            if key not in self._constants:
                self._constants[key] = self._known(node, target, mask, over)
            return self._constants[key]
        if node not in self._done:
            self._done[node] = self.assign(node, target, self.free(node), None)
        return self._done[node]

    def assign(
        self, node: Node, target: str, indices: tuple[str, ...], format: Format | None
    ) -> Access:
        """Statements for a tree, the last one over these indices; what they lack is summed."""
        operands: list[Access]
        constant: float | None = None
        match node:
            case Arg():
                op, operands = Op.SUM, [self.read(node.number)]
            case Apply():
                op, constant = node.op, node.constant
                operands = self._operands(node, target)
            case Index():
                op, operands = Op.SUM, [self.emit(node, f"{target}_1")]
            case Raw(name="nonzero", operands=(every,)):
                made = self.assign(every, target, indices, format)
                if set(self.free(every)) <= set(indices):  # else a sum leaves nothing to select
                    self.builder.without_zeros(made.tensor)
                return made
            case Raw():
                inner = lowered(node) or lowered_bits(node)
                if inner is None and node.name == CAST:
                    inner = node.operands[0]
                if inner is None:
                    raise self.operands.refuse(f"{node.name} of tensors", "leave it out")
                return self.assign(inner, target, indices, format)
            case Num():
                raise self.operands.refuse(
                    "a number is where a tensor is wanted",
                    "arithmetic of numbers alone has no statement",
                )
        return self.statement(op, operands, target, indices, format, constant)

    def _operands(self, node: Apply, target: str) -> list[Access]:
        op, stated = node.op, self.builder.stated
        trees = self._quotient(*node.operands) if op is Op.DIV else node.operands
        names = [f"{target}_{n + 1}" for n in range(len(node.operands))]
        over = self.free(node) if op.unites else ()
        self._note_broadcast(node, over)
        found = [
            self._filled(name, x.value, () if op is Op.DIV else self.free(node))
            if isinstance(x, Num)
            else self.emit(x, name, op is Op.MUL and len(names) > 1, over)
            for x, name in zip(trees, names, strict=True)
        ]
        if op.unites and self.sparse:  # what is filled has all elements
            found = [
                self.widened(x, over, name) if self._is_filled(tree) else x
                for x, tree, name in zip(found, node.operands, names, strict=True)
            ]
        if op is Op.MAXIMUM and not self.sparse and not stated:
            return [self.widened(x, over, name) for x, name in zip(found, names, strict=True)]
        if not stated and over and all(len(x.indices) < len(over) for x in found):
            found[0] = self.widened(found[0], over, names[0])
        return found

    def _note_broadcast(self, node: Apply, over: tuple[str, ...]) -> None:
        """Say where a sum repeats an operand in the rows of another one only."""
        known = [x for x in node.operands if not is_known(x)]
        if self.builder.stated:
            return
        if self.sparse and any(len(self.free(x)) < len(over) for x in known):
            self.builder.notes.append(
                f"line {self.place[0]}: a broadcast sum acts where the other operand has rows; "
                'module attributes {fuseloom.broadcast_add = "dense"} make it act everywhere'
            )

    def _is_filled(self, node: Node) -> bool:
        """Return whether a tree has one number of the data everywhere, as a filled tensor does."""
        values = [self.operands.values[k] for k in arguments(node) if k >= 0]
        return not self.free(node) and any(isinstance(x, View) and x.rank > 0 for x in values)

    def _quotient(self, dividend: Node, divisor: Node) -> tuple[Node, Node]:
        """The operands of a quotient; a number above is one where the divisor lacks nothing."""
        number = None if self.sparse else number_of(dividend, divisor)
        return dividend if number is None else Num(number), divisor

    # Constants.

    def _filled(self, name: str, value: float, over: tuple[str, ...]) -> Access:
        """A number along all of these indices."""
        data = constant_tensor(name, value, self.operands.shape(over), self.place)
        return Access(self.builder.constant(data).tensor, over)

    def widened(self, access: Access, over: tuple[str, ...], target: str) -> Access:
        """A tensor along all of these indices: those it lacks repeat it."""
        lacks = tuple(x for x in over if x not in access.indices)
        if not lacks:
            return access
        ones = self._filled("ones", 1.0, lacks)
        return self.statement(Op.MUL, [access, ones], f"{target}_wide", over)

    def with_zeros(self, access: Access, target: str) -> Access:
        """A tensor with zeros where it has no elements."""
        zeros = self._filled("zeros", 0.0, access.indices)
        return self.statement(Op.ADD, [access, zeros], target, access.indices)

    def _known(self, node: Node, target: str, mask: bool, over: tuple[str, ...]) -> Access:
        """The constant that a tree of indices and numbers is; a mask has its zeros absent.

        It has the indices ``over``, too.
        """
        wanted = {*over, *(self.operands.index_of(n) for n in places(node))}
        numbers = [n for n, x in enumerate(self.operands.lengths) if x in wanted]
        indices = tuple(x for x in self.operands.lengths if x in wanted)
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
                raise self.operands.refuse(problem.message, problem.hint) from None
            whole = np.isfinite(values) & (np.rint(values) == values)
            wrong = np.isnan(values) if signs else ~np.isfinite(values)
            if wrong.any() or not exact(values[whole]).all():
                raise self.operands.refuse(
                    "numbers made of indices are not numbers of float32",
                    "integers are exact up to 2^24; use smaller dimensions",
                )
            return values

        fmt = Format.compressed(len(indices)) if mask else None
        literal = DeferredConstant(compute, self.place, signs)
        data = constant_tensor(target, literal, self.operands.shape(indices), self.place, fmt)
        return Access(self.builder.constant(data).tensor, indices)

    def statement(
        self,
        op: Op,
        operands: Sequence[Access],
        target: str,
        indices: tuple[str, ...],
        format: Format | None = None,
        constant: float | None = None,
    ) -> Access:
        """A statement that wishes for the order of the operation's dimensions."""
        view = self.builder.assign(
            target,
            op,
            operands,
            indices,
            self.operands.shape(indices),
            self.place,
            constant=constant,
            order=tuple(self.operands.lengths),
            format=format,
        )
        return Access(view.tensor, indices)


def _filled_up(builder: MlirBuilder, view: View, place: SourcePlace) -> View:
    """A tensor with all the zeros that the text has as its elements."""
    sizes = tuple(view.sizes[p] for p in view.held)
    indices = tuple(f"d{n}" for n in range(len(sizes)))
    zeros = builder.constant(constant_tensor("zeros", 0.0, sizes, place))
    operands = [Access(view.tensor, indices), Access(zeros.tensor, indices)]
    made = builder.assign(f"{view.tensor}_full", Op.ADD, operands, indices, sizes, place)
    return replace(view, tensor=made.tensor, holes=False)


def _squeezed(builder: MlirBuilder, view: View, zeros: Sequence[int], place: SourcePlace) -> View:
    """The tensor without dimensions of size 1 that a map reads at the constant 0."""
    gone = {view.axes[p] for p in zeros}
    kept = [axis for axis in view.axes if axis is not None]
    names = {axis: f"d{n}" for n, axis in enumerate(sorted(kept))}
    left = [axis for axis in sorted(kept) if axis not in gone]
    sizes = {axis: view.sizes[p] for p, axis in enumerate(view.axes)}
    made = builder.assign(
        f"{view.tensor}_flat",
        Op.SUM,
        [Access(view.tensor, tuple(names.values()))],
        tuple(names[axis] for axis in left),
        tuple(sizes[axis] for axis in left),
        place,
    )
    axes = tuple(
        left.index(axis) if axis is not None and axis in left else None for axis in view.axes
    )
    return View(made.tensor, axes, view.sizes, view.holes)


def _called(trees: Sequence[Node | Ignored], names: Sequence[str]) -> dict[int, str]:
    """Names of results that are nothing but what is read of the function."""
    found: dict[int, str] = {}
    for tree, name in zip(trees, names, strict=False):
        bare = tree.operands[0] if isinstance(tree, Raw) and tree.name == CAST else tree
        if isinstance(bare, Arg) and bare.number < 0:
            found.setdefault(bare.number, name)
    return found
