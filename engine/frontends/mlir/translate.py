"""From syntax trees to a program: functions, calls, and everything that is not structured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.errors import FuseloomError
from engine.frontends.mlir.builder import Builder
from engine.frontends.mlir.expressions import refuse_meaning
from engine.frontends.mlir.functions import Body
from engine.frontends.mlir.imported import ImportedMlir
from engine.frontends.mlir.parser import parse_file
from engine.frontends.mlir.syntax import (
    Call,
    File,
    Function,
)
from engine.frontends.mlir.values import (
    Ignored,
    Value,
    View,
    stated,
)
from engine.program.limits import MAX_NESTING, MAX_STATEMENTS
from engine.program.syntax import Place
from engine.program.types import BroadcastAdd

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

    Raises
    ------
    ParseError
        The text does not follow the grammar of the subset.
    ProgramError
        The text has no meaning as a program.  Both errors carry line, column and hint.

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
        return _Translator(parse_file(text)).run(shapes or {})
    except FuseloomError as problem:
        raise type(problem)(
            problem.message,
            hint=problem.hint,
            line=problem.line or 1,
            column=problem.column or 1,
            source=source,
        ) from None


class _Translator:
    def __init__(self, file: File) -> None:
        self.file = file
        self.builder = Builder()
        self.functions = {f.name: f for f in file.functions}
        self.calls = 0

    def run(self, shapes: Mapping[str, Sequence[int]]) -> ImportedMlir:
        called = {
            op.body.callee
            for f in self.file.functions
            for op in f.operations or ()
            if isinstance(op.body, Call)
        }
        roots = [f for f in self.file.functions if f.operations and f.name not in called]
        if not roots:
            where = self.file.functions[0].place if self.file.functions else (1, 1)
            raise refuse_meaning(
                "the file has no function to start from",
                "define func.func @main(...) { ... }" if not called else "no function calls itself",
                where,
            )
        outputs: dict[str, None] = {}
        for root in roots:
            outputs.update(dict.fromkeys(self._root(root)))
        if not outputs:
            raise refuse_meaning(
                "no function returns a tensor", "return what the program computes", roots[0].place
            )
        names = self.file.name or (roots[0].name if len(roots) == 1 else _DEFAULT_NAME)
        name = Builder().name(names) if names else _DEFAULT_NAME
        return self.builder.finish(name, tuple(outputs), self._broadcast_add(), shapes)

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
            if type_.shape is None and not type_.is_float:
                arguments.append(Ignored(f"%{argument.name} is an {type_.element}, no tensor"))
                continue
            arguments.append(
                self.builder.argument(
                    argument.name,
                    stated(type_),
                    type_.format,
                    argument.place,
                    (function.name, n),
                    argument.where,
                )
            )
        returned = self.call(function, arguments, ())
        return [self._output(value, place) for value, place in returned]

    def _output(self, value: Value, place: Place) -> str:
        match value:
            case View(tensor=name) if name in self.builder.inputs:
                raise refuse_meaning(
                    f"the function returns its input {name}", "return what it computes", place
                )
            case View():
                axes = [axis for axis in value.axes if axis is not None]
                sizes = [s for s, a in zip(value.sizes, value.axes, strict=True) if a is None]
                if axes != sorted(axes) or any(size.value != 1 for size in sizes):
                    raise refuse_meaning(
                        f"{value.tensor} is returned broadcast to more dimensions",
                        "multiply it by a tensor of ones that has them",
                        place,
                    )
                return value.tensor
            case Ignored(reason=reason):
                raise refuse_meaning(
                    f"this value cannot be returned: {reason}", "leave it out", place
                )
        raise refuse_meaning("the function returns a constant", "return what it computes", place)

    def call(
        self, function: Function, arguments: Sequence[Value], stack: tuple[str, ...]
    ) -> list[tuple[Value, Place]]:
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
