"""Fusing a program: dead code, statements once and in order."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.fusion.fuse import fuse, fuse_statements, fused_where_possible, less_shared
from fuseloom.dataflow.fusion.regions import partition
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import ScheduleError
from fuseloom.program import parse
from tests.dataflow.fusion.fused import CHAIN, spans


def test_without_a_schedule_every_statement_stands_alone() -> None:
    assert spans("") == [("B", ("B",)), ("C", ("C",)), ("D", ("D",)), ("E", ("E",))]


def test_statements_cover_the_program_once_and_in_order() -> None:
    for schedule in ("", "fuse C..D", "fuse B..C; fuse D..E", "fuse D..E; fuse B"):
        regions = partition(CHAIN, Schedule.parse(schedule))
        assert tuple(s for r in regions for s in r.statements) == CHAIN.statements


def test_dead_code_is_left_out() -> None:
    program = parse(str(CHAIN).replace("output E", "output C"))
    assert [s.out.tensor for s in program.live] == ["B", "C"]
    assert spans("fuse B..C", program) == [("B..C", ("C",))]


def test_a_dead_statement_cannot_be_fused() -> None:
    program = parse(str(CHAIN).replace("output E", "output C"))
    with pytest.raises(ScheduleError, match="'D' is not fused: no output of the program needs it"):
        partition(program, Schedule.parse("fuse C..D"))


TURNED = """
    A: 4x4 dcsr
    Y: 4x4 dcsc
    T[i,j] = relu(A[i,j])
    U[i,j] = exp(T[i,j])
    V[i,j] = sigmoid(U[i,j])
    Y[i,j] = V[i,j] * A[i,j]
    output U, Y
    """


def test_outputs_of_different_orders_get_copies_of_their_own() -> None:
    """U is written row by row, Y column by column: no tensor has to be cut out for that."""
    (region,) = fuse(parse(TURNED), Schedule.parse("fuse T..Y"))
    assert not region.pog.cyclic
    assert region.outputs == ("U", "Y")
    u, y = region.roots
    assert not set(u.indices) & set(y.indices)


def test_less_shared_gives_the_region_with_less_in_common() -> None:
    program = parse(TURNED.replace("dcsc", "dcsr"))
    schedule = Schedule.parse("fuse T..Y")
    (region,) = fuse(program, schedule)
    assert region.roots[0].indices == region.roots[1].indices
    apart = list(less_shared(region, schedule))
    # What comes out the same is not given again.
    assert [set(r.roots[0].indices) & set(r.roots[1].indices) for r in apart] == [set()]
    assert {r.name for r in apart} == {"T..Y"}


def test_statements_fused_on_their_own() -> None:
    program = parse(TURNED)
    (region,) = fuse_statements(program, Schedule(), program.statements[:2])
    assert (region.name, region.outputs) == ("T..U", ("U",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("fuse T..Y where possible", True), ("fuse T..Y", False), ("fuse U..V where possible", False)],
)
def test_what_is_fused_where_possible(text: str, expected: bool) -> None:
    program = parse(TURNED)
    assert fused_where_possible(program, Schedule.parse(text), program.statements) is expected


def test_constraints_that_nothing_breaks_end_a_region_where_possible() -> None:
    """A reader of a coordinate list by columns cannot be fused with its writer by rows."""
    program = parse(
        "A: 4x4 dcsr\nY: 4x4 dcsc\noption broadcast_add sparse\nb: 4 dense\n"
        "T[i,j] = relu(A[i,j])\nU[i,j] = T[i,j] + b[j]\nY[i,j] = exp(U[i,j])"
    )
    regions = fuse(program, Schedule.parse("fuse T..Y where possible"))
    assert [r.name for r in regions] == ["T..U", "Y"]
