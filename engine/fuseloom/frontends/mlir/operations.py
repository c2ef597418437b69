"""Operations, each read by the function that a table has for its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fuseloom.frontends.mlir import syntax
from fuseloom.frontends.mlir.attributes import Reader
from fuseloom.frontends.mlir.cursor import Cursor, generic_form, integer, refuse
from fuseloom.frontends.mlir.linalg_reader import LINALG, read_dimension, read_linalg, read_numbers
from fuseloom.frontends.mlir.scalars import (
    SPARSE,
    read_group,
    read_operands,
    read_region,
    read_results,
    read_scalar,
    read_typed,
    read_typed_literal,
    read_types,
    read_use,
    read_uses,
    typed,
)
from fuseloom.frontends.mlir.syntax import Type, Typed, Use
from fuseloom.program.formats import suggestion


def read_operation(reader: Reader) -> syntax.Operation:
    """An operation; one outside the subset says so, which counts where its results are needed.

    Raises
    ------
    FuseloomError
        An operation of the subset does not follow its grammar.
    """
    cursor = reader.cursor
    results = read_results(cursor)
    name = cursor.token
    if name.kind not in ("word", "string"):
        raise cursor.unexpected("the name of an operation")
    cursor.advance()
    read = _reading(name.text) if name.kind == "word" else None
    body = None if read is None else read(reader)
    if body is None:
        cursor.skip_operation()
        body = syntax.Foreign(
            generic_form(name.place)
            if name.kind == "string"
            else refuse(
                f"the operation {name.text} is outside the subset", _way_out(name.text), name.place
            )
        )
    cursor.skip_location()
    return syntax.Operation(results, body, name.place)


def _reading(op: str) -> _Reading | None:
    """The function that reads an operation, from behind its name; None outside the subset."""
    if op not in _READINGS and (op.startswith(("arith.", "math.")) or op in SPARSE):
        return _arithmetic
    return _READINGS.get(op)


# Parts that several operations have -----------------------------------------------------------


def _type(reader: Reader) -> Type:
    """The type behind a colon; attributes before it say nothing here."""
    _colon(reader.cursor, "':' and a type")
    return reader.type()


def _colon(cursor: Cursor, wanted: str) -> None:
    cursor.skip_dictionary()
    cursor.need(":", wanted)


def _change(reader: Reader, use: Use, word: str) -> tuple[Typed, Type]:
    """A value with its type, and the type of the result: ``: type to type``."""
    source = _type(reader)
    reader.cursor.need(word)
    return Typed(use, source), reader.type()


def _signature(reader: Reader, of: str) -> tuple[Type, ...]:
    """The types of operands, as those of a function: ``: (type, type)``."""
    _colon(reader.cursor, f"':' and the {of}'s type")
    reader.cursor.need("(")
    return reader.type_list()


def _places(cursor: Cursor) -> tuple[int | Use, ...]:
    """``[0, %x, 4]``."""
    cursor.need("[")
    return tuple(
        read_use(cursor)
        if cursor.token.kind == "ssa"
        else integer(cursor.kind("int", "a number or a value").text)
        for _ in cursor.listed("]")
    )


# Operations -----------------------------------------------------------------------------------


def _constant(reader: Reader) -> syntax.ConstantOperation:
    reader.cursor.skip_dictionary()
    return syntax.ConstantOperation(*read_typed_literal(reader))


def _arithmetic(reader: Reader) -> syntax.ArithmeticOperation:
    return syntax.ArithmeticOperation(read_scalar(reader, reader.cursor.last))


def _empty(reader: Reader) -> syntax.Empty:
    cursor = reader.cursor
    if cursor.sees("["):  # of linalg.init_tensor
        sizes = tuple(x for x in _places(cursor) if isinstance(x, Use))
    else:
        sizes = read_group(cursor, "(", ")")
    copied: Use | None = None
    while not cursor.sees(":"):
        if cursor.take("copy"):
            cursor.need("(")
            copied = read_use(cursor)
            cursor.need(")")
        elif cursor.take("size_hint"):
            cursor.need("=")
            read_use(cursor)
        elif cursor.sees("{"):
            cursor.skip_group()
        else:
            break
    return syntax.Empty(sizes, _type(reader), copy=copied)


def _splat(reader: Reader) -> syntax.Empty:
    use = read_use(reader.cursor)
    sizes = read_group(reader.cursor, "[", "]") if reader.cursor.sees("[") else ()
    return syntax.Empty(sizes, _type(reader), splat=use)


def _from_elements(reader: Reader) -> syntax.Empty | None:
    uses = read_operands(reader.cursor)
    type_ = _type(reader)
    return syntax.Empty((), type_, splat=uses[0]) if len(uses) == 1 else None


def _new(reader: Reader) -> syntax.New:
    cursor = reader.cursor
    while not cursor.take("to"):
        if cursor.token.kind == "end" or cursor.sees("}"):
            raise cursor.unexpected("'to' and a type")
        cursor.advance()
    return syntax.New(reader.type())


def _cast(reader: Reader) -> syntax.Cast:
    cursor = reader.cursor
    if cursor.token.kind == "word":
        cursor.advance()  # how reorder_coo sorts
    cursor.skip_dictionary()
    use = read_use(cursor)
    cursor.take("hasInserts")
    source = _type(reader)
    return syntax.Cast(Typed(use, source), reader.type() if cursor.take("to") else source)


def _extract(reader: Reader) -> syntax.Element:
    use = read_use(reader.cursor)
    return syntax.Element(use, read_group(reader.cursor, "[", "]"), _type(reader))


def _insert(reader: Reader) -> syntax.Slice:
    """A slice of one element."""
    cursor = reader.cursor
    use = read_use(cursor)
    cursor.need("into")
    whole = read_use(cursor)
    at = _places(cursor)
    type_ = _type(reader)
    ones = (1,) * len(at)
    element = Typed(use, Type(type_.element, None, place=type_.place))
    return syntax.Slice(element, Typed(whole, type_), at, ones, ones, type_)


def _slice(reader: Reader) -> syntax.Slice:
    cursor = reader.cursor
    inserts = cursor.last.text == "tensor.insert_slice"
    whole = use = read_use(cursor)
    if inserts:
        cursor.need("into")
        whole = read_use(cursor)
    places = _places(cursor), _places(cursor), _places(cursor)
    operand, type_ = _change(reader, use, "into" if inserts else "to")
    return syntax.Slice(operand, Typed(whole, type_) if inserts else None, *places, type_)


def _pad(reader: Reader) -> syntax.Pad:
    cursor = reader.cursor
    use = read_use(cursor)
    cursor.take("nofold")
    cursor.need("low")
    low = _places(cursor)
    cursor.need("high")
    high = _places(cursor)
    region = read_region(reader, "tensor.yield")
    if len(region.yields) != 1:
        raise refuse("a pad yields one number", "tensor.yield %zero : f32", region.place)
    operand, type_ = _change(reader, use, "to")
    return syntax.Pad(operand, low, high, region.lines, region.yields[0], type_)


def _pack(reader: Reader) -> syntax.Pack:
    cursor = reader.cursor
    unpacks = cursor.last.text.endswith("unpack")
    use = read_use(cursor)
    padding: Use | None = None
    found: dict[str, tuple[int | Use, ...]] = {}
    while not cursor.take("into"):
        word = cursor.kind("word", "'into'").text
        if word == "padding_value":
            cursor.need("(")
            padding = read_use(cursor)
            cursor.need(":")
            reader.type()
            cursor.need(")")
        else:
            cursor.need("=")
            found[word] = _places(cursor)
    into = read_use(cursor)
    operand, type_ = _change(reader, use, "->")
    return syntax.Pack(
        operand, found.get("inner_dims_pos", ()), found.get("inner_tiles", ()),
        found.get("outer_dims_perm", ()), padding, type_, unpacks, into,
    )  # fmt: skip


def _concatenate(reader: Reader) -> syntax.Concat:
    """``sparse_tensor.concatenate %a, %b {dimension = 0 : index} : T, T to T``."""
    cursor = reader.cursor
    uses = read_operands(cursor)
    place = cursor.need("{", "{dimension = ...}").place
    axis: int | None = None
    for _ in cursor.listed("}"):
        key = cursor.advance()
        cursor.need("=")
        if key.text == "dimension":
            axis = read_dimension(cursor)
        cursor.skip_value()
    if axis is None:
        raise refuse("no dimension to concatenate along", "{dimension = 0 : index}", place)
    _colon(cursor, "':' and the types")
    operands = typed(uses, read_types(reader), place)
    cursor.need("to")
    return syntax.Concat(axis, operands, reader.type())


def _concat(reader: Reader) -> syntax.Concat:
    """``tensor.concat dim(0) %a, %b : (T, T) -> T``."""
    cursor = reader.cursor
    cursor.need("dim")
    cursor.need("(")
    axis = read_dimension(cursor)
    cursor.need(")")
    uses = read_uses(cursor)
    operands = typed(uses, _signature(reader, "operation"), uses[0].place)
    cursor.need("->")
    return syntax.Concat(axis, operands, reader.type())


def _grouped_reshape(reader: Reader) -> syntax.Reshape:
    cursor = reader.cursor
    use = read_use(cursor)
    cursor.need("[")
    groups = tuple(read_numbers(cursor) for _ in cursor.listed("]"))
    sizes = _places(cursor) if cursor.take("output_shape") else ()
    operand, type_ = _change(reader, use, "into")
    return syntax.Reshape(operand, groups, type_, sizes)


def _reshape(reader: Reader) -> syntax.Reshape:
    cursor = reader.cursor
    use = read_use(cursor)
    shape = read_group(cursor, "(", ")")
    types = _signature(reader, "operation")
    if not types:
        raise cursor.unexpected("the types of the operands")
    cursor.need("->")
    return syntax.Reshape(
        Typed(use, types[0]), None, reader.type(), shape=shape[0] if shape else None
    )


def _dim(reader: Reader) -> syntax.Dim:
    operand = read_use(reader.cursor)
    reader.cursor.need(",")
    number = read_use(reader.cursor)
    _type(reader)
    return syntax.Dim(operand, number)


def _entries(reader: Reader) -> syntax.Entries:
    operand = read_use(reader.cursor)
    return syntax.Entries(Typed(operand, _type(reader)))


def _call(reader: Reader) -> syntax.CallOperation:
    cursor = reader.cursor
    callee = cursor.kind("symbol", "the function's name").text[1:].strip('"')
    operands = read_group(cursor, "(", ")")
    _signature(reader, "function")
    cursor.need("->")
    return syntax.CallOperation(callee, operands, reader.result_types())


def _return(reader: Reader) -> syntax.Return:
    reader.cursor.skip_dictionary()
    return syntax.Return(read_typed(reader) if reader.cursor.token.kind == "ssa" else ())


_Reading: TypeAlias = Callable[[Reader], syntax.Body | None]
_READINGS: dict[str, _Reading] = {
    "arith.constant": _constant,
    **dict.fromkeys(("tensor.empty", "bufferization.alloc_tensor", "linalg.init_tensor"), _empty),
    **dict.fromkeys(("linalg.pack", "linalg.unpack", "tensor.pack", "tensor.unpack"), _pack),
    "tensor.concat": _concat,
    "sparse_tensor.concatenate": _concatenate,
    "tensor.reshape": _reshape,
    "tensor.dim": _dim,
    "tensor.pad": _pad,
    **dict.fromkeys(("tensor.extract_slice", "tensor.insert_slice"), _slice),
    "tensor.extract": _extract,
    "tensor.insert": _insert,
    "tensor.from_elements": _from_elements,
    "tensor.splat": _splat,
    **dict.fromkeys((f"sparse_tensor.{x}" for x in ("new", "assemble", "pack")), _new),
    "sparse_tensor.number_of_entries": _entries,
    **dict.fromkeys(LINALG, read_linalg),
    **dict.fromkeys(("tensor.expand_shape", "tensor.collapse_shape"), _grouped_reshape),
    "tensor.cast": _cast,
    **dict.fromkeys(
        (f"sparse_tensor.{x}" for x in ("convert", "reinterpret_map", "load", "reorder_coo")), _cast
    ),
    **dict.fromkeys(("call", "func.call"), _call),
    **dict.fromkeys(("return", "func.return"), _return),
}
"""Operations by name, in the order in which hints list them; arithmetic has one function."""


# Outside the subset ---------------------------------------------------------------------------


def _way_out(op: str) -> str:
    """Return a suggestion for an operation that the subset lacks."""
    dialect = op.partition(".")[0]
    if dialect not in ("arith", "math", "linalg", "tensor", "sparse_tensor", "func"):
        return _WAYS.get(dialect, _BEFORE)
    if op.startswith(_STORAGE):
        return _BEFORE
    return _COUNTERPARTS.get(op) or suggestion(op, [*_READINGS])


_STORAGE = tuple(
    f"sparse_tensor.{x}"
    for x in ("positions", "coordinates", "coordinates_buffer", "values", "pointers", "indices",
              "storage_specifier", "expand", "compress", "push_back", "sort", "out", "disassemble",
              "has_runtime_library", "slice.")
)  # fmt: skip
"""Operations on how a tensor is stored, after passes that lower it."""
_LOOPS = "programs have no loops: write a linalg operation on whole tensors"
_COUNTERPARTS = {
    **dict.fromkeys(
        [
            f"sparse_tensor.{x}"
            for x in ("foreach", "iterate", "coiterate", "extract_iteration_space")
        ],
        _LOOPS,
    ),
    "sparse_tensor.insert": "tensor.insert puts a number at known places",
    "linalg.fill_rng_2d": "pass the random numbers as an argument",
}
_BEFORE = "give the file as it is before it is lowered: linalg operations on tensors"
_WAYS = {
    **dict.fromkeys(("memref", "vector", "gpu", "affine", "llvm", "cf", "bufferization"), _BEFORE),
    "scf": "programs have no loops: write a linalg operation on whole tensors, or one per step",
    "complex": "programs compute real numbers: keep the parts in two tensors",
}
