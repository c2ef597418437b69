"""From program text to :class:`~engine.program.types.Program`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import FuseloomError, ParseError, ProgramError
from engine.program.completeness import check_everywhere, complete_tensors
from engine.program.formats import MATRIX_FORMATS, Format, level_format, named_format, suggestion
from engine.program.grammar import parse_syntax
from engine.program.limits import MAX_STATEMENTS
from engine.program.split import PlacedStatement, split
from engine.program.syntax import (
    Binary,
    DeclarationSyntax,
    Gather,
    OptionSyntax,
    OutputsSyntax,
    Place,
    ProgramSyntax,
    Read,
    Reduce,
    ShapeSyntax,
    StatementSyntax,
    Unary,
    Word,
)
from engine.program.types import BroadcastAdd, Program, Tensor
from engine.program.verify import Checker

DEFAULT_NAME = "unnamed"
_OPTIONS = ("broadcast_add",)


def parse(text: str, source: str | None = None) -> Program:
    """Read program text.

    Parameters
    ----------
    text : str
        Declarations, statements and options, one per line.
    source : str, optional
        Name of the file, put in front of error messages.

    Returns
    -------
    Program
        Verified; compound expressions are split into statements of one operation each.

    Raises
    ------
    ParseError
        The text does not follow the grammar.
    ProgramError
        The text has no meaning.  Both errors carry line, column and hint.

    Examples
    --------
    >>> program = parse("A: 4x4 csr\\nx: 4 dense\\ny[i] = A[i,j] * x[j]")
    >>> program.outputs, program.tensor("y").shape
    (('y',), (4,))
    """
    try:
        return _program(parse_syntax(text))
    except FuseloomError as problem:
        if source is None or problem.source is not None:
            raise
        raise type(problem)(
            problem.message,
            hint=problem.hint,
            line=problem.line,
            column=problem.column,
            source=source,
        ) from None


def _program(syntax: ProgramSyntax) -> Program:
    places: dict[tuple[str | int, ...], Place] = {("program",): (1, 1)}
    if syntax.name is not None:
        places["program",] = syntax.name.place
    declarations = [line for line in syntax.lines if isinstance(line, DeclarationSyntax)]
    tensors = []
    for n, declaration in enumerate(declarations):
        tensors.append(_tensor(declaration))
        places.update(_declaration_places(n, declaration))

    statements, everywhere = [], {}
    for n, placed in enumerate(_statements(syntax)):
        statements.append(placed.statement)
        if placed.everywhere is not None:
            everywhere[n] = placed.everywhere
        for k, access in enumerate(placed.places):
            places["access", n, k] = access.place
            for axis, place in enumerate(access.index_places):
                places["index", n, k, axis] = place

    outputs = [
        name for line in syntax.lines if isinstance(line, OutputsSyntax) for name in line.names
    ]
    for n, output in enumerate(outputs):
        places["output", n] = output.place
    names = tuple(output.text for output in outputs)
    if not names:
        read = {access.tensor for s in statements for access in s.operands}
        unread = dict.fromkeys(s.out.tensor for s in statements if s.out.tensor not in read)
        names = tuple(unread)

    name = syntax.name.text if syntax.name else DEFAULT_NAME
    broadcast_add = _broadcast_add(syntax)
    checked = Checker(name, tensors, statements, broadcast_add, places).run(names)
    program = Program(name, checked, tuple(statements), names, broadcast_add)
    complete = complete_tensors(program) if everywhere else frozenset()
    for n, place in everywhere.items():
        check_everywhere(program, n, place, complete)
    return program


def _statements(syntax: ProgramSyntax) -> list[PlacedStatement]:
    lines = [line for line in syntax.lines if isinstance(line, StatementSyntax)]
    taken = {line.target.name for line in lines}
    taken.update(line.name.text for line in syntax.lines if isinstance(line, DeclarationSyntax))
    for line in lines:
        taken.update(_names_read(line))
    statements: list[PlacedStatement] = []
    for line in lines:
        statements.extend(split(line, taken))
        if len(statements) > MAX_STATEMENTS:
            break  # the check of the size says so
    return statements


def _names_read(line: StatementSyntax) -> set[str]:
    """Tensors a line reads; an intermediate must not take the name of one, even a misspelt one."""
    names: set[str] = set()
    todo = [line.expression]
    while todo:
        match todo.pop():
            case Read(name=name):
                names.add(name)
            case Unary(operand=operand) | Reduce(operand=operand):
                todo.append(operand)
            case Binary(left=left, right=right):
                todo += [left, right]
            case Gather(operands=operands):
                todo += operands
    return names


def _tensor(declaration: DeclarationSyntax) -> Tensor:
    shape = declaration.shape
    with _errors_at(_levels_place(shape)):
        return Tensor(declaration.name.text, shape.dimensions, _format(shape))


def _format(shape: ShapeSyntax) -> Format:
    fmt = _levels(shape)
    block = shape.block
    if block is None:
        return fmt
    return Format(fmt.levels, fmt.mode_order, block.edge, block.dimensions)


def _levels(shape: ShapeSyntax) -> Format:
    rank = len(shape.dimensions)
    if not isinstance(shape.levels, Word):
        levels = []
        for word in shape.levels:
            with _errors_at(word.place):
                levels.append(level_format(word.text))
        return Format(tuple(levels), shape.order or tuple(range(rank)))
    name = shape.levels.text
    if name in MATRIX_FORMATS and shape.order is not None:
        raise ProgramError(
            f"{name} already fixes the mode order",
            hint="write the levels out, e.g. [dense, compressed] order 1,0",
        )
    fmt = named_format(name, rank)
    return fmt if shape.order is None else Format(fmt.levels, shape.order)


def _levels_place(shape: ShapeSyntax) -> Place | None:
    if isinstance(shape.levels, Word):
        return shape.levels.place
    return shape.levels[0].place if shape.levels else None


@contextmanager
def _errors_at(place: Place | None) -> Iterator[None]:
    """A ProgramError without a place becomes a ParseError at ``place``."""
    try:
        yield
    except ProgramError as problem:
        if place is None:
            raise
        raise ParseError(
            problem.message, hint=problem.hint, line=place[0], column=place[1]
        ) from None


def _declaration_places(
    n: int, declaration: DeclarationSyntax
) -> dict[tuple[str | int, ...], Place]:
    shape = declaration.shape
    parts = {
        "name": declaration.name.place,
        "shape": shape.place,
        "format": _levels_place(shape),
        "order": shape.order_place,
        "block": shape.block.place if shape.block else None,
    }
    return {("tensor", n, part): place for part, place in parts.items() if place is not None}


def _broadcast_add(syntax: ProgramSyntax) -> BroadcastAdd:
    chosen: BroadcastAdd | None = None
    for line in syntax.lines:
        if not isinstance(line, OptionSyntax):
            continue
        line_, column = line.name.place
        if line.name.text not in _OPTIONS:
            raise ParseError(
                f"no option is called {line.name.text!r}",
                hint=suggestion(line.name.text, _OPTIONS),
                line=line_,
                column=column,
            )
        if chosen is not None:
            raise ParseError(
                "option broadcast_add is given twice",
                hint="remove one of them",
                line=line_,
                column=column,
            )
        values = [value.value for value in BroadcastAdd]
        if line.value.text not in values:
            raise ParseError(
                f"broadcast_add cannot be {line.value.text!r}",
                hint=suggestion(line.value.text, values),
                line=line.value.place[0],
                column=line.value.place[1],
            )
        chosen = BroadcastAdd(line.value.text)
    return chosen or BroadcastAdd.SPARSE
