"""From syntax trees to a program: functions, calls, and everything that is not structured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.errors import FuseloomError
from engine.frontends.mlir.builder import Builder, unknown
from engine.frontends.mlir.expressions import refuse_meaning
from engine.frontends.mlir.functions import Body, Returned
from engine.frontends.mlir.imported import ImportedMlir
from engine.frontends.mlir.parser import parse_file
from engine.frontends.mlir.scopes import FOREIGN, filled
from engine.frontends.mlir.syntax import (
    Call,
    File,
    Function,
    Number,
    Type,
)
from engine.frontends.mlir.values import (
    Blank,
    Constant,
    Data,
    Ignored,
    Value,
    View,
    stated,
)
from engine.program.limits import MAX_NESTING, MAX_STATEMENTS
from engine.program.types import Access, BroadcastAdd, Op

SETTING = "fuseloom.broadcast_add"
"""Attribute of a module: how broadcast sums mean their rows (``docs/language.md``)."""
_DEFAULT_NAME = "unnamed"
MAX_CALLS = MAX_NESTING // 2
"""Functions that may stand inside each other."""


def from_mlir(
    text: str,
    source: str | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    function: str | None = None,
) -> ImportedMlir:
    """Read a program from MLIR text.

    Parameters
    ----------
    text : str
        Functions of linalg operations on tensors; ``docs/mlir.md`` describes the subset.
    source : str, optional
        Name of the file, put in front of error messages.
    shapes : mapping, optional
        Shapes of inputs by name, for sizes that the text leaves open as ``?``.

    function : str, optional
        Name of the function to read; by default all that no other one calls.  What only other
        functions need may be outside the subset.

    Raises
    ------
    ParseError
        The text does not follow the grammar of the subset.
    ProgramError
        The text has no meaning as a program, or no such function.
        Both errors carry line, column and hint.

    Examples
    --------
    >>> imported = from_mlir('''
    ... func.func @main(%A: tensor<4x4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    ...   %0 = tensor.empty() : tensor<4xf32>
    ...   %y = linalg.matvec ins(%A, %x : tensor<4x4xf32>, tensor<4xf32>)
    ...     outs(%0 : tensor<4xf32>) -> tensor<4xf32>
    ...   return %y : tensor<4xf32>
    ... }''')
    >>> imported.program.inputs, str(imported.program.statements[0].out)
    (('A', 'x'), 'y[i]')
    """
    try:
        file = parse_file(text)
        try:
            return _Translator(file, shapes or {}, early=False).run(function)
        except FuseloomError:
            if not shapes:
                raise
            try:  # some operations must know sizes when they are met
                return _Translator(file, shapes, early=True).run(function)
            except FuseloomError:
                pass
            raise
    except FuseloomError as problem:
        raise type(problem)(
            problem.message,
            hint=problem.hint,
            line=problem.line or 1,
            column=problem.column or 1,
            source=source,
        ) from None


class _Translator:
    def __init__(self, file: File, shapes: Mapping[str, Sequence[int]], *, early: bool) -> None:
        self.file = file
        self.shapes = shapes
        self.builder = Builder(shapes if early else {})
        self.functions = {f.name: f for f in file.functions}
        self.calls = 0

    def run(self, wanted: str | None) -> ImportedMlir:
        roots = self._roots(wanted)
        outputs: dict[str, None] = {}
        for root in roots:
            outputs.update(dict.fromkeys(self._root(root)))
        if not outputs:
            outputs.update(dict.fromkeys(self._unread()))
        left = [self.file.problem, *self.builder.left]
        for problem in left if not outputs else []:
            if problem is not None:
                raise problem
        if not outputs:
            raise refuse_meaning(
                "no function returns a tensor", "return what the program computes", roots[0].place
            )
        names = self.file.name or (roots[0].name if len(roots) == 1 else _DEFAULT_NAME)
        name = Builder().name(names) if names else _DEFAULT_NAME
        return self.builder.finish(name, tuple(outputs), self._broadcast_add(), self.shapes)

    def _roots(self, wanted: str | None) -> list[Function]:
        """The functions to start from."""
        if wanted is not None:
            found = self.functions.get(wanted.removeprefix("@"))
            if found is None:
                known = [f"@{name}" for name in self.functions]
                raise unknown(f"function @{wanted.removeprefix('@')}", f"@{wanted}", known, (1, 1))
            roots = [found] if found.problem or found.operations is not None else []
        else:
            called = {
                op.body.callee
                for f in self.file.functions
                for op in f.operations or ()
                if isinstance(op.body, Call)
            }
            roots = [
                f
                for f in self.file.functions
                if f.problem or (f.operations and f.name not in called)
            ]
        for root in roots:
            if root.problem is not None:
                raise root.problem
        if not roots and self.file.problem is not None:
            raise self.file.problem
        if not roots:
            where = self.file.functions[0].place if self.file.functions else (1, 1)
            raise refuse_meaning(
                "the file has no function to start from",
                "define func.func @main(...) { ... }; no function calls itself",
                where,
            )
        return roots

    def _unread(self) -> list[str]:
        """What statements assign and none reads, where no function returns anything."""
        read = {a.tensor for m in self.builder.made for a in m.statement.operands}
        found = [m.statement.out.tensor for m in self.builder.made]
        found = [name for name in found if name not in read]
        if found:
            self.builder.notes.append(
                f"no function returns a tensor: the outputs are what nothing reads: "
                f"{', '.join(found)}"
            )
        return found

    def _broadcast_add(self) -> BroadcastAdd:
        for key, word, place in self.file.settings:
            if key == SETTING:
                if word not in [value.value for value in BroadcastAdd]:
                    raise refuse_meaning(
                        f"{SETTING} cannot be {word[:40]!r}", "sparse or dense", place
                    )
                return BroadcastAdd(word)
        return BroadcastAdd.SPARSE

    def _root(self, function: Function) -> list[str]:
        """Translate a function that nothing calls; the tensors it returns."""
        arguments: list[Value] = []
        for n, argument in enumerate(function.arguments):
            type_ = argument.type
            if type_.foreign or (type_.shape is None and type_.element == "index"):
                reason = type_.foreign or "it is an index, no tensor"
                message = f"%{argument.name} is outside the subset: {reason}"
                problem = refuse_meaning(message, FOREIGN, type_.place)
                if type_.foreign:
                    self.builder.left.append(problem)
                arguments.append(Ignored(message, problem))
                continue
            arguments.append(
                self.builder.argument(
                    argument.name,
                    stated(type_),
                    type_.format,
                    argument.place,
                    (function.name, n),
                    argument.where,
                    _notes(type_),
                )
            )
        return [self._output(found) for found in self.call(function, arguments, ())]

    def _output(self, returned: Returned) -> str:
        value, place = returned.value, returned.place
        if isinstance(value, Blank) and value.fill is not None:
            value = filled(value, returned.name, place)
        if isinstance(value, Data):
            value = self.builder.constant(value)
        if isinstance(value, View):
            axes = [axis for axis in value.axes if axis is not None]
            sizes = [s for s, a in zip(value.sizes, value.axes, strict=True) if a is None]
            plain = axes == sorted(axes) and all(size.value == 1 for size in sizes)
            if plain and value.tensor not in self.builder.inputs:
                return value.tensor
            return self._copied(value, returned)
        if isinstance(value, Ignored):
            if value.problem is not None:
                raise value.problem
            raise refuse_meaning(
                f"this value cannot be returned: {value.reason}", value.hint, place
            )
        what = {Constant: "a number", Blank: "a tensor without elements"}.get(type(value), "a size")
        raise refuse_meaning(f"the function returns {what}", "return what it computes", place)

    def _copied(self, view: View, returned: Returned) -> str:
        """A statement for what is returned, but is no result of one: an input, a broadcast."""
        builder, place = self.builder, returned.place
        out = tuple(f"d{n}" for n in range(view.rank))
        at = {axis: p for p, axis in enumerate(view.axes) if axis is not None}
        read = Access(view.tensor, tuple(out[at[axis]] for axis in range(len(at))))
        gone = [p for p, axis in enumerate(view.axes) if axis is None]
        name = returned.name
        if builder.is_taken(name):
            name += "_out"
        wide = [p for p in gone if view.sizes[p].value != 1]
        fmt = returned.type.format
        if not wide:
            kept = tuple(x for n, x in enumerate(out) if n not in gone)
            sizes = tuple(s for n, s in enumerate(view.sizes) if n not in gone)
            fmt = None if gone else fmt
            made = builder.assign(name, Op.SUM, [read], kept, sizes, place, format=fmt)
            return made.tensor
        sizes = tuple(view.sizes[p] for p in gone)
        ones = Data(
            "ones", Number("1.0", place), "f64", sizes, tuple(range(len(gone))), None, place
        )
        other = Access(builder.constant(ones).tensor, tuple(out[p] for p in gone))
        made = builder.assign(name, Op.MUL, [read, other], out, view.sizes, place, format=fmt)
        return made.tensor

    def call(
        self, function: Function, arguments: Sequence[Value], stack: tuple[str, ...]
    ) -> list[Returned]:
        self.calls += 1
        if len(stack) >= MAX_CALLS or self.calls > MAX_STATEMENTS:
            raise refuse_meaning(
                f"calls are nested more than {MAX_CALLS} deep"
                if len(stack) >= MAX_CALLS
                else f"the file has more than {MAX_STATEMENTS:,} functions and calls",
                "functions are put in place where they are called",
                function.place,
            )
        self.builder.region += 1
        body = Body(self, function, (*stack, function.name))
        for argument, value in zip(function.arguments, arguments, strict=True):
            body.define(argument.name, 0, value, argument.place)
        returned = body.run()
        self.builder.region += 1
        return returned


def _notes(type_: Type) -> tuple[str, ...]:
    """What a user should know of an argument of a type."""
    found = [] if type_.note is None else [type_.note]
    if type_.is_integer:
        found.append(
            f"its {type_.element} elements are numbers of float32: whole numbers are exact up to "
            "2^24, and what is larger is not noticed"
        )
    return tuple(found)
