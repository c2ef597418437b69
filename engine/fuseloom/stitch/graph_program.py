"""Programs of dense graphs: operations on arrays as statements, and what is lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.expressions import Num, Unsupported, made, mul, negated
from fuseloom.frontends.algebra.moves import part
from fuseloom.frontends.algebra.tensors import axes_of
from fuseloom.program import Access, Op, Program
from fuseloom.program.conversion import Conversion
from fuseloom.program.primes import LETTERS
from fuseloom.stitch.graph import DenseModule, DenseOperation
from fuseloom.stitch.graph_elements import COMBINED, LOGICAL, OF_FLOATS, TREES, differs, why_refused
from fuseloom.stitch.graph_losses import graph_losses
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.meaning.evaluation import value_of
from fuseloom.stitch.program_statements import (
    Array,
    DenseView,
    StatementWriter,
    Value,
    is_uniform,
)
from fuseloom.stitch.shapes import TensorShape, TupleShape
from fuseloom.wording import counted

CHOICES = (
    "Choices are computed of both sides: where the one that is not taken is infinite or no number, "
    "the program's result is no number."
)
MOST_KNOWN = 2**24
"""Elements of an array that is computed from constants and places."""


def program_of_module(module: DenseModule) -> Conversion:
    """The program that computes what a dense graph does.

    Parameters become dense inputs.  Broadcasts and transpositions are folded into the statements
    that read them; slices are reads at computed places.  What follows from constants and places
    alone is computed here: numbers become constants of statements, and zeros and ones that select
    elements become tensors that the program makes.

    Parameters
    ----------
    module : DenseModule
        Calls are replaced by what they call.

    Returns
    -------
    Conversion
        With what the graph says and the program does not.

    Raises
    ------
    ProgramError
        Of the first operation, among those that a result needs, that no statement computes, by its
        name and opcode.

    Examples
    --------
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> made = program_of_module(read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[4,3] parameter(0)
    ...   b = f32[3] parameter(1)
    ...   wide = f32[4,3] broadcast(b), dimensions={1}
    ...   ROOT y = f32[4,3] add(x, wide)
    ... }'''))
    >>> print(made)
    program m
    x: 4x3 dense
    b: 3 dense
    y[i,j] = x[i,j] + b[j]
    output y
    Elements of the type f32 become numbers, whose meaning is float64.
    """
    reader = _DenseReader(inline_calls(module))
    program = reader.program()
    calls = sum(one.opcode == "call" for one in module.main.operations)
    return Conversion(program, reader.losses(program, calls))


class _DenseReader:
    """Reads one operation after another.

    Attributes
    ----------
    values : dict
        Per operation what it makes.
    """

    def __init__(self, module: DenseModule) -> None:
        self.module = module
        self.writer = StatementWriter(module.name)
        self.values: dict[str, Value] = {}
        self.kept = _needed(module)
        self.names: dict[str, str] = {}
        self.notes: dict[str, None] = {}

    def program(self) -> Program:
        main = self.module.main
        for operation in self.kept:
            if isinstance(operation.shape, TupleShape):
                raise _refused(operation, "a tuple within the graph", "return its parts alone")
            shape = operation.array
            if shape.dtype.kind == "c":
                raise _refused(operation, "complex numbers", "compute both parts by themselves")
            if 0 in shape.dims:
                raise _refused(operation, "an array without elements", "leave it out")
            try:
                self.values[operation.name] = self._value(operation, shape)
            except Unsupported as error:
                raise _refused(operation, error.message, error.hint) from None
            except ProgramError as error:
                if error.message.startswith(operation.name):
                    raise
                raise _refused(operation, error.message, error.hint or "") from None
        results = [self.values[name] for name in main.outputs]
        try:
            return self.writer.program(results, main.outputs)
        except Unsupported as error:
            raise ProgramError(f"a result is {error.message}", hint=error.hint) from None

    def _value(self, operation: DenseOperation, shape: TensorShape) -> Value:
        opcode = operation.opcode
        if opcode == "parameter":
            view = self.writer.given(operation.name, shape.dims)
            self.names[operation.name] = view.tensor
            return view
        operands = [self.values[name] for name in operation.operands]
        if opcode in ("constant", "iota") or (
            operands and all(isinstance(one, np.ndarray) for one in operands)
        ):
            known = self._known(operation, operands, shape)
            if known is not None:
                return known
        if opcode in TREES:
            return self._elementwise(operation, operands)
        if opcode in _MOVES:
            return _MOVES[opcode](self, operation, operands)
        raise Unsupported(*why_refused(opcode))

    def _known(
        self, operation: DenseOperation, operands: Sequence[Value], shape: TensorShape
    ) -> Array | None:
        """The value of an operation that follows from constants and places."""
        if shape.elements > MOST_KNOWN:
            if operation.opcode == "constant" and operation.literal is not None:
                return np.asarray(operation.literal)
            if operation.opcode == "broadcast" and is_uniform(np.asarray(operands[0])):
                return np.broadcast_to(np.asarray(operands[0]).ravel()[0], shape.dims)
            return None
        given = [
            np.asarray(one).astype(self.module.main.by_name[name].array.dtype)
            for one, name in zip(operands, operation.operands, strict=True)
        ]
        return np.asarray(value_of(self.module, operation, given))

    # Elements ----------------------------------------------------------------------------------

    def _elementwise(self, operation: DenseOperation, operands: list[Value]) -> Value:
        function = TREES[operation.opcode](operation)
        kinds = {self._kind(name) for name in operation.operands}
        if operation.opcode in LOGICAL and kinds != {"b"}:
            raise Unsupported("bits of integers", "compute it on numbers")
        if operation.opcode in OF_FLOATS and kinds & {"i", "u"}:
            raise Unsupported("integers that are rounded or wrap", "convert them to floats first")
        if operation.opcode == "select":
            self.notes[CHOICES] = None
        if operation.opcode == "clamp":
            dims = operation.array.dims
            operands = [_spread(one, dims) for one in operands]
        return self.writer.compute(operation.name, function, operands)

    def _kind(self, name: str) -> str:
        return self.module.main.by_name[name].array.dtype.kind

    def convert(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """Elements of another type."""
        old, new = self._kind(operation.operands[0]), operation.array.dtype.kind
        if new == "b" and old != "b":
            return self.writer.compute(operation.name, differs, operands)
        if old == "f" and new in "iu":
            return self.writer.compute(operation.name, partial(made, Op.TRUNC), operands)
        return operands[0]

    # Elements elsewhere ------------------------------------------------------------------------

    def broadcast(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """An array repeated: its readers lack indices."""
        view = self.writer.held(operands[0], operation.operands[0])
        axes: list[int | None] = [None] * operation.array.rank
        for axis, d in zip(view.axes, operation.attributes.get("dimensions", ()), strict=True):
            axes[d] = axis
        return DenseView(view.tensor, tuple(axes), operation.array.dims)

    def transpose(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """An array whose readers have its indices in another order."""
        view = self.writer.held(operands[0], operation.operands[0])
        axes = tuple(view.axes[d] for d in operation.attributes["dimensions"])
        return DenseView(view.tensor, axes, operation.array.dims)

    def reshape(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """Elements in another shape; dimensions of one element come and go without a statement."""
        view, dims = self.writer.held(operands[0], operation.operands[0]), operation.array.dims
        sources: list[int | None] = []
        at = 0
        for extent in dims:
            while at < view.rank and view.dims[at] == 1 != extent:
                at += 1
            if at < view.rank and view.dims[at] == extent:
                sources.append(at)
                at += 1
            elif extent == 1:
                sources.append(None)
            else:
                return self._reshaped(operation, view)
        gone = [d for d in range(view.rank) if d not in sources]
        if any(view.dims[d] != 1 for d in gone):
            return self._reshaped(operation, view)
        rest = self._summed(operation.name, view, gone, Op.SUM)
        left = [d for d in range(view.rank) if d not in gone]
        axes = tuple(None if d is None else rest.axes[left.index(d)] for d in sources)
        return DenseView(rest.tensor, axes, dims)

    def _reshaped(self, operation: DenseOperation, view: DenseView) -> DenseView:
        whole = self.writer.whole(view, operation.name, plain=True)
        dims = operation.array.dims
        rank = len(whole.dims)
        names = [f"i{n}" for n in range(rank + len(dims))]
        sizes = dict(zip(names, (*whole.dims, *dims), strict=True))
        out = names[rank:]
        made = self.writer.emit(operation.name, Op.RESHAPE, out, [whole.read(names[:rank])], sizes)
        return DenseView(made, tuple(range(len(dims))), dims)

    def slice(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """A part of an array, read at computed places."""
        moves = {
            d: (start, step) for d, (start, _, step) in enumerate(operation.attributes["slice"])
        }
        return self._placed(operation.name, operands[0], moves, operation.array.dims)

    def reverse(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """An array read from its end."""
        dims = operation.array.dims
        moves = {d: (dims[d] - 1, -1) for d in operation.attributes["dimensions"]}
        return self._placed(operation.name, operands[0], moves, dims)

    def _placed(
        self,
        wanted: str,
        value: Value,
        moves: Mapping[int, tuple[int, int]],
        dims: tuple[int, ...],
    ) -> DenseView:
        """Elements at a start and steps from there, per dimension."""
        view = self.writer.held(value, wanted)
        names = LETTERS[: view.rank]
        sources = list(names)
        operands: list[Access] = []
        for d, (start, step) in moves.items():
            if view.axes[d] is None or (start, step, dims[d]) == (0, 1, view.dims[d]):
                continue
            sources[d] = f"{names[d]}_at"
            place = self.writer.made(f"{wanted}_at", part(start, step), (dims[d], view.dims[d]))
            operands.append(Access(place, (names[d], sources[d])))
        if not operands:
            return DenseView(view.tensor, view.axes, dims)
        sizes = dict(zip(sources, view.dims, strict=True)) | dict(zip(names, dims, strict=True))
        out = [x for d, x in enumerate(names) if view.axes[d] is not None]
        made = self.writer.emit(wanted, Op.MUL, out, [view.read(sources), *operands], sizes)
        return DenseView(made, axes_of(names, out), dims)

    def concatenate(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """Arrays one after another."""
        (along,) = operation.attributes["dimensions"]
        return self._joined(operation.name, operands, along)

    def _joined(self, wanted: str, parts: Sequence[Value], along: int) -> DenseView:
        joined, *rest = (self.writer.whole(one, f"{wanted}_part") for one in parts)
        names = LETTERS[: joined.rank]
        for number, one in enumerate(rest, 1):
            dims = list(joined.dims)
            dims[along] += one.dims[along]
            name = self.writer.emit(
                wanted if number == len(rest) else f"{wanted}_part", Op.CONCAT,
                names, [joined.read(names), one.read(names)],
                dict(zip(names, dims, strict=True)), axis=names[along],
            )  # fmt: skip
            joined = DenseView(name, tuple(range(len(dims))), tuple(dims))
        return joined

    def pad(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """An array with numbers around it, or with less of it."""
        value: Value = self.writer.held(operands[0], operation.operands[0])
        assert isinstance(value, DenseView)
        moves, dims = {}, list(value.dims)
        for d, (low, high, interior) in enumerate(operation.attributes["padding"]):
            if interior:
                raise Unsupported("numbers between elements", "concatenate slices with them")
            if low < 0 or high < 0:
                moves[d] = max(-low, 0), 1
                dims[d] += min(low, 0) + min(high, 0)
        value = self._placed(operation.name, value, moves, tuple(dims))
        for d, (low, high, _) in enumerate(operation.attributes["padding"]):
            if low > 0 or high > 0:
                around = [_spread(operands[1], (*dims[:d], n, *dims[d + 1 :])) for n in (low, high)]
                parts = [x for n, x in ((low, around[0]), (1, value), (high, around[1])) if n > 0]
                dims[d] += max(low, 0) + max(high, 0)
                value = self._joined(operation.name, parts, d)
        return value

    # Elements combined -------------------------------------------------------------------------

    def dot(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """A product that sums over dimensions of both operands."""
        given = operation.attributes
        left, right = map(self.writer.held, operands, operation.operands)
        free = iter(LETTERS)
        names: tuple[list[str], list[str]] = ([""] * left.rank, [""] * right.rank)
        pairs = {
            key: list(zip(given.get(f"lhs_{key}_dims", ()), given.get(f"rhs_{key}_dims", ()),
                          strict=True))
            for key in ("batch", "contracting")
        }  # fmt: skip
        for a, b in (*pairs["batch"], *pairs["contracting"]):
            names[0][a] = names[1][b] = next(free)
        for side in names:
            side[:] = [x or next(free) for x in side]
        summed = {names[0][a] for a, _ in pairs["contracting"]}
        batch = [names[0][a] for a, _ in pairs["batch"]]
        space = [*batch, *(x for side in names for x in side if x not in summed and x not in batch)]
        accesses = [left.read(names[0]), right.read(names[1])]
        used = {x for access in accesses for x in access.indices}
        sizes = {x: n for v, side in zip((left, right), names, strict=True)
                 for x, n in zip(side, v.dims, strict=True)}  # fmt: skip
        out = [x for x in space if x in used]
        name = self.writer.emit(operation.name, Op.MUL, out, accesses, sizes)
        view = DenseView(name, axes_of(space, out), operation.array.dims)
        return self._times(operation.name, view, [sizes[x] for x in summed if x not in used])

    def _times(self, wanted: str, value: Value, extents: Sequence[int]) -> Value:
        """A sum of elements that are equal."""
        factor = float(np.prod(extents, dtype=np.float64))
        if factor == 1:
            return value
        return self.writer.compute(wanted, lambda x: mul(x, Num(factor)), [value])

    def reduce(self, operation: DenseOperation, operands: list[Value]) -> Value:
        """The elements along dimensions combined."""
        if len(operands) != 2:
            raise Unsupported("several arrays at once", "reduce one after another")
        called = self.module.computations[operation.attributes["to_apply"]]
        root = called.by_name[called.root]
        simple = {*root.operands} == {one.name for one in called.parameters}
        opcode = root.opcode if simple and len(root.operands) == 2 else "other operations"
        if opcode not in COMBINED:
            raise Unsupported(f"{opcode} of many elements", "reduce by add, maximum or minimum")
        op, negative, combine = COMBINED[opcode]
        view = self.writer.held(operands[0], operation.operands[0])
        gone = list(operation.attributes["dimensions"])
        wanted = operation.name
        dims = operation.array.dims
        repeated = [view.dims[d] for d in gone if view.axes[d] is None]
        if negative:
            opposite = self.writer.compute(f"{wanted}_part", negated, [view])
            view = self.writer.held(opposite, wanted)
        made: Value = self._summed(wanted, view, gone, op)
        if op is Op.SUM:
            made = self._times(wanted, made, repeated)
        if negative:
            made = self.writer.compute(wanted, negated, [made])
        start = _spread(operands[1], dims)
        if isinstance(start, np.ndarray) and opcode != "add" and start.dtype.kind in "iub":
            least = start.dtype.kind == "b" or start.flat[0] in _limits(start)
            start = np.full(dims, np.inf if negative else -np.inf) if least else start
        return self.writer.compute(wanted, combine, [made, start])

    def _summed(self, wanted: str, view: DenseView, gone: Sequence[int], op: Op) -> DenseView:
        """A view without dimensions, over which it is reduced where it has them."""
        names = LETTERS[: view.rank]
        left = [d for d in range(view.rank) if d not in gone]
        dims = tuple(view.dims[d] for d in left)
        if all(view.axes[d] is None for d in gone):
            return DenseView(view.tensor, tuple(view.axes[d] for d in left), dims)
        access = view.read(names)
        out = [names[d] for d in left if view.axes[d] is not None]
        sizes = dict(zip(names, view.dims, strict=True))
        made = self.writer.emit(wanted, op, out, [access], sizes)
        return DenseView(made, axes_of([names[d] for d in left], out), dims)

    # Losses ------------------------------------------------------------------------------------

    def losses(self, program: Program, calls: int) -> tuple[str, ...]:
        """Return what the graph says and the program does not, a sentence each."""
        held = {name for name, value in self.values.items() if isinstance(value, DenseView)}
        names = {old: new for old, new in self.names.items() if new in program.given}
        return (
            *graph_losses(self.module.main, self.kept, held, names),
            *([f"{counted(calls, 'call')} became what was called."] if calls else []),
            *self.notes,
        )


def _needed(module: DenseModule) -> tuple[DenseOperation, ...]:
    """The operations that results need, in order, parameters by their numbers first."""
    needed = set(module.main.outputs)
    for operation in reversed(module.main.operations):
        if operation.name in needed:
            needed.update(operation.operands)
    others = (one for one in module.main.operations if one.opcode != "parameter")
    return tuple(one for one in (*module.main.parameters, *others) if one.name in needed)


def _refused(operation: DenseOperation, reason: str, hint: str) -> ProgramError:
    return ProgramError(
        f"{operation.name} ({operation.opcode}) is no statement: {reason}",
        hint=hint or None,
        line=operation.line or None,
    )


def _spread(value: Value, dims: tuple[int, ...]) -> Value:
    """A value that is repeated, if it has no dimensions."""
    if isinstance(value, np.ndarray):
        return value if value.ndim else np.broadcast_to(value, dims)
    return value if value.dims == dims else DenseView(value.tensor, (None,) * len(dims), dims)


def _limits(start: Array) -> tuple[int, int]:
    found = np.iinfo(start.dtype.name)
    return int(found.min), int(found.max)


_MOVES: Mapping[str, Callable[[_DenseReader, DenseOperation, list[Value]], Value]] = {
    "broadcast": _DenseReader.broadcast, "transpose": _DenseReader.transpose,
    "reshape": _DenseReader.reshape, "bitcast": _DenseReader.reshape,
    "slice": _DenseReader.slice, "reverse": _DenseReader.reverse, "pad": _DenseReader.pad,
    "concatenate": _DenseReader.concatenate, "dot": _DenseReader.dot,
    "reduce": _DenseReader.reduce, "convert": _DenseReader.convert,
    "copy": lambda _reader, _operation, operands: operands[0],
}  # fmt: skip
"""Operations that move or combine elements."""
