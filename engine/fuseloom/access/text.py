"""Terms as text: S-expressions, with the place of every part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeAlias

from fuseloom.access.constructs import CONSTRUCTS, Construct, ShapeError, TermPart
from fuseloom.access.meaning import shapes_of
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import TENSOR, Path, Term, tensor, tensors
from fuseloom.errors import ParseError, ProgramError, shortened
from fuseloom.program.formats import suggestion
from fuseloom.wording import counted

MOST_CHARACTERS = 2_000_000
MOST_DEPTH = 400
"""The most parentheses within each other that are read."""
MOST_DIGITS = 18
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


@dataclass(frozen=True)
class Atom:
    """A word or a number.

    Attributes
    ----------
    text : str
    line, column : int
        1-based.
    """

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class ListExpression:
    """What stands in parentheses.

    Attributes
    ----------
    items : tuple
    line, column : int
        1-based, of the opening parenthesis.
    """

    items: tuple[Expression, ...]
    line: int
    column: int


Expression: TypeAlias = Atom | ListExpression


@dataclass(frozen=True)
class TermSource:
    """A term that was read, and where its parts stand.

    Attributes
    ----------
    term : Term
    places : mapping
        The path of a part to its line and column.
    """

    term: Term
    places: Mapping[Path, tuple[int, int]]


def fault(at: Expression, message: str, hint: str | None = None) -> ParseError:
    """An error with the place of an expression.

    Examples
    --------
    >>> print(fault(Atom("x", 2, 5), "no"))
    line 2, column 5: no
    """
    return ParseError(message, hint=hint, line=at.line, column=at.column)


def read_expressions(text: str) -> list[Expression]:
    """S-expressions; from ``;`` to the end of its line a text says nothing.

    Raises
    ------
    ParseError
        If parentheses are not balanced, nested too deep, or the text is too long.

    Examples
    --------
    >>> read_expressions("(a 1) ; comment")[0].items[1]
    Atom(text='1', line=1, column=4)
    """
    if len(text) > MOST_CHARACTERS:
        raise ParseError(f"the text has more than {counted(MOST_CHARACTERS, 'character')}")
    done: list[Expression] = []
    open_groups: list[tuple[Atom, list[Expression]]] = []
    for atom in _atoms(text):
        if atom.text == "(":
            if len(open_groups) == MOST_DEPTH:
                raise fault(atom, f"more than {MOST_DEPTH} parentheses within each other")
            open_groups.append((atom, []))
            continue
        expression: Expression = atom
        if atom.text == ")":
            if not open_groups:
                raise fault(atom, "this parenthesis closes nothing", "take it out")
            opening, items = open_groups.pop()
            expression = ListExpression(tuple(items), opening.line, opening.column)
        (open_groups[-1][1] if open_groups else done).append(expression)
    if open_groups:
        raise fault(open_groups[-1][0], "this parenthesis is never closed", "add a )")
    return done


def _atoms(text: str) -> Iterator[Atom]:
    for number, line in enumerate(text.split("\n"), start=1):
        for match in re.finditer(r'[()]|"[^"]*"|;.*|[^\s();"]+|"', line):
            if match[0].startswith(";"):
                break
            yield Atom(match[0], number, match.start() + 1)


def read_term(text: str, source: str | None = None) -> TermSource:
    """Read the tensors of a term, and the term.

    Parameters
    ----------
    text : str
        Declarations ``(tensor NAME EXTENT ...)``, then one term.
    source : str, optional
        What the text is called in errors.

    Raises
    ------
    ParseError
        Of text that follows no construct.
    ShapeError
        Of operands that do not fit, with their place.

    Examples
    --------
    >>> term = read_term("(tensor A 3 4) (compute reduceSum (access A 1))").term
    >>> print(to_text(term, declared=False))
    (compute reduceSum
      (access A 1))
    """
    try:
        expressions = read_expressions(text)
        declared: dict[str, Term] = {}
        while expressions and _is_declaration(expressions[0]):
            declaration = expressions.pop(0)
            assert isinstance(declaration, ListExpression)
            name, leaf = _declared(declaration)
            if declared.setdefault(name, leaf) != leaf:
                raise fault(declaration, f"tensor {name} is declared with two shapes")
        if len(expressions) != 1:
            problem = "no term follows" if not expressions else "a second term follows"
            at = expressions[1] if expressions else Atom("", text.count("\n") + 1, 1)
            raise fault(at, problem, "write declarations of tensors, then one term")
        places: dict[Path, tuple[int, int]] = {}
        term = _read(expressions[0], declared, (), places)
        try:
            shapes_of(term)
        except ShapeError as error:
            error.locate(*places[error.path], source)
            raise
    except ProgramError:
        raise
    except ParseError as error:
        error.source = error.source or source
        raise
    return TermSource(term, places)


def _is_declaration(expression: Expression) -> bool:
    match expression:
        case ListExpression(items=(Atom(text="tensor"), *_)):
            return True
    return False


def _declared(declaration: ListExpression) -> tuple[str, Term]:
    _, *rest = declaration.items
    if not rest or not isinstance(rest[0], Atom) or not NAME.fullmatch(rest[0].text):
        raise fault(declaration, "a tensor needs a name", "write e.g. (tensor A 32 16)")
    if rest[0].text in CONSTRUCTS:
        raise fault(rest[0], f"{rest[0].text} is the name of a construct", "use another name")
    extents = tuple(read_integer(x) for x in rest[1:])
    for extent, expression in zip(extents, rest[1:], strict=True):
        if extent < 1:
            raise fault(expression, f"tensor {rest[0].text} has an extent of {extent}")
    return rest[0].text, tensor(rest[0].text, extents)


def _read(
    expression: Expression,
    declared: Mapping[str, Term],
    path: Path,
    places: dict[Path, tuple[int, int]],
) -> Term:
    places[path] = expression.line, expression.column
    if isinstance(expression, Atom):
        if expression.text not in declared:
            raise fault(
                expression,
                f"{shortened(expression.text, 40)} is no tensor",
                f"declare it before the term: (tensor {shortened(expression.text, 40)} 32 32)",
            )
        return declared[expression.text]
    construct = read_construct(expression)
    operands: list[Term] = []
    attributes: list[Any] = []
    for part, argument in zip(construct.parts, expression.items[1:], strict=True):
        if part is TermPart.TERM:
            operands.append(_read(argument, declared, (*path, len(operands)), places))
        else:
            attributes.append(read_attribute(part, argument))
    return Term(construct.name, tuple(attributes), tuple(operands))


def read_construct(group: ListExpression) -> Construct:
    """The construct that stands first in a group, which has as many arguments as that takes.

    Raises
    ------
    ParseError
        If it is none, or takes another number of arguments.

    Examples
    --------
    >>> read_construct(read_expressions("(flatten A)")[0]).name
    'flatten'
    """
    head = group.items[0] if group.items else None
    if not isinstance(head, Atom):
        raise fault(group, "a construct is missing", "write e.g. (access A 1)")
    construct = CONSTRUCTS.get(head.text)
    if construct is None or head.text == TENSOR:
        raise fault(
            head,
            f"{shortened(head.text, 40)} is no construct",
            suggestion(head.text, [name for name in CONSTRUCTS if name != TENSOR]),
        )
    if len(group.items) - 1 != len(construct.parts):
        raise fault(
            group,
            f"{construct.name} takes {counted(len(construct.parts), 'argument')}, "
            f"not {len(group.items) - 1}",
            f"write {construct.signature()}",
        )
    return construct


def read_integer(expression: Expression) -> int:
    """An integer.

    Raises
    ------
    ParseError
        If it is none, or too long.

    Examples
    --------
    >>> read_integer(Atom("12", 1, 1))
    12
    """
    text = expression.text if isinstance(expression, Atom) else "("
    if not re.fullmatch(rf"-?[0-9]{{1,{MOST_DIGITS}}}", text):
        raise fault(expression, f"{shortened(text, 40)} is no integer")
    return int(text)


def read_attribute(part: TermPart, expression: Expression) -> Any:
    """An attribute of a kind.

    Raises
    ------
    ParseError
        If it is of another kind.

    Examples
    --------
    >>> read_attribute(TermPart.SHAPE, read_expressions("(shape 3 3)")[0])
    (3, 3)
    """
    match part, expression:
        case TermPart.INTEGER, Atom():
            return read_integer(expression)
        case TermPart.NUMBER, Atom(text=text):
            try:
                number = float(text)
            except ValueError:
                number = float("nan")
            if not isfinite(number):
                raise fault(expression, f"{shortened(text, 40)} is no number")
            return number
        case TermPart.WORD, Atom(text=text) if NAME.fullmatch(text):
            return text
        case (
            (TermPart.LIST | TermPart.SHAPE),
            ListExpression(items=(Atom(text=head), *rest)),
        ) if head == part.name.lower():
            return tuple(read_integer(x) for x in rest)
        case TermPart.ACCESS_SHAPE, ListExpression(
            items=(Atom(text="access-shape"), access, compute)
        ):
            return AccessShape(*(read_attribute(TermPart.SHAPE, x) for x in (access, compute)))
    raise fault(expression, f"{part.value} should stand here")


def to_text(term: Term, *, declared: bool = True, shapes: bool = False) -> str:
    """A term as text that :func:`read_term` reads back.

    Parameters
    ----------
    declared : bool
        With the declarations of its tensors.
    shapes : bool
        With the shape of each part behind it, as a comment.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> print(to_text(matmul(32, 16, 8), shapes=True))
    (tensor activations 32 16)
    (tensor weights 16 8)
    (compute dotProd  ; ((32, 8), ())
      (cartProd  ; ((32, 8), (2, 16))
        (access activations 1)  ; ((32), (16))
        (transpose  ; ((8), (16))
          (access weights 1)  ; ((16), (8))
          (list 1 0))))
    """
    lines = []
    if declared:
        for name, extents in tensors(term).items():
            lines.append(f"({' '.join(['tensor', name, *map(str, extents)])})")
    found = shapes_of(term) if shapes else None
    for line in lines_of(term):
        described = line.begins and line.part.construct != TENSOR
        comment = f"  ; {found[line.part]}" if found is not None and described else ""
        lines.append(f"{'  ' * line.depth}{line.text}{comment}")
    return "\n".join(lines)


def attribute_text(part: TermPart, attribute: Any) -> str:
    """An attribute as text.

    Examples
    --------
    >>> attribute_text(TermPart.ACCESS_SHAPE, AccessShape((3,), (4, 5)))
    '(access-shape (shape 3) (shape 4 5))'
    """
    if part is TermPart.ACCESS_SHAPE:
        both = (attribute_text(TermPart.SHAPE, x) for x in (attribute.access, attribute.compute))
        return f"(access-shape {' '.join(both)})"
    if part in (TermPart.LIST, TermPart.SHAPE):
        dims: Dims = attribute
        return f"({' '.join([part.name.lower(), *map(str, dims)])})"
    return repr(attribute) if part is TermPart.NUMBER else str(attribute)


@dataclass(frozen=True)
class TermLine:
    """A line of a term's text.

    Attributes
    ----------
    depth : int
        Of its indentation.
    text : str
    path : tuple of int
        The way to the part that begins on it; for a line of attributes, to the part that has them.
    part : Term
        That part.
    begins : bool
        Whether the part begins on it.
    """

    depth: int
    text: str
    path: Path
    part: Term
    begins: bool = True


def lines_of(term: Term) -> list[TermLine]:
    """The lines of a term without its declarations; parts that hold no parts stand on one line.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> [(line.depth, line.text, line.path) for line in lines_of(matmul(4, 3, 2))][:3]
    [(0, '(compute dotProd', ()), (1, '(cartProd', (0,)), (2, '(access activations 1)', (0, 0))]
    """
    return _lines(term, 0, ())


def _lines(term: Term, depth: int, path: Path) -> list[TermLine]:
    if term.construct == TENSOR:
        return [TermLine(depth, str(term.attributes[0]), path, term)]
    construct = CONSTRUCTS[term.construct]
    flat = all(x.construct == TENSOR for x in term.operands)
    head, lines = construct.name, []
    attributes, number = iter(term.attributes), 0
    for part in construct.parts:
        if part is TermPart.TERM:
            operand = term.operands[number]
            if flat:
                head += f" {operand.attributes[0]}"
            else:
                lines += _lines(operand, depth + 1, (*path, number))
            number += 1
            continue
        text = attribute_text(part, next(attributes))
        if flat or not lines:
            head += f" {text}"
        else:
            last = lines[-1]
            if last.path == path:  # attributes behind one another share a line
                lines[-1] = replace(last, text=f"{last.text} {text}")
            else:
                lines.append(TermLine(depth + 1, text, path, term, begins=False))
    lines = [TermLine(depth, f"({head}", path, term), *lines]
    return [*lines[:-1], replace(lines[-1], text=f"{lines[-1].text})")]
