"""Structured operations as statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.expressions import CAST, Arg, Node, Num, Raw, arguments, is_known
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.exactness import absent_is_zero
from fuseloom.frontends.mlir.moves import insert_slice
from fuseloom.frontends.mlir.named import Computation
from fuseloom.frontends.mlir.operands import Operands, StructuredOutput
from fuseloom.frontends.mlir.reductions import reduced
from fuseloom.frontends.mlir.region_values import Captured
from fuseloom.frontends.mlir.statements import Statements
from fuseloom.frontends.mlir.syntax import Result, Slice, Sum, Type, Typed, Use
from fuseloom.frontends.mlir.values import Blank, ConstantTensor, Ignored, Value, View
from fuseloom.program.relations import affine_text


def structured(
    builder: MlirBuilder,
    computation: Computation,
    values: Sequence[Value],
    names: Sequence[str],
    types: Sequence[Type],
    captured: Sequence[Captured] = (),
) -> tuple[Value, ...]:
    """The results of a structured operation, by statements.

    Parameters
    ----------
    values : sequence of Value
        Inputs, then outputs, one per map of the computation.
    names, types : sequence
        Per result.
    captured : sequence of Captured
        Tensors of the function around it that the region reads.

    Raises
    ------
    ProgramError
        The operands do not fit each other, or no statements compute a result.
    """
    statements = Statements(Operands(builder, computation, values, captured), names)
    _note_stored(statements.operands)
    numbers = range(len(values) - len(names), len(values))
    return tuple(
        tree if isinstance(tree, Ignored) else _lazily(statements, tree, number, name, type_)
        for tree, number, name, type_ in zip(computation.trees, numbers, names, types, strict=True)
    )


def _note_stored(operands: Operands) -> None:
    """Say where an operation means something else than over dense tensors."""
    for tree in operands.computation.trees:
        if not isinstance(tree, Ignored) and not absent_is_zero(tree, operands.may_lack):
            operands.builder.notes.append(
                f"line {operands.place[0]}: the operation acts on the elements that are stored; "
                "over dense tensors it would give other elements than 0 elsewhere"
            )


def _lazily(statements: Statements, tree: Node, number: int, name: str, type_: Type) -> Value:
    """A result; what is wrong with one of integers counts where it is needed."""
    operands = statements.operands
    try:
        if any(isinstance(x, Sum) for x in operands.results_of(number)):
            found = _placed(statements, tree, number, name, type_)
        else:
            found = _result(statements, tree, operands.output(number, name, type_))
    except ProgramError as problem:
        if not type_.is_integer:
            raise
        return Ignored(problem.message, problem)
    if isinstance(found, View) and type_.format is None and not statements.whole:
        read = [operands.values[k] for k in arguments(tree) if k >= 0]
        return replace(found, holes=any(isinstance(x, View) and x.holes for x in read))
    return found


def _result(statements: Statements, tree: Node, output: StructuredOutput) -> Value:
    operands, fmt = statements.operands, output.type.format
    if isinstance(tree, Num):
        return Blank(output.sizes, fmt, tree.value)
    if operands.over(output):
        return reduced(statements, tree, output)
    cast = isinstance(tree, Raw) and tree.name == CAST
    if isinstance(tree, Raw) and cast:
        tree = tree.operands[0]
    if isinstance(tree, Arg):
        source = operands.values[tree.number] if tree.number >= 0 else None
        if isinstance(source, Blank):  # a copy has no more elements
            holds_zeros = source.fill is None and source.format is not None
            return Blank(output.sizes, fmt, 0.0 if holds_zeros else source.fill)
        moved = _moved(statements, tree, output, cast)
        if moved is not None:
            return moved
    free = statements.free(tree)
    if is_known(tree):
        return output.view(statements.emit(tree, output.name))
    indices = output.kept(free)
    left = [x for x in free if x not in indices]
    if left:
        raise operands.refuse(
            f"index {left[0]} is parallel, but the output's map lacks it",
            "mark it as reduction and accumulate, or give the output the index",
        )
    return output.view(statements.assign(tree, output.name, indices, output.format(indices)))


def _placed(statements: Statements, tree: Node, number: int, name: str, type_: Type) -> Value:
    """A result that is written at other places than those it is computed for."""
    operands, place = statements.operands, statements.place
    positions, start = operands.results_of(number), operands.values[number]
    terms = [_term(x) for x in positions]
    dims = [x for x, _, _ in terms if x is not None]
    into = operands.builder.constant(start) if isinstance(start, ConstantTensor) else start
    whole = len(set(dims)) == len(dims) == len(operands.computation.dims)
    if not whole or any(step < 1 for _, step, _ in terms) or not isinstance(into, View | Blank):
        shown = next(affine_text([*x.terms], x.offset) for x in positions if isinstance(x, Sum))
        raise operands.refuse(
            f"the output is written at {shown}",
            "give its map one dimension per result, and multiply by a tensor that says "
            'where it goes: an argument with {fuseloom.where = "d1 = 2*d0"}',
        )
    counts = [1 if x is None else operands.sizes[x].value for x, _, _ in terms]
    if None in counts:
        raise operands.refuse("a size is not known here", "write the size, or give shapes")
    known = tuple(c or 0 for c in counts)
    shape = tuple(c for c, (x, _, _) in zip(known, terms, strict=True) if x is not None)
    indices = tuple(operands.index[x] for x in dims)
    free = statements.free(tree)
    if isinstance(tree, Num) or is_known(tree) or set(free) != set(indices):
        raise operands.refuse(
            "what is written at other places lacks an index", "multiply by a tensor of ones"
        )
    part = statements.assign(tree, f"{name}_part", indices, None)
    body = Slice(
        Typed(Use(part.tensor, 0, place), Type(type_.element, shape, place=place)),
        Typed(Use(part.tensor, 0, place), type_),
        tuple(offset for _, _, offset in terms),
        known,
        tuple(step for _, step, _ in terms),
        type_,
    )
    view = View(part.tensor, tuple(range(len(dims))), operands.shape(indices))
    return insert_slice(operands.builder, body, view, into, _known, name, place)


def _moved(statements: Statements, tree: Arg, output: StructuredOutput, cast: bool) -> Value | None:
    """A bare yield that needs no statement: of a constant, a broadcast, a transposition, a cast."""
    operands, type_ = statements.operands, output.type
    value = operands.values[tree.number] if tree.number >= 0 else None
    source = operands.results_of(tree.number) if tree.number >= 0 else ()
    if any(isinstance(x, Sum) for x in source):
        return None
    if (
        isinstance(value, ConstantTensor)
        and None not in source
        and sorted(map(str, source)) == sorted(map(str, output.dims))
    ):
        permutation = tuple(value.permutation[source.index(x)] for x in output.dims)
        same = permutation == value.permutation and type_.format == value.format
        name = value.name if same else output.name
        return replace(
            value, name=name, permutation=permutation, format=type_.format, blocks=type_.blocks
        )
    if isinstance(value, ConstantTensor) and value.rank == 0 and value.splat is not None:
        return Blank(output.sizes, type_.format, value.splat)
    access = statements.read(tree.number)
    broadcast = any(x not in access.indices for x in output.indices)
    if not set(access.indices) <= set(output.indices):
        return None
    same = cast and access.indices == output.indices
    view = output.view(access)
    dense = type_.format is None and not operands.builder.may_lack(view)
    if not broadcast and not same and not (dense and access.indices != output.indices):
        return None
    return view


def _term(x: Result) -> tuple[str | None, int, int]:
    """The dimension of a place, its coefficient and what is added; no coefficient of sums."""
    if not isinstance(x, Sum):
        return x, 1, 0
    if not x.terms:
        return None, 1, x.offset
    ((step, name), *more) = x.terms
    return name, 0 if more else step, x.offset


def _known(place: int | Use) -> int:
    assert isinstance(place, int)
    return place
