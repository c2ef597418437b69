"""Modules of Fuseloom's own programs: statements as operations on dense arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
import numpy.typing as npt

from fuseloom.errors import ProgramError
from fuseloom.program import Access, Format, Op, Program, Statement
from fuseloom.program.completeness import dense_refusal, presences
from fuseloom.program.relations import Relation, bounds
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.module_builder import ModuleBuilder
from fuseloom.stitch.shapes import TensorShape

Indices = tuple[str, ...]
"""Names of the dimensions of an array."""
MOST_INT32 = 2**31 - 1


def program_module(program: Program, element: str = "f32") -> DenseModule:
    """The module of a program all of whose tensors are dense.

    Products that sum over indices of both factors are dots, unless neither factor has an index of
    its own; all else is elementwise operations, broadcasts, reductions and moves.  Tensors that the
    program makes are compared from coordinates.  Statements that no output needs are left out.

    Parameters
    ----------
    program : Program
        Formats of its tensors are not looked at: see :func:`dense_program`.
    element : str
        The type of all elements: ``f32``, ``f64``, ``f16`` or ``bf16``.

    Returns
    -------
    DenseModule
        Parameters are the inputs of the program, in its order and with their names; what a
        statement assigns has the name of the tensor.

    Raises
    ------
    ProgramError
        Of a statement that has no dense meaning, since an element may be absent (outside of what a
        computed place reads, or where ``nonzero`` leaves it out) and is not the same as a zero.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 csr\\nx: 4 dense\\ny[i] = A[i,j] * x[j]\\nz[i] = relu(y[i])")
    >>> for operation in program_module(program).main.operations:
    ...     print(operation)
    A = f32[8,4] parameter()
    x = f32[4] parameter()
    y = f32[8] dot(A, x)
    z.1 = f32[] constant()
    z.2 = f32[8] broadcast(z.1)
    z = f32[8] maximum(y, z.2)
    """
    if TensorShape(element, ()).dtype.kind != "f":
        raise ProgramError(
            f"a program has no elements of the type {element}", hint="f32, f64, f16 or bf16"
        )
    return _ProgramWriter(dense_program(program), element).module()


def dense_program(program: Program) -> Program:
    """The program with all tensors stored dense but those that it makes, which have their ones.

    Its meaning is what :func:`program_module` computes; where data are sparse, that of the program
    itself differs, since functions such as exp are not applied to what is absent.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = dense_program(fl.parse("A: 8x4 csr\\ny[i] = max[j] A[i,j]"))
    >>> [str(level.value) for level in program.tensor("A").format.levels]
    ['dense', 'dense']
    """
    return replace(
        program,
        tensors=tuple(
            replace(x, format=(Format.dense if x.made is None else Format.compressed)(x.rank))
            for x in program.tensors
        ),
    )


class _ProgramWriter:
    """Adds the operations of one statement after another.

    Attributes
    ----------
    names : dict
        Per tensor the operation that makes it.
    whole : set
        Tensors that have every element.
    """

    def __init__(self, program: Program, element: str) -> None:
        self.program = program
        self.element = element
        self.builder = ModuleBuilder(program.name)
        self.names: dict[str, str] = {}
        self.whole = {name for name, one in presences(program).items() if one.whole}

    def module(self) -> DenseModule:
        for name in self.program.given:
            shape = TensorShape(self.element, self.program.tensor(name).shape)
            self.names[name] = self.builder.parameter(name, shape)
        for statement in self.program.live:
            self._statement(statement, self.program.sizes[statement.out.tensor])
        return self.builder.module([self.names[name] for name in self.program.outputs])

    def _statement(self, s: Statement, extents: Mapping[str, int]) -> None:
        name = s.out.tensor
        reason = dense_refusal(s, self.whole, self.program.broadcast_add)
        if reason is not None:
            raise ProgramError(
                f"{name} has no dense meaning: {reason}",
                hint="read no place outside of a tensor, and leave no zeros out",
                line=s.line,
                column=s.column,
            )
        for access in s.operands:
            tensor = self.program.tensor(access.tensor)
            if tensor.made is not None and tensor.name not in self.names:
                self.builder.prefix = tensor.name
                made = self._made(tensor.made, tensor.shape)
                self.names[tensor.name] = self.builder.rename_last(made, tensor.name)
        self.builder.prefix = name
        made = self._value(s, extents)
        self.names[name] = self.builder.rename_last(made, name)

    def _value(self, s: Statement, extents: Mapping[str, int]) -> str:
        out = s.out.indices
        build = self.builder
        first = self._operand(s.operands[0])
        constant = s.constant if s.constant is not None else 0.0
        match s.op:
            case Op.MUL:
                return self._product([self._operand(x) for x in s.operands], out, extents)
            case Op.ADD | Op.SUB | Op.MAXIMUM | Op.DIV:
                space = (*out, *s.reduced)
                x, y = (self._spread(self._operand(one), space, extents) for one in s.operands)
                made = build.binary(_BINARY[s.op], x, y)
                return build.reduce("add", made, range(len(out), len(space)))
            case Op.CONCAT:
                assert s.axis is not None  # verified
                parts = [self._ordered(self._operand(x), out) for x in s.operands]
                return build.concatenate(parts, out.index(s.axis))
            case Op.RESHAPE:
                return build.reshape(first[0], [extents[x] for x in out])
            case Op.SUM | Op.MAX:
                opcode = "add" if s.op is Op.SUM else "maximum"
                return self._ordered(self._reduced(first, out, opcode), out)
            case Op.SCALE | Op.SHIFT | Op.AT_LEAST:
                made = build.with_number(_BINARY[s.op], first[0], constant)
            case _:
                made = _FUNCTIONS[s.op](build, first[0])
        return self._ordered((made, first[1]), out)

    def _operand(self, access: Access) -> tuple[str, Indices]:
        return self.names[access.tensor], access.indices

    def _ordered(self, value: tuple[str, Indices], out: Sequence[str]) -> str:
        """An array with its dimensions in another order."""
        name, indices = value
        return self.builder.transpose(name, [indices.index(x) for x in out])

    def _spread(
        self, value: tuple[str, Indices], space: Sequence[str], extents: Mapping[str, int]
    ) -> str:
        """An array repeated along the indices that it lacks."""
        inside = [x for x in space if x in value[1]]
        dims = [extents[x] for x in space]
        at = [k for k, x in enumerate(space) if x in inside]
        return self.builder.broadcast(self._ordered(value, inside), dims, at)

    def _reduced(
        self, value: tuple[str, Indices], kept: Sequence[str], opcode: str = "add"
    ) -> tuple[str, Indices]:
        name, indices = value
        gone = [k for k, x in enumerate(indices) if x not in kept]
        return self.builder.reduce(opcode, name, gone), tuple(x for x in indices if x in kept)

    def _product(
        self, factors: list[tuple[str, Indices]], out: Indices, extents: Mapping[str, int]
    ) -> str:
        """The product of factors, two by two, summed as soon as no other factor has an index."""
        left, *rest = factors
        while rest:
            right, *rest = rest
            later = {*out, *(x for _, indices in rest for x in indices)}
            left = self._reduced(left, [x for x in left[1] if x in later or x in right[1]])
            right = self._reduced(right, [x for x in right[1] if x in later or x in left[1]])
            left = self._pair(left, right, [x for x in (*out, *later) if x in later], extents)
        return self._ordered(self._reduced(left, out), out)

    def _pair(
        self,
        left: tuple[str, Indices],
        right: tuple[str, Indices],
        kept: Sequence[str],
        extents: Mapping[str, int],
    ) -> tuple[str, Indices]:
        """The product of two factors, summed over the indices that are not kept."""
        kept = list(dict.fromkeys(x for x in kept if x in left[1] or x in right[1]))
        summed = [x for x in left[1] if x in right[1] and x not in kept]
        batch = [x for x in kept if x in left[1] and x in right[1]]
        rows = [x for x in kept if x not in right[1]]
        columns = [x for x in kept if x not in left[1]]
        if not summed or not (rows or columns):
            space = (*kept, *summed)
            made = self.builder.binary(
                "multiply", *(self._spread(one, space, extents) for one in (left, right))
            )
            return self._reduced((made, space), kept)
        if columns and [*batch, *columns, *rows] == kept:
            left, right = right, left
        made = self.builder.dot(
            left[0], right[0],
            ([left[1].index(x) for x in summed], [right[1].index(x) for x in summed]),
            ([left[1].index(x) for x in batch], [right[1].index(x) for x in batch]),
        )  # fmt: skip
        own = [x for one in (left, right) for x in one[1] if x not in batch and x not in summed]
        return made, (*batch, *own)

    def _made(self, relation: Relation, shape: tuple[int, ...]) -> str:
        """A tensor that is made: 1 where a coordinate is what follows from the others."""
        build = self.builder
        terms = [(c, shape[d]) for d, c in relation.terms]
        limits = (*bounds(terms, relation.offset), *(c * n for c, n in terms), *shape)
        wide = max(map(abs, limits)) > MOST_INT32
        whole = TensorShape("s64" if wide else "s32", shape)
        if relation.entries is not None:
            found = _listed(relation, [n for _, n in terms])
            dims = [d for d, _ in relation.terms]
            order = sorted(range(len(dims)), key=dims.__getitem__)
            places = build.constant(found.transpose(order), whole.element)
            place = build.broadcast(places, shape, sorted(dims))
        else:
            place = ""
            for d, coefficient in relation.terms:
                step = build.iota(whole, d)
                if coefficient != 1:
                    step = build.with_number("multiply", step, coefficient)
                place = build.binary("add", place, step) if place else step
            if not place:
                place = build.filled(relation.offset, whole)
            elif relation.offset:
                place = build.with_number("add", place, relation.offset)
        there = build.compare(place, build.iota(whole, relation.target), "EQ")
        return build.convert(there, self.element)


def _listed(relation: Relation, sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """Entries of the list, for each place of the indices that number them; -1 outside of it."""
    grid = np.indices(sizes)
    number = np.full(tuple(sizes), relation.offset, np.int64)
    for along, (_, coefficient) in zip(grid, relation.terms, strict=True):
        number += coefficient * along
    inside = (number >= 0) & (number < relation.length)
    return np.where(inside, np.asarray(relation.entries)[np.where(inside, number, 0)], -1)


def _relu(build: ModuleBuilder, x: str) -> str:
    return build.with_number("maximum", x, 0.0)


def _gelu(build: ModuleBuilder, x: str) -> str:
    share = build.unary("erf", build.with_number("multiply", x, 1 / sqrt(2)))
    share = build.with_number("add", share, 1.0)
    return build.binary("multiply", build.with_number("multiply", x, 0.5), share)


def _trunc(build: ModuleBuilder, x: str) -> str:
    below = build.compare(x, build.filled(0.0, build.shape(x)), "LT")
    return build.select(below, build.unary("ceil", x), build.unary("floor", x))


def _atan(build: ModuleBuilder, x: str) -> str:
    return build.with_number("atan2", x, 1.0)


def _named(opcode: str) -> Callable[[ModuleBuilder, str], str]:
    return lambda build, x: build.unary(opcode, x)


_BINARY: Mapping[Op, str] = {
    Op.ADD: "add", Op.SUB: "subtract", Op.MAXIMUM: "maximum", Op.DIV: "divide",
    Op.SCALE: "multiply", Op.SHIFT: "add", Op.AT_LEAST: "maximum",
}  # fmt: skip
OPCODES: Mapping[Op, str] = {
    Op.EXP: "exponential", Op.LOG: "log", Op.SQRT: "sqrt", Op.RSQRT: "rsqrt",
    Op.SIGMOID: "logistic", Op.TANH: "tanh", Op.ABS: "abs", Op.SIGN: "sign",
    Op.FLOOR: "floor", Op.CEIL: "ceil", Op.ROUND: "round-nearest-even", Op.SIN: "sine",
    Op.COS: "cosine", Op.ERF: "erf", Op.LOG1P: "log-plus-one",
    Op.EXPM1: "exponential-minus-one",
}  # fmt: skip
"""Functions of an element that graphs have an operation for."""
_FUNCTIONS: Mapping[Op, Callable[[ModuleBuilder, str], str]] = {
    Op.RELU: _relu,
    Op.GELU: _gelu,
    Op.TRUNC: _trunc,
    Op.ATAN: _atan,
    **{op: _named(opcode) for op, opcode in OPCODES.items()},
}
"""What computes the functions of an element."""
