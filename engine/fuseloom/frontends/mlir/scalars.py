"""Values, and the regions of operations: arithmetic on single elements."""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir.attributes import Reader
from fuseloom.frontends.mlir.cursor import Cursor, integer, refuse
from fuseloom.frontends.mlir.literals import read_literal
from fuseloom.frontends.mlir.syntax import (
    Argument,
    Literal,
    OperationLine,
    RegionBody,
    ResultNames,
    Scalar,
    Type,
    Typed,
    Use,
)
from fuseloom.frontends.mlir.tokens import Token
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted

MAX_REGIONS = 6
"""Regions inside each other; a value may be computed twice for each."""
SPARSE = {
    "sparse_tensor.unary": ("present", "absent"),
    "sparse_tensor.binary": ("overlap", "left", "right"),
    "sparse_tensor.select": (),
    "sparse_tensor.reduce": (),
}
"""Operations of the sparse dialect in a region, and the names of their regions."""


# Values ---------------------------------------------------------------------------------------


def read_results(cursor: Cursor) -> tuple[ResultNames, ...]:
    """The names before an operation: ``%0, %1:2 =``."""
    found: list[ResultNames] = []
    while cursor.token.kind == "ssa":
        name = cursor.advance()
        count = 1
        if cursor.take(":"):
            count = integer(cursor.kind("int", "the number of results").text)
            if not 1 <= count <= 100:
                raise refuse(f"{counted(count, 'result')} of one operation", "1 to 100", name.place)
        found.append(ResultNames(name.text[1:], count, name.place))
        if not cursor.take(","):
            cursor.need("=", "'=' and an operation")
            return tuple(found)
    if found:
        raise cursor.unexpected("a value's name, e.g. %0")
    return ()


def read_use(cursor: Cursor) -> Use:
    """A value: ``%name`` or ``%name#number``."""
    name = cursor.kind("ssa", "a value, e.g. %0")
    number = 0
    if cursor.token.kind == "hash" and cursor.token.text[1:].isdigit():
        number = integer(cursor.advance().text[1:])
    return Use(name.text[1:], number, name.place)


def read_group(cursor: Cursor, opening: str, closing: str) -> tuple[Use, ...]:
    """Values in brackets."""
    cursor.need(opening)
    return tuple(read_use(cursor) for _ in cursor.listed(closing))


def read_uses(cursor: Cursor) -> list[Use]:
    """Values separated by commas, at least one."""
    uses = [read_use(cursor)]
    while cursor.take(","):
        uses.append(read_use(cursor))
    return uses


def read_operands(cursor: Cursor) -> tuple[Use, ...]:
    """Values separated by commas, behind which a comma may stand; there may be none."""
    operands: list[Use] = []
    while cursor.token.kind == "ssa":
        operands.append(read_use(cursor))
        if not cursor.take(","):
            break
    return tuple(operands)


def read_types(reader: Reader) -> list[Type]:
    """Types separated by commas, at least one."""
    types = [reader.type()]
    while reader.cursor.take(","):
        types.append(reader.type())
    return types


def typed(uses: Sequence[Use], types: Sequence[Type], place: SourcePlace) -> tuple[Typed, ...]:
    """Values with the types that a text lists behind them, one for each."""
    if len(uses) != len(types):
        raise refuse(
            f"{counted(len(uses), 'value')} but {counted(len(types), 'type')}",
            "one type per value",
            place,
        )
    return tuple(Typed(use, type_) for use, type_ in zip(uses, types, strict=True))


def read_typed(reader: Reader, closing: str | None = None) -> tuple[Typed, ...]:
    """Values and their types: ``%a, %b : type, type``, up to a closing sign if there is one."""
    cursor = reader.cursor
    if closing and cursor.take(closing):
        return ()
    place = cursor.place
    uses = read_uses(cursor)
    cursor.need(":", "',' or ':' and the types")
    types = read_types(reader)
    if closing:
        cursor.need(closing, f"',' or '{closing}'")
    return typed(uses, types, place)


def read_typed_literal(reader: Reader) -> tuple[Literal, Type]:
    """A literal and its type, which may be missing behind a truth value."""
    cursor = reader.cursor
    boolean = cursor.sees("true", "false")
    literal = read_literal(cursor)
    if boolean and not cursor.sees(":"):
        return literal, Type("i1", place=literal.place)
    cursor.need(":", "':' and the constant's type")
    return literal, reader.type()


def read_argument(reader: Reader) -> Argument:
    """``%name: type``."""
    name = reader.cursor.kind("ssa", "a value's name, e.g. %0")
    reader.cursor.need(":", "':' and a type")
    type_ = reader.type()
    reader.cursor.skip_location()
    return Argument(name.text[1:], type_, name.place)


# Regions --------------------------------------------------------------------------------------


def read_region(
    reader: Reader,
    ending: str = "linalg.yield",
    depth: int = 0,
    arguments: tuple[Argument, ...] = (),
) -> RegionBody:
    """A region ``{ ^bb0(...): ... }`` up to the operation that yields."""
    cursor = reader.cursor
    if depth > MAX_REGIONS:
        raise refuse(
            f"regions are nested more than {MAX_REGIONS} deep", "split the operation", cursor.place
        )
    start = cursor.need("{", "the region '{ ^bb0(...): ... }'")
    if cursor.token.kind == "block":
        cursor.advance()
        if cursor.take("("):
            arguments = tuple(read_argument(reader) for _ in cursor.listed(")"))
        cursor.need(":")
    lines: list[OperationLine] = []
    while not cursor.take(ending):
        if cursor.token.kind == "end" or cursor.sees("}"):
            raise cursor.unexpected(f"an operation or {ending}")
        lines.append(_line(reader, depth))
    yields = read_typed(reader) if cursor.token.kind == "ssa" else ()
    cursor.skip_location()
    cursor.need("}", f"'}}' after {ending}")
    return RegionBody(arguments, tuple(lines), tuple(y.use for y in yields), start.place)


def _line(reader: Reader, depth: int) -> OperationLine:
    cursor = reader.cursor
    results = read_results(cursor)
    name = cursor.kind("word", "an operation on numbers, or linalg.yield")
    start = cursor.at
    try:
        scalar = read_scalar(reader, name, depth)
    except ParseError:
        if name.text.startswith(("arith.", "math.", "linalg.", "sparse_tensor.")):
            raise
        cursor.at = start  # an error only where its value is yielded
        cursor.skip_operation()
        scalar = Scalar(name.text, ())
    cursor.skip_location()
    return OperationLine(tuple(r.name for r in results), scalar, name.place)


def read_scalar(reader: Reader, name: Token, depth: int = 0) -> Scalar:
    """The rest of an operation on numbers, behind its name."""
    cursor = reader.cursor
    if name.text == "arith.constant":
        cursor.skip_dictionary()
        literal, type_ = read_typed_literal(reader)
        return Scalar(name.text, (), literal=literal, type=type_)
    if name.text == "linalg.index":
        number = integer(cursor.kind("int", "the number of an index").text)
        return Scalar(name.text, (), type=_ends(reader)[1], number=number)
    if name.text in SPARSE:
        return _sparse(reader, name, depth)
    predicate: str | None = None
    if cursor.token.kind in ("word", "string") and not cursor.sees("fastmath", "loc", "overflow"):
        predicate = cursor.advance().text.strip('"')
        cursor.need(",")
    operands = read_operands(cursor)
    while cursor.take("fastmath", "overflow"):
        cursor.skip_group()
    places = read_group(cursor, "[", "]") if name.text == "tensor.extract" else ()
    source, type_ = _ends(reader)
    return Scalar(name.text, operands, predicate, None, type_, source, places=places)


def _sparse(reader: Reader, name: Token, depth: int) -> Scalar:
    """``sparse_tensor.unary %a : f64 to f64 present = { ... } absent = { ... }``."""
    cursor = reader.cursor
    operands = read_operands(cursor)
    source, type_ = _ends(reader)
    found: list[tuple[str, RegionBody | str | None]] = []
    if not SPARSE[name.text]:
        found.append(("region", read_region(reader, "sparse_tensor.yield", depth + 1)))
    while cursor.sees(*SPARSE[name.text]):
        part = cursor.advance().text
        cursor.need("=")
        body: RegionBody | str | None = None
        if cursor.take("identity"):
            body = "identity"
        elif cursor.ahead().text == "}":
            cursor.skip_group()
        else:
            body = read_region(reader, "sparse_tensor.yield", depth + 1)
        found.append((part, body))
    return Scalar(name.text, operands, None, None, type_, source, regions=tuple(found))


def _ends(reader: Reader) -> tuple[Type, Type]:
    """The first and the last of the types of an operation, behind its attributes."""
    reader.cursor.skip_dictionary()
    reader.cursor.need(":", "':' and a type")
    first = last = reader.type()
    while reader.cursor.take(",", "to"):
        last = reader.type()
    return first, last
