"""Table 1 equals brute force: elementwise, transpose, reduce, reshape and dot."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations, product
from math import prod

import pytest

from fuseloom.errors import ProgramError, ScheduleError
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.opcodes import OPCODES, POINTWISE, OperationClass
from fuseloom.stitch.operand_schedules import PartMatch
from fuseloom.stitch.propagation import propagate, table_passes
from fuseloom.stitch.schedules import BlockSchedule, SplitType, schedules_of
from fuseloom.stitch.shapes import TensorShape, TupleShape

from .brute_force import require_agreement, shaped

Case = tuple[DenseOperation, list[TensorShape]]
MOST_RANK, MOST_EXTENT = 4, 6


def every_dims(rank: int, extent: int) -> list[tuple[int, ...]]:
    return [
        dims for own in range(rank + 1) for dims in product(range(1, extent + 1), repeat=own)
    ]  # fmt: skip


def made(
    opcode: str, dims: tuple[int, ...], count: int = 1, **attributes: object
) -> DenseOperation:
    names = tuple(f"x{number}" for number in range(count))
    return DenseOperation("y", opcode, shaped(*dims), names, attributes)


def elementwise(dims: tuple[int, ...]) -> Iterator[Case]:
    yield made("add", dims, 2), [shaped(*dims)] * 2
    yield made("select", dims, 3), [shaped(), shaped(*dims), shaped(*dims)]


def transposes(dims: tuple[int, ...]) -> Iterator[Case]:
    for order in permutations(range(len(dims))):
        result = tuple(dims[old] for old in order)
        yield made("transpose", result, dimensions=order), [shaped(*dims)]


def reductions(dims: tuple[int, ...]) -> Iterator[Case]:
    for count in range(len(dims) + 1):
        for reduced in combinations(range(len(dims)), count):
            result = tuple(extent for dim, extent in enumerate(dims) if dim not in reduced)
            yield made("reduce", result, 2, dimensions=reduced), [shaped(*dims), shaped()]


@lru_cache(maxsize=1)
def by_elements() -> dict[int, list[tuple[int, ...]]]:
    found: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for dims in every_dims(MOST_RANK, MOST_EXTENT):
        found[prod(dims)].append(dims)
    return found


def reshapes(dims: tuple[int, ...]) -> Iterator[Case]:
    for other in by_elements()[prod(dims)]:
        yield made("reshape", dims), [shaped(*other)]


def dots(dims: tuple[int, ...]) -> Iterator[Case]:
    """Products of a result, with every number of batch dimensions, and the sum anywhere."""
    for batch in range(len(dims) + 1):
        for left in range(len(dims) - batch + 1):
            for summed, last in ((1, False), (2, True)):
                first = (*dims[:batch], *dims[batch : batch + left])
                second = (*dims[:batch], *dims[batch + left :])
                lhs, rhs = ((*first, summed), (*dims[:batch], summed, *second[batch:]))
                at = [len(first), batch]
                if last:
                    lhs, rhs = (*dims[:batch], summed, *first[batch:]), (*second, summed)
                    at = [batch, len(second)]
                operation = made(
                    "dot", dims, 2,
                    lhs_batch_dims=tuple(range(batch)), rhs_batch_dims=tuple(range(batch)),
                    lhs_contracting_dims=(at[0],), rhs_contracting_dims=(at[1],),
                )  # fmt: skip
                yield operation, [shaped(*lhs), shaped(*rhs)]


CLASSES = {
    "elementwise": elementwise,
    "transpose": transposes,
    "reduce": reductions,
    "reshape": reshapes,
    "dot": dots,
}


@pytest.mark.parametrize("kind", CLASSES)
def test_the_rules_equal_brute_force_on_all_small_arrays(kind: str) -> None:
    rank, extent = {"reshape": (2, 4), "dot": (3, 2)}.get(kind, (3, 3))
    compared = 0
    for dims in every_dims(rank, extent):
        for operation, shapes in CLASSES[kind](dims):
            compared += require_agreement(operation, shapes)
    assert compared > 400


@pytest.mark.parametrize("kind", CLASSES)
def test_the_rules_equal_brute_force_on_sampled_arrays(kind: str) -> None:
    draw = random.Random(5)
    for _ in range(12):
        dims = tuple(draw.choice((1, 2, 3, 4, 6)) for _ in range(4))
        dims = dims[: draw.randint(1, 4)] if prod(dims) > 300 else dims
        cases = list(CLASSES[kind](dims))
        for operation, shapes in draw.sample(cases, min(len(cases), 2)):
            require_agreement(operation, shapes)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("rank", "extents"),
    [
        *((rank, range(1, MOST_EXTENT + 1)) for rank in range(3)),
        (3, (1, 4, 6)),
        *(
            pytest.param(rank, range(1, MOST_EXTENT + 1), marks=pytest.mark.fuzz)  # minutes
            for rank in (3, MOST_RANK)
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", CLASSES)
def test_the_rules_equal_brute_force_on_all_arrays(
    kind: str, rank: int, extents: Sequence[int]
) -> None:
    for dims in product(extents, repeat=rank):
        for operation, shapes in CLASSES[kind](dims):
            require_agreement(operation, shapes)


def test_every_opcode_that_is_fused_has_a_rule() -> None:
    pair = TupleShape(())
    fused = {*POINTWISE, OperationClass.INDEXED, OperationClass.REDUCE, OperationClass.PRODUCT}
    for opcode, found in OPCODES.items():
        operation = made(opcode, (4,), dimensions=(0,))
        rule = propagate(operation, [pair], BlockSchedule(0, 1))[0].rule
        assert rule.startswith("nothing is known") is (found not in fused), opcode


def test_printed_conditions_are_sound_but_where_the_split_is_the_first_moved_dimension() -> None:
    """The printed table passes more than is true at that dimension, and less elsewhere."""
    wrong: list[tuple[str, BlockSchedule]] = []
    missed: list[tuple[str, BlockSchedule]] = []
    for dims in every_dims(3, 4):
        for operation, shapes in (*transposes(dims), *reductions(dims)):
            for schedule in schedules_of(operation.array.dims):
                printed = table_passes(operation, shapes, schedule)
                verdict = propagate(operation, shapes, schedule)[0]
                kept = verdict.schedule is not None and verdict.computed_in_block
                if printed and not kept:
                    wrong.append((operation.opcode, schedule))
                if kept and not printed:
                    missed.append((operation.opcode, schedule))
    assert {opcode for opcode, _ in wrong} == {"reduce", "transpose"}
    assert all(schedule.sword > 1 or schedule.sched_type is SplitType.COLUMN
               for _, schedule in wrong)  # fmt: skip
    assert missed


def test_one_row_is_worked_by_hand() -> None:
    """The softmax of Fig. 3: a broadcast of sums of rows, by halves of the batch."""
    spread = made("broadcast", (8, 4, 4), dimensions=(0, 1))
    (verdict,) = propagate(spread, [shaped(8, 4)], BlockSchedule(0, 2))
    assert (verdict.match, verdict.schedule) == (PartMatch.EXACT, BlockSchedule(0, 2))
    (verdict,) = propagate(spread, [shaped(8, 4)], BlockSchedule(2, 2))
    assert (verdict.match, verdict.schedule) == (PartMatch.REPEATED, BlockSchedule(1, 4))
    assert [verdict.read_block(number) for number in range(6)] == [0, 0, 1, 1, 2, 2]


def test_columns_become_rows_of_a_transposition() -> None:
    turn = made("transpose", (3, 8), dimensions=(1, 0))
    (verdict,) = propagate(turn, [shaped(8, 3)], BlockSchedule(1, 4, SplitType.COLUMN))
    assert verdict.schedule == BlockSchedule(0, 4)


def test_indexed_operations_cut_no_dimension_that_is_split() -> None:
    cut = made("dynamic-slice", (8, 2), 3, dynamic_slice_sizes=(8, 2))
    shapes = [shaped(8, 4), TensorShape("s32", ()), TensorShape("s32", ())]
    verdict = propagate(cut, shapes, BlockSchedule(0, 4))
    assert (verdict[0].match, verdict[0].schedule) == (PartMatch.COVER, BlockSchedule(0, 4))
    assert verdict[1].match is PartMatch.REPEATED
    refused = propagate(cut, shapes, BlockSchedule(1, 2))[0]
    assert refused.dims == (1,)
    assert "run time" in refused.rule
    taken = made("gather", (8, 2), 2)
    assert "run time" in propagate(taken, [shaped(9, 2), shaped(8, 1)], BlockSchedule(0, 4))[1].rule
    whole = propagate(taken, [shaped(9, 2), shaped(8, 1)], BlockSchedule(0, 1))
    assert [one.match for one in whole] == [PartMatch.COVER, PartMatch.COVER]


def test_bitcasts_of_other_layouts_and_what_makes_no_elements_are_refused() -> None:
    turned = made("bitcast", (4, 2), layout=(0, 1), operand_layout=(1, 0))
    assert "row by row" in propagate(turned, [shaped(2, 4)], BlockSchedule(0, 2))[0].rule
    assert propagate(turned, [shaped(2, 4)], BlockSchedule(0, 1))[0].schedule
    nothing = made("add", (0, 4), 2)
    assert "no elements" in propagate(nothing, [shaped(0, 4)] * 2, BlockSchedule(0, 1))[0].rule
    empty = made("reduce", (4,), 2, dimensions=(1,))
    assert "no elements" in propagate(empty, [shaped(4, 0), shaped()], BlockSchedule(0, 1))[0].rule


def test_tuples_are_refused() -> None:
    pair = TupleShape((shaped(4), shaped(4)))
    assert "tuple" in propagate(made("negate", (4,)), [pair], BlockSchedule(0, 1))[0].rule
    assert "tuple" in propagate(made("reshape", (4,)), [pair], BlockSchedule(0, 1))[0].rule
    joined = made("concatenate", (4,), dimensions=(0,))
    assert "tuple" in propagate(joined, [pair], BlockSchedule(0, 1))[0].rule
    with pytest.raises(ProgramError, match="tuple"):
        propagate(DenseOperation("y", "reduce", pair), [], BlockSchedule(0, 1))


def test_a_schedule_of_another_array_is_refused() -> None:
    with pytest.raises(ScheduleError, match="3 parts do not divide dimension 0"):
        propagate(made("negate", (4,)), [shaped(4)], BlockSchedule(0, 3))
