"""One function: its operations, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

from fuseloom.frontends.algebra.expressions import Arg, add
from fuseloom.frontends.mlir import syntax
from fuseloom.frontends.mlir.builder import MlirBuilder, unknown
from fuseloom.frontends.mlir.elements import arithmetic, element
from fuseloom.frontends.mlir.linalg import linalg
from fuseloom.frontends.mlir.moves import (
    extract_slice,
    insert_number,
    insert_slice,
    pad,
    sliced_blank,
)
from fuseloom.frontends.mlir.named import Computation
from fuseloom.frontends.mlir.packs import pack
from fuseloom.frontends.mlir.reshapes import concat, reshape, reshaped_blank
from fuseloom.frontends.mlir.scopes import Scope, filled
from fuseloom.frontends.mlir.semirings import pattern
from fuseloom.frontends.mlir.structured import structured
from fuseloom.frontends.mlir.syntax import (
    AffineMap,
    Function,
    Number,
    Operation,
    Type,
    Typed,
    Use,
    refuse_meaning,
)
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    DimensionSize,
    Extent,
    Ignored,
    Value,
    View,
    number,
    sizes_of,
    stated,
)  # fmt: skip
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted


class Caller(Protocol):
    """The translator of the functions that a function calls."""

    builder: MlirBuilder
    functions: dict[str, Function]

    def call(
        self, function: Function, arguments: Sequence[Value], stack: tuple[str, ...]
    ) -> list[Returned]: ...


@dataclass(frozen=True)
class Returned:
    """A value that a function returns, where and as what."""

    value: Value
    place: SourcePlace
    type: Type
    name: str


class Body(Scope):
    """One function under one set of arguments."""

    def __init__(self, caller: Caller, function: Function, stack: tuple[str, ...]) -> None:
        super().__init__(caller.builder)
        self.caller = caller
        self.function = function
        self.stack = stack

    def run(self) -> list[Returned]:
        operations = self.function.operations or ()
        for operation in operations:
            if isinstance(operation.body, syntax.Return):
                if operation is not operations[-1]:
                    raise refuse_meaning("operations after return", "remove them", operation.place)
                return [
                    Returned(self.typed(t), t.use.place, t.type, t.use.name)
                    for t in operation.body.operands
                ]
            self._operation(operation)
        return []

    # Operations.

    def _operation(self, operation: Operation) -> None:
        names = [
            (results.name, k, results.place)
            for results in operation.results
            for k in range(results.count)
        ]
        wanted = [name if k == 0 else f"{name}_{k}" for name, k, _ in names]
        made = self._made(operation, wanted or ["t"])
        if isinstance(operation.body, syntax.Foreign):
            made = made[: len(names)]
        if len(made) != len(names):
            raise refuse_meaning(
                f"the operation has {counted(len(made), 'result')}, {len(names)} names are given",
                "name all of them: %0:2 = ...",
                operation.place,
            )
        for (name, k, place), value in zip(names, made, strict=True):
            self.define(name, k, value, place)

    def _made(self, operation: Operation, names: list[str]) -> Sequence[Value]:
        place = operation.place
        match operation.body:
            case syntax.ConstantOperation() as body:
                return [self._constant(body, names[0], place)]
            case syntax.Empty() as body:
                return [self._empty(body, place)]
            case syntax.Linalg() as body:
                return linalg(self, body, names, place)
            case syntax.Entries() as body:
                return [self._entries(body, names[0], place)]
            case syntax.Concat() as body:
                values = [self.view(t) for t in body.operands]
                return [concat(self.builder, body, values, names[0], place)]
            case syntax.Reshape() as body:
                return [self._reshape(body, names[0], place)]
            case syntax.Cast() as body:
                return [self._cast(body)]
            case syntax.Slice() as body:
                return [self._slice(body, names[0], place)]
            case syntax.Pad() as body:
                return [self._pad(body, names[0], place)]
            case syntax.Pack() as body:
                return [self._pack(body, names[0], place)]
            case syntax.New() as body:
                return [self._new(body, names[0], place)]
            case syntax.Element() as body:
                return [element(self, body, names[0], place)]
            case syntax.ArithmeticOperation(scalar=scalar):
                return [arithmetic(self, scalar, names[0], place)]
            case syntax.Foreign(problem=problem):
                self.builder.left.append(problem)
                return [Ignored(problem.message, problem)] * len(names)
            case syntax.Dim() as body:
                return [self._dim(body, place)]
            case syntax.CallOperation() as body:
                return self._call(body, place)
        raise AssertionError(operation.body)

    def _reshape(self, body: syntax.Reshape, name: str, place: SourcePlace) -> Value:
        said = [self._size(x) for x in body.sizes]
        shape = None if body.shape is None else self.value(body.shape)
        if isinstance(shape, ConstantTensor) and shape.rank == 1:
            values = shape.array()
            said = [] if values is None else [DimensionSize(int(x)) for x in values if x >= 0]
        value = self.typed(body.operand)
        if isinstance(value, Blank):
            return reshaped_blank(self.builder, body, value, said, place)
        return reshape(self.builder, body, self.view(body.operand), said, name, place)

    def _size(self, given: int | Use) -> DimensionSize:
        """A size that the text says, or as much of it as is known."""
        value = ConstantNumber(given) if isinstance(given, int) else self.value(given)
        if isinstance(value, Extent):
            return value.size
        if isinstance(value, ConstantNumber) and 0 <= value.value < 2**40:
            return DimensionSize(int(value.value))
        return DimensionSize()

    def _constant(self, body: syntax.ConstantOperation, name: str, place: SourcePlace) -> Value:
        if body.type.shape is None:
            if not isinstance(body.literal, Number):
                raise refuse_meaning(
                    "a list of numbers needs the type of a tensor",
                    "e.g. dense<0.0> : tensor<4xf32>",
                    place,
                )
            if body.type.foreign:
                return Ignored(body.type.foreign)
            return ConstantNumber(number(body.literal, body.type.element), body.type.element)
        if isinstance(body.literal, Number):
            raise refuse_meaning("a tensor is more than a number", "write dense<...>", place)
        if body.type.foreign:
            return Ignored(body.type.foreign)
        sizes = stated(body.type)
        if any(size.value is None for size in sizes):
            raise refuse_meaning("a constant with a size '?'", "write the size", body.type.place)
        data = ConstantTensor(
            name, body.literal, body.type.element, sizes, tuple(range(len(sizes))),
            body.type.format, place, body.type.blocks,
        )  # fmt: skip
        if data.splat is None and data.resource is None:
            data.array()  # refuse what does not fit, even where nothing reads it
        return data

    def _empty(self, body: syntax.Empty, place: SourcePlace) -> Value:
        if body.type.foreign:
            return Ignored(body.type.foreign)
        sizes = stated(body.type)
        open_ = [size for size in sizes if size.value is None]
        if body.type.shape is None:
            raise refuse_meaning("tensor.empty of a number", "its type is a tensor", place)
        for use, size in zip(body.sizes, open_, strict=False):
            match self.value(use):
                case Extent(size=other):
                    size.equate(other)
                case ConstantNumber(value=n):
                    size.equate(DimensionSize(int(n) if 0 <= n < 2**40 else 2**40))
                case Ignored():
                    pass  # another use may say it
                case _:
                    raise refuse_meaning(
                        f"{use} is no size", "use tensor.dim or a constant", use.place
                    )
        if body.copy is not None:
            return self.value(body.copy)
        if body.splat is None:
            return Blank(sizes, body.type.format)
        value = self.value(body.splat)
        if isinstance(value, ConstantNumber):
            return Blank(sizes, body.type.format, value.value)
        if isinstance(value, View) and value.rank == 0:
            return View(value.tensor, (None,) * len(sizes), sizes)
        reason = value.reason if isinstance(value, Ignored) else "it is no number"
        return Ignored(f"{body.splat} cannot be read: {reason}")

    def _cast(self, body: syntax.Cast) -> Value:
        value = self.typed(body.operand)
        if isinstance(value, Ignored):
            return value
        if isinstance(value, Extent | ConstantNumber):
            raise refuse_meaning(f"{body.operand.use} is no tensor", "leave it out",
                           body.operand.use.place)  # fmt: skip
        self.agree(value, body.type, str(body.operand.use))
        if isinstance(value, ConstantTensor):
            return replace(value, format=body.type.format, blocks=body.type.blocks)
        if isinstance(value, Blank):
            return replace(value, format=body.type.format)
        fmt = body.type.format
        if fmt is not None and not fmt.all_dense:
            return replace(value, holes=False)  # of a sparse tensor what is stored counts
        return value

    def _slice(self, body: syntax.Slice, name: str, place: SourcePlace) -> Value:
        number = self.value(body.operand.use)
        if isinstance(number, ConstantNumber) and body.into is not None:  # of tensor.insert
            whole = self._elements(body.into, name, place)
            return insert_number(self.builder, body, number.value, whole, self.number, name, place)
        source = self.typed(body.operand)
        if isinstance(source, Blank) and body.into is None:
            return sliced_blank(body, source, self.number, place)
        view = self._elements(body.operand, name, place)
        if body.into is None:
            return extract_slice(self.builder, body, view, self.number, name, place)
        into = self.typed(body.into)
        if not isinstance(into, Blank):
            into = self.view(body.into)
        return insert_slice(self.builder, body, view, into, self.number, name, place)

    def _elements(self, typed: Typed, name: str, place: SourcePlace) -> View:
        """A tensor that is read; one without elements has zeros, as nobody may read them."""
        value = self.typed(typed)
        if not isinstance(value, Blank):
            return self.view(typed)
        whole = value if value.fill is not None else replace(value, fill=0.0)
        return self.builder.constant(filled(whole, name, place))

    def _pad(self, body: syntax.Pad, name: str, place: SourcePlace) -> View:
        value: Value | None = None
        for line in body.lines:
            if body.value.name in line.results and isinstance(line.scalar.literal, Number):
                element = "f64" if line.scalar.type is None else line.scalar.type.element
                value = ConstantNumber(number(line.scalar.literal, element))
        if value is None and not any(body.value.name in line.results for line in body.lines):
            value = self.value(body.value)
        if not isinstance(value, ConstantNumber):
            raise refuse_meaning(
                "a pad with something else than a number", "yield a constant", body.value.place
            )
        source = self.typed(body.operand)
        if isinstance(source, Blank) and source.fill is None:
            source = replace(source, fill=value.value)  # nobody may read its elements
            view = self.builder.constant(filled(source, name, place))
        else:
            view = self.view(body.operand)
        return pad(self.builder, body, view, value.value, self.number, name, place)

    def _pack(self, body: syntax.Pack, name: str, place: SourcePlace) -> Value:
        value = None if body.padding is None else self.value(body.padding)
        if body.padding is not None and not isinstance(value, ConstantNumber):
            raise refuse_meaning(
                "a pad with something else than a number", "pad with a constant", body.padding.place
            )
        number = value.value if isinstance(value, ConstantNumber) else None
        source, into = self.typed(body.operand), self.value(body.into)
        self.agree(into, body.type, str(body.into))
        if isinstance(source, Blank) and isinstance(into, Blank) and source.fill is None:
            return Blank(into.sizes, body.type.format)
        known = sizes_of(into) or stated(body.type)
        view = self.view(body.operand)
        return pack(self.builder, body, view, known, number, self.number, name, place)

    def _new(self, body: syntax.New, name: str, place: SourcePlace) -> Value:
        """A tensor that somebody else makes: an input."""
        if body.type.foreign:
            return Ignored(body.type.foreign)
        note = "it is given as an input, as a file or buffers are outside the subset"
        notes = (note,) if body.type.note is None else (note, body.type.note)
        return self.builder.argument(syntax.Argument(name, body.type, place), notes=notes)

    def _dim(self, body: syntax.Dim, place: SourcePlace) -> Extent:
        value, axis = self.value(body.operand), self.value(body.number)
        sizes = value.sizes if isinstance(value, View | ConstantTensor | Blank) else ()
        if isinstance(axis, ConstantNumber) and axis.value in range(len(sizes)):
            return Extent(sizes[int(axis.value)])
        if isinstance(value, Ignored):
            return Extent(DimensionSize())
        raise refuse_meaning("this dimension is not known", "tensor.dim %tensor, %constant", place)

    def _entries(self, body: syntax.Entries, name: str, place: SourcePlace) -> Value:
        """Count the stored elements of a tensor, by a sum of ones."""
        value = self.typed(body.operand)
        if isinstance(value, Ignored):
            return value
        if not self.builder.may_lack(value):
            counts = [size.value for size in sizes_of(value) or ()]
            if None not in counts:
                return ConstantNumber(float(prod(x or 0 for x in counts)), "index")
        dims = tuple(f"d{n}" for n in range(body.operand.type.rank))
        maps = (AffineMap(dims, dims), AffineMap(dims, ()))
        tree = add(Arg(1), pattern(Arg(0)))
        computation = Computation(dims, maps, frozenset(dims), (tree,), place)
        operands: list[Value] = [self.view(body.operand), Blank((), None, 0.0)]
        return structured(self.builder, computation, operands, [name], [Type("index")])[0]

    def _call(self, body: syntax.CallOperation, place: SourcePlace) -> Sequence[Value]:
        function = self.caller.functions.get(body.callee)
        if function is not None and function.problem is not None:
            raise function.problem
        if function is not None and function.operations is None:
            reason = f"@{body.callee} is only declared"
            problem = refuse_meaning(reason, "define it in the file", place)
            return [Ignored(reason, problem)] * len(body.types)
        if function is None or function.operations is None:
            known = [f"@{f.name}" for f in self.caller.functions.values() if f.operations]
            raise unknown(f"function @{body.callee}", f"@{body.callee}", known, place)
        if body.callee in self.stack:
            raise refuse_meaning(
                f"@{body.callee} calls itself", "recursion is outside the subset", place
            )
        values = [self.value(use) for use in body.operands]
        if len(values) != len(function.arguments):
            raise refuse_meaning(
                f"@{body.callee} takes {counted(len(function.arguments), 'argument')}, not "
                f"{len(values)}",
                "give all of them",
                place,
            )
        for use, value, argument in zip(body.operands, values, function.arguments, strict=True):
            self.agree(value, argument.type, str(use))
        returned = [found.value for found in self.caller.call(function, values, self.stack)]
        for value, type_ in zip(returned, body.types, strict=False):
            self.agree(value, type_, f"the result of @{body.callee}")
        return returned
