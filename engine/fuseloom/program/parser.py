"""From program text to :class:`~fuseloom.program.types.Program`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from fuseloom.arguments import check_arguments
from fuseloom.errors import FuseloomError, ParseError, ProgramError
from fuseloom.program.affine import AccessRewriter
from fuseloom.program.completeness import check_everywhere, complete_tensors
from fuseloom.program.formats import MATRIX_FORMATS, Format, level_format, named_format, suggestion
from fuseloom.program.grammar import parse_syntax
from fuseloom.program.limits import MAX_DIMENSION, MAX_STATEMENTS
from fuseloom.program.relations import Relation
from fuseloom.program.split import PlacedStatement, split
from fuseloom.program.syntax import (
    ComputedAccess,
    DeclarationSyntax,
    Identifier,
    IndexSyntax,
    LineSyntax,
    ListSyntax,
    MadeSyntax,
    OptionSyntax,
    OutputsSyntax,
    ProgramSyntax,
    Read,
    ShapeSyntax,
    SourcePlace,
    StatementSyntax,
    walk,
)
from fuseloom.program.types import BroadcastAdd, Program, Tensor
from fuseloom.program.updates import Versions, in_versions
from fuseloom.program.verify import Checker

DEFAULT_NAME = "unnamed"
_OPTIONS = ("broadcast_add",)


@check_arguments
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


def parse_relation(text: str, rank: int) -> Relation:
    """Parse the ``where`` text of a made tensor, its dimensions called d0, d1, ...

    Raises
    ------
    FuseloomError
        If that is no such text.

    Examples
    --------
    >>> parse_relation("d2 = 2*d0 + d1", 3)
    Relation(target=2, terms=((0, 2), (1, 1)), offset=0, entries=None)
    """
    names = ",".join(f"d{k}" for k in range(rank))
    sizes = "x".join("1" * rank) or "1"
    lines = parse_syntax(f"S[{names}]: {sizes} csf where {text}").lines
    if len(lines) != 1 or not isinstance(lines[0], MadeSyntax):
        raise ProgramError(f"{text[:40]!r} says not where an index lies", hint="e.g. 'd1 = 2*d0'")
    return _relation(lines[0], {})


def _program(syntax: ProgramSyntax) -> Program:
    taken = _names(syntax.lines)
    versions = in_versions(syntax.lines, taken)
    with versions.told_as_written():
        return _assigned_once(syntax, versions, taken)


def _assigned_once(syntax: ProgramSyntax, versions: Versions, taken: set[str]) -> Program:
    places: dict[tuple[str | int, ...], SourcePlace] = {("program",): (1, 1)}
    if syntax.name is not None:
        places["program",] = syntax.name.place
    lists, indices = _lists(versions.lines), _indices(versions.lines)
    tensors: list[Tensor] = []
    for line in versions.lines:
        if isinstance(line, DeclarationSyntax | MadeSyntax):
            places.update(_declaration_places(len(tensors), line))
            tensors.append(_tensor(line, lists))
    shapes = {tensor.name: tensor.shape for tensor in tensors}
    computed = AccessRewriter(shapes, lists, indices, taken, versions.of)
    lines = [
        computed.rewritten(line) for line in versions.lines if isinstance(line, StatementSyntax)
    ]
    for tensor in computed.made.values():
        parts = ("name", "shape", "format")
        places.update({("tensor", len(tensors), p): computed.places[tensor.name] for p in parts})
        tensors.append(tensor)

    statements, everywhere = [], {}
    for n, placed in enumerate(_statements(lines, taken)):
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


def _statements(lines: list[StatementSyntax], taken: set[str]) -> list[PlacedStatement]:
    statements: list[PlacedStatement] = []
    for line in lines:
        statements.extend(split(line, taken))
        if len(statements) > MAX_STATEMENTS:
            break  # the check of the size says so
    return statements


def _names(lines: tuple[LineSyntax, ...]) -> set[str]:
    """Names that an intermediate must not take, even those of misspelt tensors that are read."""
    names: set[str] = set()
    for line in lines:
        if isinstance(line, StatementSyntax):
            names.add(line.target.name)
            names.update(
                x.name for x in walk(line.expression) if isinstance(x, Read | ComputedAccess)
            )
        elif isinstance(line, DeclarationSyntax | MadeSyntax | ListSyntax):
            names.add(line.name.text)
    return names


def _lists(lines: list[LineSyntax]) -> dict[str, tuple[int, ...]]:
    """Lists of numbers, which are no tensors."""
    found: dict[str, tuple[int, ...]] = {}
    tensors = {x.name.text for x in lines if isinstance(x, DeclarationSyntax | MadeSyntax)}
    tensors.update(x.target.name for x in lines if isinstance(x, StatementSyntax))
    for line in lines:
        if not isinstance(line, ListSyntax):
            continue
        name = line.name
        if name.text in found or name.text in tensors:
            raise _error(f"{name.text} is declared twice", "rename the list", name.place)
        found[name.text] = line.entries
    for statement in lines:
        if isinstance(statement, StatementSyntax):
            for node in walk(statement.expression):
                if isinstance(node, Read | ComputedAccess) and node.name in found:
                    raise _error(
                        f"{node.name} is a list of numbers, no tensor",
                        f"use it as an index, e.g. X[{node.name}[i]]",
                        node.place,
                    )
    return found


def _indices(lines: list[LineSyntax]) -> dict[str, int]:
    """Declared sizes of indices."""
    found: dict[str, int] = {}
    for line in lines:
        if not isinstance(line, IndexSyntax):
            continue
        if line.name.text in found:
            raise _error(f"index {line.name.text} is declared twice", "remove one of them",
                         line.name.place)  # fmt: skip
        if not 1 <= line.size <= MAX_DIMENSION:
            raise _error(
                f"index {line.name.text} runs over {line.size:,}",
                f"an index runs over 1 to {MAX_DIMENSION:,}",
                line.name.place,
            )
        found[line.name.text] = line.size
    return found


def _error(message: str, hint: str, place: SourcePlace) -> ParseError:
    return ParseError(message, hint=hint, line=place[0], column=place[1])


def _tensor(
    declaration: DeclarationSyntax | MadeSyntax, lists: Mapping[str, tuple[int, ...]]
) -> Tensor:
    shape = declaration.shape
    with _errors_at(_levels_place(shape)):
        tensor = Tensor(declaration.name.text, shape.dimensions, _format(shape))
    if isinstance(declaration, DeclarationSyntax):
        return tensor
    return replace(tensor, made=_relation(declaration, lists))


def _relation(line: MadeSyntax, lists: Mapping[str, tuple[int, ...]]) -> Relation:
    """Return the relation of a ``where`` clause."""
    numbers: dict[str, int] = {}
    for dimension, word in enumerate(line.indices):
        if word.text in numbers:
            raise _error(
                f"index {word.text} names two dimensions of {line.name.text}",
                "give each a name of its own",
                word.place,
            )
        numbers[word.text] = dimension
    for word in (line.target, *(x for _, x in line.position.terms)):
        if word.text not in numbers:
            raise _error(
                f"index {word.text} is none of {line.name.text}", f"known: {', '.join(numbers)}",
                word.place,
            )  # fmt: skip
    if any(x.text == line.target.text for _, x in line.position.terms):
        raise _error(
            f"{line.target.text} follows from itself",
            f"say where it lies by the others: where {line.target.text} = ...",
            line.position.place,
        )
    entries = line.position.entries
    if isinstance(entries, Identifier):
        if entries.text not in lists:
            raise _error(
                f"no list is called {entries.text}",
                f"declare it, e.g. {entries.text}: list 2, 0, 1",
                entries.place,
            )
        entries = lists[entries.text]
    terms = sorted((numbers[x.text], c) for c, x in line.position.terms)
    return Relation(numbers[line.target.text], tuple(terms), line.position.offset, entries)


def _format(shape: ShapeSyntax) -> Format:
    fmt = _levels(shape)
    block = shape.block
    if block is None:
        return fmt
    return Format(fmt.levels, fmt.mode_order, block.edge, block.dimensions)


def _levels(shape: ShapeSyntax) -> Format:
    rank = len(shape.dimensions)
    if not isinstance(shape.levels, Identifier):
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


def _levels_place(shape: ShapeSyntax) -> SourcePlace | None:
    if isinstance(shape.levels, Identifier):
        return shape.levels.place
    return shape.levels[0].place if shape.levels else None


@contextmanager
def _errors_at(place: SourcePlace | None) -> Iterator[None]:
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
    n: int, declaration: DeclarationSyntax | MadeSyntax
) -> dict[tuple[str | int, ...], SourcePlace]:
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
