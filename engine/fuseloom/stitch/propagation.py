"""Schedules of operands that a schedule of an operation asks for: Table 1 of FusionStitching.

Of an operation that is computed by some schedule, block *b* makes a part of the result.  A
schedule of an operand is

* *exact* if its block *b* is exactly what block *b* of the operation reads,
* a *cover* if its block *b* has all that block *b* reads, and more: elements that no block reads,
* *repeated* if each block of the operation reads exactly one block of it, and several read the
  same one, as they do of what is broadcast; each of them has to compute it again, or to read it
  from memory.

There is such a schedule, with the same numbers of blocks where it is exact or a cover, if and only
if :func:`propagate` returns it.  Table 1 is not as precise: with ``split_dim`` on the first reduced
or transposed dimension, the rows that it passes are right for one part only, and schedules that
change from rows to columns are not in it.  :func:`table_passes` has its conditions as printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.opcodes import (
    ELEMENTWISE,
    OperationClass,
    has_no_elements,
    is_batched,
    operation_class,
)
from fuseloom.stitch.operand_schedules import (
    Dims,
    OperandSchedule,
    PartMatch,
    from_digits,
    refused,
    single_element,
)
from fuseloom.stitch.place_rules import of_concatenate, of_pad, of_reverse, of_slice
from fuseloom.stitch.schedules import (
    BlockSchedule,
    Digits,
    IndexDigit,
    SplitType,
    dimension_digits,
    schedule_with,
)
from fuseloom.stitch.shapes import TensorShape, TupleShape, ValueShape


def propagate(
    operation: DenseOperation, shapes: Sequence[ValueShape], schedule: BlockSchedule
) -> tuple[OperandSchedule, ...]:
    """Propagate a schedule of an operation to its operands.

    Parameters
    ----------
    operation : DenseOperation
    shapes : sequence of TensorShape or TupleShape
        Of its operands.
    schedule : BlockSchedule
        Of its result.

    Raises
    ------
    ScheduleError
        If it is no schedule of the result.
    ProgramError
        If the operation makes a tuple.

    Examples
    --------
    Sums of rows: whole rows stay in a block, parts of them do not.

    >>> sums = DenseOperation("y", "reduce", TensorShape("f32", (8,)), ("x", "zero"),
    ...                       {"dimensions": (1,)})
    >>> shapes = [TensorShape("f32", (8, 4)), TensorShape("f32", ())]
    >>> made, _ = propagate(sums, shapes, BlockSchedule(0, 4))
    >>> made.match.value, str(made.schedule)
    ('exact', 'row 0/4')

    The same rows lie in columns of what is transposed.

    >>> turn = DenseOperation("y", "transpose", TensorShape("f32", (8, 4)), ("x",),
    ...                       {"dimensions": (1, 0)})
    >>> str(propagate(turn, [TensorShape("f32", (4, 8))], BlockSchedule(0, 4))[0].schedule)
    'column 1/4'
    >>> made = propagate(turn, [TensorShape("f32", (4, 8))], BlockSchedule(1, 2))[0]
    >>> made.rule, made.dims
    ('blocks of the operand are in another order', (0, 1))
    """
    dims = operation.array.dims
    blocks = schedule.blocks(dims)
    found = operation_class(operation)
    if has_no_elements(operation):
        return tuple(refused("the operation makes no elements", dims) for _ in shapes)
    if operation.opcode in ELEMENTWISE:
        return tuple(_elementwise(dims, shape, schedule) for shape in shapes)
    if operation.opcode == "concatenate":
        return of_concatenate(operation, shapes, schedule)
    rule = _RULES.get(operation.opcode)
    if rule is None and found is not OperationClass.INDEXED:
        return tuple(
            refused(f"nothing is known of what {operation.opcode} reads", dims) for _ in shapes
        )
    made = []
    for number, shape in enumerate(shapes):
        if isinstance(shape, TupleShape):
            made.append(refused("the operand is a tuple", dims))
        elif shape.rank == 0 and number > 0:  # a value to start from, or to fill with
            made.append(single_element(blocks))
        elif rule is None:
            made.append(_indexed(operation, shape, schedule, number))
        elif number > 0 and operation.opcode != "dot":
            made.append(refused("the operand is no array that is moved", dims))
        else:
            made.append(rule(operation, shape, schedule, number))
    if is_batched(operation):
        return _both_or_none(made)
    return tuple(made)


def table_passes(
    operation: DenseOperation, shapes: Sequence[ValueShape], schedule: BlockSchedule
) -> bool:
    """Tell if Table 1 passes a schedule to operands, by the conditions that are printed there.

    The dimensions of a transposition or a reduction that it compares with are those of the
    result, where the first reduced dimension is the place that it would have.

    Examples
    --------
    >>> dot = DenseOperation("y", "dot", TensorShape("f32", (8, 4, 4)), ("a", "b"),
    ...                      {"lhs_batch_dims": (0,), "rhs_batch_dims": (0,)})
    >>> shapes = [TensorShape("f32", (8, 4, 4))] * 2
    >>> [table_passes(dot, shapes, BlockSchedule(dim, 2)) for dim in range(3)]
    [True, False, False]
    """
    dim = schedule.split_dim
    row = schedule.sched_type is SplitType.ROW
    if operation.opcode == "dot":
        return row and dim < operation.array.rank - 2
    if operation.opcode == "transpose":
        order = operation.attributes["dimensions"]
        moved = [place for place, old in enumerate(order) if place != old]
        return not moved or (dim <= min(moved) if row else dim >= max(moved))
    if operation.opcode == "reduce":
        reduced = operation.attributes["dimensions"]
        return not reduced or (
            dim <= min(reduced) if row else dim + len(reduced) >= max(reduced)
        )  # fmt: skip
    return operation.opcode in {*ELEMENTWISE, "reshape", "bitcast", "broadcast"}


def _elementwise(dims: Dims, shape: ValueShape, schedule: BlockSchedule) -> OperandSchedule:
    if isinstance(shape, TupleShape):
        return refused("the operand is a tuple", dims)
    if shape.dims == dims:
        by_dim = dimension_digits(schedule, dims)
        made = schedule_with(dims, (digit for digits in by_dim for digit in digits))
        return OperandSchedule(PartMatch.EXACT, made)
    if shape.rank == 0:
        return single_element(schedule.blocks(dims))
    return refused("the operand has other dimensions", dims)


_NO_SCHEDULE = "its parts are those of no schedule of the operand"


def _transpose(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, _: int
) -> OperandSchedule:
    dims = operation.array.dims
    made = dimension_digits(schedule, dims)
    order = operation.attributes["dimensions"]
    by_dim: list[Digits] = [()] * shape.rank
    for place, old in enumerate(order):
        by_dim[old] = made[place]
    moved = tuple(place for place, old in enumerate(order) if place != old)
    return from_digits(shape, by_dim, schedule.blocks(dims), _NO_SCHEDULE, moved)


def _broadcast(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, _: int
) -> OperandSchedule:
    dims = operation.array.dims
    made = dimension_digits(schedule, dims)
    places = operation.attributes.get("dimensions", ())
    by_dim: list[Digits] = [
        made[place] if extent == dims[place] else ()
        for extent, place in zip(shape.dims, places, strict=True)
    ]
    return from_digits(shape, by_dim, schedule.blocks(dims), _NO_SCHEDULE, tuple(places))


def _reduce(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, _: int
) -> OperandSchedule:
    made = iter(dimension_digits(schedule, operation.array.dims))
    reduced = operation.attributes["dimensions"]
    if shape.elements == 0:
        return refused("the operand has no elements", reduced)
    by_dim: list[Digits] = [
        (IndexDigit(extent, 0),) if dim in reduced else next(made)
        for dim, extent in enumerate(shape.dims)
    ]
    blocks = schedule.blocks(operation.array.dims)
    rule = "dimensions that are reduced lie between those that are split"
    return from_digits(shape, by_dim, blocks, rule, tuple(reduced))


def _dot(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, number: int
) -> OperandSchedule:
    side = "lhs" if number == 0 else "rhs"
    batch = operation.attributes.get(f"{side}_batch_dims", ())
    contracted = operation.attributes.get(f"{side}_contracting_dims", ())
    dims = operation.array.dims
    made = dimension_digits(schedule, dims)
    free = [dim for dim in range(shape.rank) if dim not in batch and dim not in contracted]
    first = len(batch) if number == 0 else len(dims) - len(free)
    if shape.elements == 0:
        return refused("the operand has no elements", dims)
    by_dim: list[Digits] = [()] * shape.rank
    for dim in contracted:
        by_dim[dim] = (IndexDigit(shape.dims[dim], 0),)
    for place, dim in enumerate(batch):
        by_dim[dim] = made[place]
    for place, dim in enumerate(free, first):
        by_dim[dim] = made[place]
    rule = "a dimension that is no batch dimension is split"
    rest = tuple(range(len(batch), len(dims)))
    found = from_digits(shape, by_dim, schedule.blocks(dims), rule, rest)
    return refused(rule, rest) if found.match is PartMatch.REPEATED else found


def _both_or_none(found: Sequence[OperandSchedule]) -> tuple[OperandSchedule, ...]:
    """A batched dot reads its operands many times, and a schedule has to fit both of them."""
    refusal = next((one for one in found if not one.computed_in_block), None)
    if refusal is None:
        return tuple(found)
    return tuple(one if not one.computed_in_block else refusal for one in found)


def _reshape(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, _: int
) -> OperandSchedule:
    dims = operation.array.dims
    if "layout" in operation.attributes:
        if schedule.blocks(dims) == 1:
            return OperandSchedule(PartMatch.EXACT, BlockSchedule(0, 1))
        return refused("the elements do not lie row by row", dims)
    made = dimension_digits(schedule, dims)
    return from_digits(shape, made, schedule.blocks(dims), _NO_SCHEDULE, dims)


def _indexed(
    operation: DenseOperation, shape: TensorShape, schedule: BlockSchedule, number: int
) -> OperandSchedule:
    """Of what is read at positions known when it runs only: the dimensions that are whole."""
    dims = operation.array.dims
    blocks = schedule.blocks(dims)
    if blocks == 1:
        return OperandSchedule(PartMatch.COVER, BlockSchedule(0, 1))
    if operation.opcode == "dynamic-slice" and number == 0:
        made = dimension_digits(schedule, dims)
        cut = tuple(dim for dim, extent in enumerate(shape.dims) if extent != dims[dim])
        if all(digit.size == 1 or not digit.stride for dim in cut for digit in made[dim]):
            by_dim: list[Digits] = [
                (IndexDigit(extent, 0),) if dim in cut else made[dim]
                for dim, extent in enumerate(shape.dims)
            ]
            found = from_digits(shape, by_dim, blocks, _NO_SCHEDULE, cut)
            if found.match is PartMatch.EXACT and cut:
                return OperandSchedule(PartMatch.COVER, found.schedule)
            return found
        return refused("a dimension that is cut at run time is split", cut)
    return refused("elements are read at positions that are known at run time only", dims)


_RULES: Mapping[
    str, Callable[[DenseOperation, TensorShape, BlockSchedule, int], OperandSchedule]
] = {
    "bitcast": _reshape,
    "broadcast": _broadcast,
    "dot": _dot,
    "iota": _reshape,  # no operands
    "pad": of_pad,
    "reduce": _reduce,
    "reshape": _reshape,
    "reverse": of_reverse,
    "slice": of_slice,
    "transpose": _transpose,
}
