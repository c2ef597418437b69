"""From syntax trees to a program: functions, calls, and everything that is not structured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fuseloom.arguments import check_arguments
from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.functions import Body, Returned
from fuseloom.frontends.mlir.imported import ImportedMlir
from fuseloom.frontends.mlir.pieces import chosen, parse_pieces
from fuseloom.frontends.mlir.reshapes import spread
from fuseloom.frontends.mlir.scopes import FOREIGN, filled
from fuseloom.frontends.mlir.syntax import CallOperation, File, Function, Type, refuse_meaning
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    Extent,
    Ignored,
    Value,
    View,
)
from fuseloom.program.functions import Op
from fuseloom.program.limits import MAX_NESTING, MAX_STATEMENTS
from fuseloom.program.types import BroadcastAdd

SETTING = "fuseloom.broadcast_add"
"""Attribute of a module: how broadcast sums mean their rows (``docs/language.md``)."""
_DEFAULT_NAME = "unnamed"
_ALIKE = 4
"""The size that all dimensions get that are open, where sizes of their own do not do."""
MAX_CALLS = MAX_NESTING // 2
"""Functions that may stand inside each other."""


@check_arguments
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
        Shapes of inputs by name, for sizes that the text leaves open as ``?``, and what indices
        among the arguments are, e.g. ``{"n": (4,)}``.  Sizes that are still open are chosen.
    function : str, optional
        Name of the function to read; by default all that no other one calls.  What only other
        functions need may be outside the subset.  Where lines ``// -----`` part the text,
        ``name:2`` is the function of that name in the second piece.

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
        return _translated(parse_pieces(text), shapes or {}, function)
    except FuseloomError as problem:
        raise type(problem)(
            problem.message,
            hint=problem.hint,
            line=problem.line or 1,
            column=problem.column or 1,
            source=source,
        ) from None


def _translated(
    files: Sequence[File], shapes: Mapping[str, Sequence[int]], function: str | None
) -> ImportedMlir:
    """The program of files; what has a meaning without sizes, or with those given, is read once.

    Where an operation must know a size that nothing gives, all sizes are chosen that fit what
    the text says up to there, and operations are translated with them from the first one on.

    Raises
    ------
    FuseloomError
        The text has no meaning with chosen sizes, either.
    """
    late = _Translator(files, shapes)
    try:
        return late.run(function)
    except FuseloomError as caught:
        problem = caught
    if shapes:  # met at the end, they cannot hide what the text itself says
        late = _Translator(files, shapes, early=False)
        try:
            return late.run(function)
        except FuseloomError as caught:
            problem = caught
    open_ = [name for name in late.builder.open if name not in shapes]
    guesses = late.builder.guesses() if late.builder.open else {}
    alike = {name: (_ALIKE,) * len(guess) for name, guess in guesses.items()}
    for sizes in (guesses, alike) if guesses else ():
        early = _Translator(files, {**sizes, **shapes})
        try:
            return early.said(early.run(function), open_)
        except FuseloomError:  # the text has other sizes behind where these were needed
            continue
    raise problem


class _Translator:
    def __init__(
        self, files: Sequence[File], shapes: Mapping[str, Sequence[int]], *, early: bool = True
    ) -> None:
        self.files = files
        self.shapes = shapes
        self.broadcast_add = _broadcast_add(files)
        told = self.broadcast_add is not None
        self.builder = MlirBuilder(shapes if early else {}, told)
        self.functions: dict[str, Function] = {}
        self.calls = 0

    def run(self, wanted: str | None) -> ImportedMlir:
        roots = self._roots(wanted)
        outputs: dict[str, None] = {}
        named = {id(file): {f.name: f for f in file.functions} for file in self.files}
        for file, root in roots:
            self.functions = named[id(file)]
            outputs.update(dict.fromkeys(self._root(root)))
        if not outputs:
            outputs.update(dict.fromkeys(self._unread()))
        left = [*(file.problem for file, _ in roots), *self.builder.left]
        for problem in left if not outputs else []:
            if problem is not None:
                raise problem
        if not outputs:
            raise refuse_meaning(
                "no function returns a tensor",
                "return what the program computes",
                roots[0][1].place,
            )
        names = roots[0][0].name or (roots[0][1].name if len(roots) == 1 else _DEFAULT_NAME)
        name = MlirBuilder().name(names) if names else _DEFAULT_NAME
        return self.builder.finish(name, tuple(outputs), self.broadcast_add, self.shapes)

    def said(self, found: ImportedMlir, open_: Sequence[str]) -> ImportedMlir:
        """Return the import, with a note on the sizes that were chosen."""
        given = {*found.program.inputs, *self.builder.counts}
        self.builder.notes.clear()
        self.builder.note_chosen(self.shapes, [n for n in open_ if n in given])
        return replace(found, notes=(*found.notes, *self.builder.notes))

    def _roots(self, wanted: str | None) -> list[tuple[File, Function]]:
        """The functions to start from, and their pieces of the text."""
        roots: list[tuple[File, Function]] = []
        if wanted is not None:
            file, found = chosen(self.files, wanted)
            roots = [(file, found)] if found.problem or found.operations is not None else []
        for file in self.files if wanted is None else ():
            called = {
                op.body.callee
                for f in file.functions
                for op in f.operations or ()
                if isinstance(op.body, CallOperation)
            }
            roots += [
                (file, f)
                for f in file.functions
                if f.problem or (f.operations and f.name not in called)
            ]
        for _, root in roots:
            if root.problem is not None:
                raise root.problem
        for file in self.files if not roots else ():
            if file.problem is not None:
                raise file.problem
        if not roots:
            functions = [f for file in self.files for f in file.functions]
            raise refuse_meaning(
                "the file has no function to start from",
                "define func.func @main(...) { ... }; no function calls itself",
                functions[0].place if functions else (1, 1),
            )
        return roots

    def _unread(self) -> list[str]:
        """Return the assigned tensors that nothing reads, where no function returns anything."""
        read = {a.tensor for m in self.builder.made for a in m.statement.operands}
        found = [m.statement.out.tensor for m in self.builder.made]
        found = [name for name in found if name not in read]
        if found:
            self.builder.notes.append(
                f"no function returns a tensor: the outputs are what nothing reads: "
                f"{', '.join(found)}"
            )
        return found

    def _root(self, function: Function) -> list[str]:
        """Translate a function that nothing calls; the tensors it returns."""
        arguments: list[Value] = []
        for n, argument in enumerate(function.arguments):
            type_ = argument.type
            if type_.shape is None and type_.element == "index" and not type_.foreign:
                arguments.append(Extent(self.builder.count(argument.name, argument.place)))
                continue
            if type_.foreign:
                reason = type_.foreign
                message = f"%{argument.name} is outside the subset: {reason}"
                problem = refuse_meaning(message, FOREIGN, type_.place)
                self.builder.left.append(problem)
                self.builder.outside.append(argument.name)
                arguments.append(Ignored(message, problem))
                continue
            notes = _notes(type_)
            arguments.append(self.builder.argument(argument, (function.name, n), notes))
        returned = self.call(function, arguments, ())
        numbers = [found for found in returned if isinstance(found.value, Extent | ConstantNumber)]
        tensors = [found for found in returned if found not in numbers] or returned
        outputs = [self._output(found) for found in tensors]
        self.builder.notes += [_left_out(found) for found in numbers]
        return outputs

    def _output(self, returned: Returned) -> str:
        value, place = returned.value, returned.place
        if isinstance(value, Blank) and value.fill is not None:
            value = filled(value, returned.name, place)
        if isinstance(value, ConstantTensor):
            value = self.builder.constant(value)
        if isinstance(value, View):
            axes = [axis for axis in value.axes if axis is not None]
            sizes = [s for s, a in zip(value.sizes, value.axes, strict=True) if a is None]
            plain = axes == sorted(axes) and all(size.value == 1 for size in sizes)
            if plain and value.tensor not in self.builder.inputs:
                return value.tensor
            return self._copied(value, returned)
        if isinstance(value, Ignored):
            raise value.error("this value cannot be returned", place)
        what = {ConstantNumber: "a number", Blank: "a tensor without elements"}.get(
            type(value), "a size"
        )
        raise refuse_meaning(f"the function returns {what}", "return what it computes", place)

    def _copied(self, view: View, returned: Returned) -> str:
        """A statement for what is returned, but is no result of one: an input, a broadcast."""
        builder, place = self.builder, returned.place
        out = tuple(f"d{n}" for n in range(view.rank))
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
            made = builder.assign(name, Op.SUM, [view.read(out)], kept, sizes, place, format=fmt)
            return made.tensor
        return spread(builder, view, name, place, fmt).tensor

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


def _broadcast_add(files: Sequence[File]) -> BroadcastAdd | None:
    """Return the mode of broadcast sums that the text sets, if it does."""
    for key, word, place in [setting for file in files for setting in file.settings]:
        if key == SETTING:
            if word not in [value.value for value in BroadcastAdd]:
                raise refuse_meaning(f"{SETTING} cannot be {word[:40]!r}", "sparse or dense", place)
            return BroadcastAdd(word)
    return None


def _left_out(returned: Returned) -> str:
    """The note on a number that a function returns beside tensors."""
    value = returned.value
    known = value.size.value if isinstance(value, Extent) else None
    known = int(value.value) if isinstance(value, ConstantNumber) else known
    said = "a size" if known is None else f"the number {known}"
    return f"left out: %{returned.name}, which the function returns, is {said} and no tensor"


def _notes(type_: Type) -> tuple[str, ...]:
    """Return notes for the user on an argument of a type."""
    found = [] if type_.note is None else [type_.note]
    if type_.is_integer:
        found.append(
            f"its {type_.element} elements are numbers of float32: integers are exact up to "
            "2^24, and what is larger is not noticed"
        )
    return tuple(found)
