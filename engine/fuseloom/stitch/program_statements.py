"""Statements of a program on dense arrays, while they are being written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.conditions import lowered
from fuseloom.frontends.algebra.expressions import Apply, Arg, Node, Num, Raw, Unsupported
from fuseloom.frontends.algebra.tensors import TensorView, axes_of
from fuseloom.program import Access, BroadcastAdd, Format, Op, Program, Statement, Tensor, verify
from fuseloom.program.declarations import RESERVED
from fuseloom.program.limits import MAX_NAME_CHARS
from fuseloom.program.primes import LETTERS, numbered
from fuseloom.program.relations import MOST, Relation, check_relation

Array: TypeAlias = npt.NDArray[Any]
Value: TypeAlias = "DenseView | Array"
"""A tensor that is assigned or given, or an array that is known."""


@dataclass(frozen=True)
class DenseView(TensorView):
    """A tensor under the dimensions of an array, all of whose elements are there.

    Attributes
    ----------
    dims : tuple of int
        Extents.
    """

    dims: tuple[int, ...]


class StatementWriter:
    """Collects tensors and statements.

    Parameters
    ----------
    name : str
        Of the program.

    Examples
    --------
    >>> from fuseloom.frontends.algebra.expressions import largest
    >>> writer = StatementWriter("example")
    >>> x = writer.given("x", (4,))
    >>> y = writer.compute("y", largest, [x, np.zeros(4)])
    >>> print(writer.program([y], ["y"]), end="")
    program example
    x: 4 dense
    y[i] = relu(x[i])
    output y
    """

    def __init__(self, name: str) -> None:
        self._taken = set(RESERVED)
        self.title = self.free_name(name)
        self._taken.discard(self.title)
        self.tensors: dict[str, Tensor] = {}
        self.statements: list[Statement] = []
        self._known: dict[tuple[Statement, tuple[int, ...]], str] = {}
        self._made: dict[tuple[Relation, tuple[int, ...]], str] = {}
        self._fills = False

    # Names, inputs and statements ---------------------------------------------------------------

    def free_name(self, wanted: str) -> str:
        """A name of the language that no tensor has, like the one that is wanted."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", wanted)[: MAX_NAME_CHARS - 6]
        base = base if re.match("[A-Za-z_]", base) else f"t{base}"
        name = numbered(base, self._taken)
        self._taken.add(name)
        return name

    def given(self, wanted: str, dims: Sequence[int]) -> DenseView:
        """Add an input.

        Parameters
        ----------
        wanted : str
            Its name, unless it is taken.
        dims : sequence of int
        """
        name, shape = self.free_name(wanted), tuple(dims)
        self.tensors[name] = Tensor(name, shape, Format.dense(len(shape)))
        return DenseView(name, tuple(range(len(shape))), shape)

    def made(self, wanted: str, relation: Relation, dims: Sequence[int]) -> str:
        """The name of a tensor that holds ones where a relation holds; equal ones are one.

        Raises
        ------
        ProgramError
            If it has more ones than it may.
        """
        shape = tuple(dims)
        if (relation, shape) not in self._made:
            check_relation(wanted, relation, shape)
            name = self._made[relation, shape] = self.free_name(wanted)
            self.tensors[name] = Tensor(name, shape, relation.format(shape), relation)
        return self._made[relation, shape]

    def emit(
        self,
        wanted: str,
        op: Op,
        out: Sequence[str],
        operands: Sequence[Access],
        sizes: Mapping[str, int],
        constant: float | None = None,
        axis: str | None = None,
    ) -> str:
        """Add a statement, or find one that computes the same; the name of what it assigns.

        What is absent in tensors that are made is filled with zeros, behind a product with them.
        """
        makes = [x for x in operands if self.tensors[x.tensor].made is not None]
        if makes and op is Op.MUL and out and not self._placed(makes, out):
            product = self._assigned(f"{wanted}_part", op, out, operands, sizes)
            return self._filled(wanted, product)
        if makes and op is not Op.MUL and out:
            operands = [Access(self._whole_made(x.tensor), x.indices) for x in operands]
        return self._assigned(wanted, op, out, operands, sizes, constant, axis)

    def _placed(self, makes: Sequence[Access], out: Sequence[str]) -> bool:
        """Return whether each of these relates the others to an index of its own, everywhere."""
        own: list[str] = []
        others: set[str] = set()
        for access in makes:
            tensor = self.tensors[access.tensor]
            if tensor.made is None or not tensor.made.total(tensor.shape):
                return False
            own.append(access.indices[tensor.made.target])
            others.update(x for x in access.indices if x != own[-1])
        return len({*own}) == len(own) and not {*own} & {*out, *others}

    def _whole_made(self, name: str) -> str:
        made = self.tensors[name].made
        return name if made is None else self._filled(f"{name}_whole", name)

    def _filled(self, wanted: str, name: str) -> str:
        """A tensor with zeros where it has no elements: a number added in every row."""
        self._fills = True
        shape = self.tensors[name].shape
        names = LETTERS[: len(shape)]
        zero = self.number(0.0).read(())
        sizes = dict(zip(names, shape, strict=True))
        return self._assigned(wanted, Op.ADD, names, [Access(name, tuple(names)), zero], sizes)

    def _assigned(
        self,
        wanted: str,
        op: Op,
        out: Sequence[str],
        operands: Sequence[Access],
        sizes: Mapping[str, int],
        constant: float | None = None,
        axis: str | None = None,
    ) -> str:
        shape = tuple(sizes[x] for x in out)
        same = Statement(Access("", tuple(out)), op, tuple(operands), constant, axis)
        if (same, shape) not in self._known:
            name = self._known[same, shape] = self.free_name(wanted)
            self.statements.append(replace(same, out=Access(name, tuple(out))))
            self.tensors[name] = Tensor(name, shape, Format.compressed(len(shape)))
            if op is Op.RESHAPE:
                self.tensors[name] = replace(self.tensors[name], format=Format.dense(len(shape)))
        return self._known[same, shape]

    # Values -------------------------------------------------------------------------------------

    def compute(
        self, wanted: str, function: Callable[..., Node], operands: Sequence[Value]
    ) -> Value:
        """Apply a function of elements to arrays of one shape.

        Parameters
        ----------
        wanted : str
            The name of what the last statement assigns.
        function : callable
            Of trees; it gives a tree.
        operands : sequence

        Raises
        ------
        Unsupported
            If no statements compute it.
        """
        dims = tuple(operands[0].shape if isinstance(operands[0], np.ndarray) else operands[0].dims)
        nodes: list[Node] = []
        views: list[DenseView] = []
        for operand in operands:
            if isinstance(operand, np.ndarray) and is_uniform(operand):
                nodes.append(Num(float(operand.flat[0])))
            else:
                nodes.append(Arg(len(views)))
                views.append(self.held(operand, wanted))
        return _Emission(self, wanted, views, dims).value(function(*nodes))

    def number(self, value: float) -> DenseView:
        """A number as a tensor without dimensions.

        Raises
        ------
        Unsupported
            If it is infinite, or none.
        """
        if not isfinite(value):
            raise Unsupported(f"the number {value}", "programs have finite constants alone")
        place = self.made("unit", Relation(0, ()), (1,))
        one = self.emit("one", Op.SUM, (), [Access(place, ("z",))], {"z": 1})
        if value != 1:
            one = self.emit("number", Op.SCALE, (), [Access(one, ())], {}, constant=value)
        return DenseView(one, (), ())

    def held(self, value: Value, wanted: str) -> DenseView:
        """A value as a tensor: what is known as one that a relation makes, where it can be.

        Raises
        ------
        Unsupported
            If it is an array of other numbers.
        """
        if isinstance(value, DenseView):
            return value
        axes = [d for d in range(value.ndim) if not is_uniform(value, d)]
        rest = value[tuple(slice(None) if d in axes else 0 for d in range(value.ndim))]
        if not axes:
            view = self.number(float(rest))
            return DenseView(view.tensor, (None,) * value.ndim, value.shape)
        relation = relation_of(np.asarray(rest))
        if relation is None:
            raise Unsupported(
                "an array of numbers that are known", "make it a parameter of the module"
            )
        name = self.made(wanted, relation, rest.shape)
        places = tuple(axes.index(d) if d in axes else None for d in range(value.ndim))
        return DenseView(name, places, value.shape)

    def whole(self, value: Value, wanted: str, plain: bool = False) -> DenseView:
        """A value as a tensor that is stored with all its dimensions.

        Parameters
        ----------
        value : DenseView or array
        wanted : str
        plain : bool
            Whether they have to be in order.
        """
        view = self.held(value, wanted)
        missing = [d for d, axis in enumerate(view.axes) if axis is None]
        if not missing and (view.plain or not plain):
            return view
        names = LETTERS[: len(view.dims)]
        operands = [view.read(names)]
        for d in missing:
            at = Relation(1, ())
            place = self.made("spread", at, (view.dims[d], 1))
            operands.append(Access(place, (names[d], f"{names[d]}_at")))
        sizes = dict(zip(names, view.dims, strict=True))
        made = self.emit(wanted, Op.MUL if missing else Op.SUM, names, operands, sizes)
        return DenseView(made, tuple(range(len(names))), view.dims)

    def program(self, results: Sequence[Value], names: Sequence[str]) -> Program:
        """The program with these results: each is a tensor of its own.

        Parameters
        ----------
        results : sequence
        names : sequence of str
            What results are called that have no statement of their own yet.

        Raises
        ------
        ProgramError
            If it has no meaning.
        """
        outputs: list[str] = []
        for value, wanted in zip(results, names, strict=True):
            found = self._whole_made(self.whole(value, wanted, plain=True).tensor)
            assigned = {statement.out.tensor for statement in self.statements}
            if found in outputs or found not in assigned:
                found = self._copy(found, wanted)
            outputs.append(found)
        program = Program(
            self.title, tuple(self.tensors.values()), tuple(self.statements), tuple(outputs),
            BroadcastAdd.DENSE if self._fills else BroadcastAdd.SPARSE,
        )  # fmt: skip
        used = {access.tensor for statement in program.live for access in statement.operands}
        kept = tuple(t for t in program.tensors if t.name in used or t.name in outputs)
        made = replace(program, tensors=kept, statements=program.live)
        verify(made)
        return made

    def _copy(self, name: str, wanted: str) -> str:
        """A tensor again: inputs are no results."""
        shape = self.tensors[name].shape
        indices = tuple(LETTERS[: len(shape)])
        copied = self.free_name(wanted)
        self.tensors[copied] = Tensor(copied, shape, Format.compressed(len(shape)))
        self.statements.append(Statement(Access(copied, indices), Op.SUM, (Access(name, indices),)))
        return copied


class _Emission:
    """A tree of operations as statements."""

    def __init__(
        self, writer: StatementWriter, wanted: str, views: list[DenseView], dims: tuple[int, ...]
    ) -> None:
        self.writer = writer
        self.wanted = wanted
        self.views = views
        self.dims = dims
        self.done: dict[Node, float | DenseView] = {}

    def value(self, tree: Node) -> Value:
        made = self._of(tree, top=True)
        return np.full(self.dims, made) if isinstance(made, float) else made

    def _of(self, node: Node, top: bool = False) -> float | DenseView:
        if node not in self.done:
            self.done[node] = self._new(node, top)
        return self.done[node]

    def _new(self, node: Node, top: bool) -> float | DenseView:
        match node:
            case Num(value=value):
                return value
            case Arg(number=number):
                return self.views[number]
            case Apply(op=op, operands=operands, constant=constant):
                return self._statement(op, [self._of(x) for x in operands], constant, top)
        simpler = lowered(node) if isinstance(node, Raw) else None
        if simpler is None:
            raise Unsupported("an element by its place", "leave it out")
        return self._of(simpler, top)

    def _statement(
        self, op: Op, operands: list[float | DenseView], constant: float | None, top: bool
    ) -> DenseView:
        names = tuple(LETTERS[: len(self.dims)])
        accesses = [self._read(x, names) for x in operands]
        used = {x for access in accesses for x in access.indices}
        out = [x for x in names if x in used]
        sizes = dict(zip(names, self.dims, strict=True))
        wanted = self.wanted if top else f"{self.wanted}_part"
        made = self.writer.emit(wanted, op, out, accesses, sizes, constant)
        return DenseView(made, axes_of(names, out), self.dims)

    def _read(self, operand: float | DenseView, names: Sequence[str]) -> Access:
        if isinstance(operand, float):
            return self.writer.number(operand).read(())
        return operand.read(names)


def is_uniform(array: Array, along: int | None = None) -> bool:
    """Return whether all elements of an array, or all along a dimension, are one number.

    Examples
    --------
    >>> is_uniform(np.ones((2, 3))), is_uniform(np.array([[1, 1], [2, 2]]), 1)
    (True, True)
    """
    if not array.size:
        return False
    first = array.flat[0] if along is None else array.take([0], axis=along)
    return bool(np.all((array == first) | ((array != array) & (first != first))))


def relation_of(array: Array) -> Relation | None:
    """The relation that holds where an array has ones; None if that is no relation.

    Examples
    --------
    >>> print(relation_of(np.eye(4)[1:3]).text(("i", "j")))
    j = i + 1
    >>> print(relation_of(np.eye(4)[[3, 0, 2]]).text(("i", "j")))
    j = (3, 0, 2)[i]
    """
    if not array.ndim or array.size > MOST or not np.all((array == 0) | (array == 1)):
        return None
    places = np.argwhere(array)
    listed = None
    for target in reversed(range(array.ndim)):
        if not len(places) or (array.sum(axis=target, dtype=np.int64) > 1).any():
            continue
        others = [d for d in range(array.ndim) if d != target]
        relation = _affine(places, target, others)
        if relation is not None and _same(relation, array):
            return relation
        if listed is None and array.sum(axis=target, dtype=np.int64).all():
            strides = [
                int(np.prod([array.shape[e] for e in others[n + 1 :]], dtype=np.int64))
                for n in range(len(others))
            ]
            entries = tuple(map(int, array.argmax(axis=target).ravel()))
            listed = Relation(target, tuple(zip(others, strides, strict=True)), 0, entries)
    return listed


def _affine(places: Array, target: int, others: list[int]) -> Relation | None:
    """The sum of coordinates that the target is at all places, if there is one."""
    given = np.column_stack([places[:, others], np.ones(len(places))])
    found, *_ = np.linalg.lstsq(given, places[:, target].astype(float), rcond=None)
    whole = np.rint(found).astype(np.int64)
    if not np.array_equal(given.astype(np.int64) @ whole, places[:, target]):
        return None
    terms = tuple((d, int(c)) for d, c in zip(others, whole[:-1], strict=True) if c)
    return Relation(target, terms, int(whole[-1]))


def _same(relation: Relation, array: Array) -> bool:
    try:
        check_relation("array", relation, array.shape)
    except ProgramError:
        return False
    made = np.zeros(array.shape, bool)
    made[tuple(relation.coordinates(array.shape).T)] = True
    return bool(np.array_equal(made, array != 0))
