"""One function: its values and operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.errors import ProgramError
from engine.frontends.mlir.arithmetic import apply
from engine.frontends.mlir.builder import Builder, unknown
from engine.frontends.mlir.expressions import Node, Num, Unsupported, refuse_meaning
from engine.frontends.mlir.moves import element_at, extract_slice, insert_slice, pad
from engine.frontends.mlir.named import QUANTIZED, Computation, inputs_of, named, with_numbers
from engine.frontends.mlir.regions import region_trees
from engine.frontends.mlir.reshapes import concat, reshape
from engine.frontends.mlir.structured import Structured
from engine.frontends.mlir.syntax import (
    AffineMap, Arithmetic, Call, Cast, Concat, Dim, Element, Empty, Foreign, Function, Linalg, New, Number,
    Operation, Pad, Reshape, Return, Scalar, Slice, Trait, Type, Typed, Use,
)  # fmt: skip
from engine.frontends.mlir.syntax import Constant as ConstantSyntax
from engine.frontends.mlir.values import (
    Blank, Constant, Data, Extent, Ignored, Size, Value, View, number, stated,
)  # fmt: skip
from engine.frontends.mlir.windows import WINDOWS, window
from engine.program.syntax import Place


FOREIGN = "give the file as it is on tensors of floats and integers, before other passes"


class Caller(Protocol):
    """What translates the functions that a function calls."""

    builder: Builder
    functions: dict[str, Function]

    def call(
        self, function: Function, arguments: Sequence[Value], stack: tuple[str, ...]
    ) -> list[Returned]: ...


@dataclass(frozen=True)
class Returned:
    """A value that a function returns, where and as what."""

    value: Value
    place: Place
    type: Type
    name: str


class Body:
    """One function under one set of arguments."""

    def __init__(self, caller: Caller, function: Function, stack: tuple[str, ...]) -> None:
        self.caller = caller
        self.builder = caller.builder
        self.function = function
        self.stack = stack
        self.values: dict[tuple[str, int], Value] = {}

    def run(self) -> list[Returned]:
        operations = self.function.operations or ()
        for operation in operations:
            if isinstance(operation.body, Return):
                if operation is not operations[-1]:
                    raise refuse_meaning("operations after return", "remove them", operation.place)
                return [
                    Returned(self.typed(t), t.use.place, t.type, t.use.name)
                    for t in operation.body.operands
                ]
            self._operation(operation)
        return []

    # Values.

    def define(self, name: str, number: int, value: Value, place: Place) -> None:
        if (name, number) in self.values:
            raise refuse_meaning(f"%{name} is defined twice", "give each value its own name", place)
        self.values[name, number] = value

    def value(self, use: Use) -> Value:
        found = self.values.get((use.name, use.number))
        if found is None:
            raise unknown(str(use), use.name, [name for name, _ in self.values], use.place)
        return found

    def typed(self, typed: Typed) -> Value:
        """A value that the text gives a type, which must have its sizes."""
        value = self.value(typed.use)
        if typed.type.foreign and not isinstance(value, Ignored):
            value = Ignored(typed.type.foreign)
        self._agree(value, typed.type, str(typed.use))
        return value

    def _agree(self, value: Value, type_: Type, what: str) -> None:
        if not isinstance(value, View | Data | Blank):
            return
        if len(value.sizes) != type_.rank:
            raise refuse_meaning(
                f"{what} has {len(value.sizes)} dimensions, its type {type_.rank}",
                "a use repeats the type of the value",
                type_.place,
            )
        for axis, (size, other) in enumerate(zip(value.sizes, stated(type_), strict=True)):
            if not size.equate(other):
                raise refuse_meaning(
                    f"dimension {axis} of {what} is {size.value}, its type says {other.value}",
                    "a use repeats the type of the value",
                    type_.place,
                )

    # Operations.

    def _operation(self, operation: Operation) -> None:
        names = [
            (results.name, k, results.place)
            for results in operation.results
            for k in range(results.count)
        ]
        wanted = [name if k == 0 else f"{name}_{k}" for name, k, _ in names]
        made = self._made(operation, wanted or ["t"])
        if isinstance(operation.body, Foreign):
            made = made[: len(names)]
        if len(made) != len(names):
            raise refuse_meaning(
                f"the operation has {len(made)} results, {len(names)} names are given",
                "name all of them: %0:2 = ...",
                operation.place,
            )
        for (name, k, place), value in zip(names, made, strict=True):
            self.define(name, k, value, place)

    def _made(self, operation: Operation, names: list[str]) -> Sequence[Value]:
        place = operation.place
        match operation.body:
            case ConstantSyntax() as body:
                return [self._constant(body, names[0], place)]
            case Empty() as body:
                return [self._empty(body, place)]
            case Linalg() as body:
                return self._linalg(body, names, place)
            case Concat() as body:
                values = [self._view(t) for t in body.operands]
                return [concat(self.builder, body, values, names[0], place)]
            case Reshape() as body:
                view = self._view(body.operand)
                return [reshape(self.builder, body, view, names[0], place)]
            case Cast() as body:
                return [self._cast(body)]
            case Slice() as body:
                return [self._slice(body, names[0], place)]
            case Pad() as body:
                return [self._pad(body, names[0], place)]
            case New() as body:
                return [self._new(body, names[0], place)]
            case Element() as body:
                return [self._element(body, place)]
            case Arithmetic(scalar=scalar):
                return [self._arithmetic(scalar, place)]
            case Foreign(problem=problem):
                self.builder.leave(problem)
                return [Ignored(problem.message, problem)] * len(names)
            case Dim() as body:
                return [self._dim(body, place)]
            case Call() as body:
                return self._call(body, place)
        raise AssertionError(operation.body)

    def _view(self, typed: Typed) -> View:
        value = self.typed(typed)
        if isinstance(value, Data):
            return self.builder.constant(value)
        if isinstance(value, Blank) and value.fill is not None:
            return self.builder.constant(filled(value, typed.use.name, typed.use.place))
        if isinstance(value, Ignored):
            if value.problem is not None:
                raise value.problem
            raise refuse_meaning(
                f"{typed.use} cannot be read: {value.reason}", value.hint, typed.use.place
            )
        if not isinstance(value, View):
            raise refuse_meaning(
                f"{typed.use} cannot be read: it has no elements", "leave it out", typed.use.place
            )
        return value

    def _constant(self, body: ConstantSyntax, name: str, place: Place) -> Value:
        if body.type.shape is None:
            if not isinstance(body.literal, Number):
                raise refuse_meaning(
                    "a list of numbers needs the type of a tensor",
                    "e.g. dense<0.0> : tensor<4xf32>",
                    place,
                )
            if body.type.foreign:
                return Ignored(body.type.foreign)
            return Constant(number(body.literal, body.type.element), body.type.element)
        if isinstance(body.literal, Number):
            raise refuse_meaning("a tensor is more than a number", "write dense<...>", place)
        if body.type.foreign:
            return Ignored(body.type.foreign)
        sizes = stated(body.type)
        if any(size.value is None for size in sizes):
            raise refuse_meaning("a constant with a size '?'", "write the size", body.type.place)
        data = Data(name, body.literal, body.type.element, sizes, tuple(range(len(sizes))),
                    body.type.format, place)  # fmt: skip
        if data.splat is None and data.resource is None:
            data.array()  # refuse what does not fit, even where nothing reads it
        return data

    def _empty(self, body: Empty, place: Place) -> Value:
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
                case Constant(value=n):
                    size.equate(Size(int(n) if 0 <= n < 2**40 else 2**40))
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
        if isinstance(value, Constant):
            return Blank(sizes, body.type.format, value.value)
        if isinstance(value, View) and value.rank == 0:
            return View(value.tensor, (None,) * len(sizes), sizes)
        reason = value.reason if isinstance(value, Ignored) else "it is no number"
        return Ignored(f"{body.splat} cannot be read: {reason}")

    def _cast(self, body: Cast) -> Value:
        value = self.typed(body.operand)
        if isinstance(value, Ignored):
            return value
        if isinstance(value, Extent | Constant):
            raise refuse_meaning(f"{body.operand.use} is no tensor", "leave it out",
                           body.operand.use.place)  # fmt: skip
        self._agree(value, body.type, str(body.operand.use))
        if isinstance(value, Data | Blank):
            return replace(value, format=body.type.format)
        return value

    def _number(self, given: int | Use) -> int:
        """A place that the text says as a number, or as a value that is one."""
        if isinstance(given, int):
            return given
        value = self.value(given)
        if isinstance(value, Constant) and value.value == int(value.value):
            return int(value.value)
        if isinstance(value, Extent) and value.size.value is not None:
            return value.size.value
        raise refuse_meaning(
            f"{given} is not known here", "write the number; programs read at known places",
            given.place,
        )  # fmt: skip

    def _slice(self, body: Slice, name: str, place: Place) -> View:
        view = self._view(body.operand)
        if body.into is None:
            return extract_slice(self.builder, body, view, self._number, name, place)
        into = self.typed(body.into)
        if not isinstance(into, Blank):
            into = self._view(body.into)
        return insert_slice(self.builder, body, view, into, self._number, name, place)

    def _pad(self, body: Pad, name: str, place: Place) -> View:
        value: Value | None = None
        for line in body.lines:
            if body.value.name in line.results and isinstance(line.scalar.literal, Number):
                element = "f64" if line.scalar.type is None else line.scalar.type.element
                value = Constant(number(line.scalar.literal, element))
        if value is None and not any(body.value.name in line.results for line in body.lines):
            value = self.value(body.value)
        if not isinstance(value, Constant):
            raise refuse_meaning(
                "a pad with something else than a number", "yield a constant", body.value.place
            )
        view = self._view(body.operand)
        return pad(self.builder, body, view, value.value, self._number, name, place)

    def _new(self, body: New, name: str, place: Place) -> Value:
        """A tensor that somebody else makes: an input."""
        if body.type.foreign:
            return Ignored(body.type.foreign)
        note = "it is given as an input, as a file or buffers are outside the subset"
        notes = (note,) if body.type.note is None else (note, body.type.note)
        return self.builder.argument(
            name, stated(body.type), body.type.format, place, None, notes=notes
        )

    def _element(self, body: Element, place: Place) -> Value:
        if body.places and isinstance(self.value(body.operand), View | Data):
            try:
                at = [self._number(use) for use in body.places]
            except ProgramError:
                at = []
            if len(at) == body.type.rank and at:
                view = self._view(Typed(body.operand, body.type))
                return element_at(self.builder, view, at, place)
        if body.places:
            problem = refuse_meaning(
                "one element of a tensor is taken out",
                "tensor.extract_slice takes a part at known places; where it depends on data, "
                "multiply by a matrix that selects",
                place,
            )
            return Ignored(problem.message, problem)
        value = self.value(body.operand)
        if isinstance(value, Blank) and value.fill is not None:
            return Constant(value.fill)
        if isinstance(value, Data) and value.splat is not None:
            return Constant(value.splat, value.element)
        return value

    def _arithmetic(self, scalar: Scalar, place: Place) -> Value:
        """Arithmetic of numbers outside of regions; of tensors it is refused where needed."""
        known: list[Node] = []
        for use in scalar.operands:
            value = self.value(use)
            if isinstance(value, Extent) and value.size.value is not None:
                value = Constant(float(value.size.value), "index")
            if isinstance(value, Constant):
                known.append(Num(value.value))
        try:
            if len(known) == len(scalar.operands):
                made = apply(scalar.op, tuple(known), scalar.predicate, scalar.type, scalar.source)
                if isinstance(made, Num):
                    element = "f64" if scalar.type is None else scalar.type.element
                    return Constant(made.value, element)
        except Unsupported as problem:
            return Ignored(problem.message, refuse_meaning(problem.message, problem.hint, place))
        problem_ = refuse_meaning(
            f"{scalar.op} outside of a linalg operation",
            "compute it in the region of a linalg.generic",
            place,
        )
        return Ignored(problem_.message, problem_)

    def _dim(self, body: Dim, place: Place) -> Extent:
        value, axis = self.value(body.operand), self.value(body.number)
        sizes = value.sizes if isinstance(value, View | Data | Blank) else ()
        if isinstance(axis, Constant) and axis.value in range(len(sizes)):
            return Extent(sizes[int(axis.value)])
        if isinstance(value, Ignored):
            return Extent(Size())
        raise refuse_meaning("this dimension is not known", "tensor.dim %tensor, %constant", place)

    def _call(self, body: Call, place: Place) -> Sequence[Value]:
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
                f"@{body.callee} takes {len(function.arguments)} arguments, not {len(values)}",
                "give all of them",
                place,
            )
        for use, value, argument in zip(body.operands, values, function.arguments, strict=True):
            self._agree(value, argument.type, str(use))
        returned = [found.value for found in self.caller.call(function, values, self.stack)]
        for value, type_ in zip(returned, body.types, strict=False):
            self._agree(value, type_, f"the result of @{body.callee}")
        return returned

    # Structured operations.

    def _linalg(self, body: Linalg, names: list[str], place: Place) -> Sequence[Value]:
        ins = [self.typed(t) for t in body.ins]
        outs = [self.typed(t) for t in body.outs]
        for value, typed in zip((*ins, *outs), (*body.ins, *body.outs), strict=True):
            if isinstance(value, Ignored) and typed.type.foreign:
                problem = refuse_meaning(
                    f"{typed.use} is outside the subset: {typed.type.foreign}", FOREIGN,
                    typed.type.place,
                )  # fmt: skip
                self.builder.leave(problem)
                return [Ignored(problem.message, problem)] * (len(outs) if body.types else 0)
        types = [t.type for t in body.outs]
        if body.types:
            if len(body.types) != len(outs):
                raise refuse_meaning(
                    f"{len(outs)} outputs but {len(body.types)} result types",
                    "one type per output",
                    place,
                )
            types = list(body.types)
            for value, type_, out in zip(outs, types, body.outs, strict=True):
                self._agree(value, type_, str(out.use))
        if body.op == "linalg.fill":
            return [self._fill(ins, outs, types, place)]
        names = names[: len(outs)]
        captured: list[View] = []
        if body.op in ("linalg.map", "linalg.reduce"):
            body = replace(body, trait=_trait(body, place))
        if body.region is None:
            computation = self._named(body, ins, outs, place)
        else:
            computation, captured = self._generic(body, ins, outs, place)
        if len(names) < len(outs):
            names = [f"{names[0]}_{k}" if k else names[0] for k in range(len(outs))]
        operands: list[Value] = [*_filled_inputs(ins, body.ins), *outs]
        return Structured(self.builder, computation, operands, captured, names, types).results()

    def _fill(self, ins: list[Value], outs: list[Value], types: list[Type], place: Place) -> Blank:
        fill = ins[0] if len(ins) == 1 else None
        if isinstance(fill, Data) and fill.rank == 0 and fill.splat is not None:
            fill = Constant(fill.splat)
        if not isinstance(fill, Constant) or len(outs) != 1:
            raise refuse_meaning(
                "linalg.fill takes one constant and one output",
                "linalg.fill ins(%cst : f32) outs(%0 : tensor<...>)",
                place,
            )
        sizes = outs[0].sizes if isinstance(outs[0], View | Data | Blank) else ()
        return Blank(sizes, types[0].format, fill.value)

    def _named(
        self, body: Linalg, ins: list[Value], outs: list[Value], place: Place
    ) -> Computation:
        count = 2 if body.op in WINDOWS else inputs_of(body.op)
        if len(ins) != count or len(outs) != 1:
            raise refuse_meaning(
                f"{body.op} takes {count} inputs and one output, "
                f"not {len(ins)} and {len(outs)}",
                "see docs/mlir.md",
                place,
            )
        if body.trait.maps is not None and len(body.trait.maps) != len(ins) + 1:
            raise refuse_meaning("one map per input and output", "three maps for a product", place)
        rank = body.outs[0].type.rank
        if body.op in WINDOWS:
            found = window(body.op, body.list("strides"), body.list("dilations"), place)
            if found is None:
                raise refuse_meaning(
                    "strides and dilations are positive, one per dimension of the window",
                    "e.g. strides = dense<[2, 1]> : vector<2xi64>",
                    place,
                )
            return found
        moved = body.list("permutation") or body.list("dimensions")
        found = named(body.op, rank, body.trait.maps, moved, place)
        if found is not None and body.op == QUANTIZED:
            found = self._quantized(found, ins, place)
        if found is None:
            raise refuse_meaning(
                f"{body.op} needs dimensions of its output, each at most once",
                "permutation = [1, 0] or dimensions = [1]",
                place,
            )
        return found

    def _quantized(self, product: Computation, ins: list[Value], place: Place) -> Computation:
        """A product of differences; of zero points that are numbers, those that are not 0 count."""
        numbers = {k: x.value for k, x in enumerate(ins) if isinstance(x, Constant)}
        for k in (0, 1):
            x = ins[k]
            fmt = x.format if isinstance(x, Data) else self.builder.format_of(x)
            if numbers.get(k + 2) != 0.0 and fmt is not None and not fmt.all_dense:
                raise refuse_meaning(
                    "a zero point of an operand that is not dense",
                    "the elements that are not stored are the zero point then, and the product is "
                    "not sparse; convert the operand to a dense tensor",
                    place,
                )
        return with_numbers(product, numbers)

    def _generic(
        self, body: Linalg, ins: list[Value], outs: list[Value], place: Place
    ) -> tuple[Computation, list[View]]:
        maps, iterators = body.trait.maps, body.trait.iterators
        if not maps or iterators is None:
            raise refuse_meaning(
                "linalg.generic needs indexing_maps and iterator_types",
                "{indexing_maps = [...], iterator_types = [...]}",
                place,
            )
        dims = maps[0].dims
        if len(iterators) != len(dims):
            raise refuse_meaning(
                f"{len(iterators)} iterator types for maps of {len(dims)} dimensions",
                "one iterator type per dimension",
                place,
            )
        reduced = frozenset(x for x, kind in zip(dims, iterators, strict=True)
                            if kind == "reduction")  # fmt: skip
        assert body.region is not None
        trees, captured = region_trees(body.region, ins, outs, bool(reduced), self.value, maps, place)
        return Computation(dims, maps, reduced, trees, place), captured


def _trait(body: Linalg, place: Place) -> Trait:
    """The maps and iterators of a map or a reduction."""
    gone = body.list("dimensions") or ()
    rank = max(t.type.rank for t in (*body.ins, *body.outs))
    dims = tuple(f"d{n}" for n in range(rank))
    if not all(0 <= d < rank for d in gone):
        raise refuse_meaning(f"a reduction over {list(gone)} of {rank} dimensions",
                             "dimensions count from 0", place)  # fmt: skip
    whole = AffineMap(dims, dims)
    less = AffineMap(dims, tuple(x for n, x in enumerate(dims) if n not in gone))
    kinds = tuple("reduction" if n in gone else "parallel" for n in range(rank))
    return Trait((*(whole for _ in body.ins), *(less for _ in body.outs)), kinds, place)


def filled(blank: Blank, name: str, place: Place) -> Data:
    """A filled tensor as the constant it is."""
    literal = Number(repr(blank.fill), place)
    axes = tuple(range(blank.rank))
    return Data(name, literal, "f64", blank.sizes, axes, blank.format, place)


def _filled_inputs(ins: Sequence[Value], typed: Sequence[Typed]) -> list[Value]:
    return [
        filled(value, t.use.name, t.use.place)
        if isinstance(value, Blank) and value.fill is not None
        else value
        for value, t in zip(ins, typed, strict=True)
    ]
