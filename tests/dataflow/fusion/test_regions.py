"""Cutting a program into regions: who belongs where, what leaves, what is refused."""

import pytest

from engine.dataflow.fusion.fuse import fuse
from engine.dataflow.fusion.regions import partition
from engine.dataflow.fusion.schedule import Schedule
from engine.errors import OrderError, ScheduleError
from engine.program import parse

CHAIN = parse(
    """
    A: 4x4 dcsr
    B[i,j] = relu(A[i,j])
    C[i,j] = exp(B[i,j])
    D[i,j] = B[i,j] * C[i,j]
    E[i] = D[i,j]
    """
)


def spans(schedule: str, program: object = CHAIN) -> list[tuple[str, tuple[str, ...]]]:
    """Name and outputs of every region."""
    return [(s.name, s.outputs) for s in partition(program, Schedule.parse(schedule))]  # type: ignore[arg-type]


def test_without_a_schedule_every_statement_stands_alone() -> None:
    assert spans("") == [("B", ("B",)), ("C", ("C",)), ("D", ("D",)), ("E", ("E",))]


def test_what_a_later_region_reads_leaves_a_region() -> None:
    assert spans("fuse B..C; fuse D..E") == [("B..C", ("B", "C")), ("D..E", ("E",))]
    assert spans("fuse C..D") == [("B", ("B",)), ("C..D", ("D",)), ("E", ("E",))]
    assert spans("fuse B..E") == [("B..E", ("E",))]


def test_outputs_of_the_program_leave_a_region() -> None:
    program = parse(str(CHAIN).replace("output E", "output C, E"))
    assert spans("fuse B..E", program) == [("B..E", ("C", "E"))]


def test_statements_cover_the_program_once_and_in_order() -> None:
    for schedule in ("", "fuse C..D", "fuse B..C; fuse D..E", "fuse D..E; fuse B"):
        regions = partition(CHAIN, Schedule.parse(schedule))
        assert tuple(s for r in regions for s in r.statements) == CHAIN.statements


def test_neighbouring_regions_stay_apart() -> None:
    assert [name for name, _ in spans("fuse B..C; fuse D..E")] == ["B..C", "D..E"]
    assert [name for name, _ in spans("fuse D..E; fuse B..C")] == ["B..C", "D..E"]


def test_dead_code_is_left_out() -> None:
    program = parse(str(CHAIN).replace("output E", "output C"))
    assert [s.out.tensor for s in program.live] == ["B", "C"]
    assert spans("fuse B..C", program) == [("B..C", ("C",))]


@pytest.mark.parametrize(
    ("schedule", "message", "hint"),
    [
        ("fuse B..D; fuse D..E", "'fuse D..E' and 'fuse B..D' both claim D", "one region"),
        ("fuse B..D; fuse C", "'fuse C' and 'fuse B..D' both claim C", "one region"),
        ("fuse D..B", "'fuse D..B' runs backwards: B is assigned before D", "write fuse B..D"),
        ("fuse B..X", "names 'X', but no statement assigns it", "assign: B, C, D, E"),
        ("fuse A..B", "names 'A', but no statement assigns it", "assign: B, C, D, E"),
        ("order X: i,j", "'order X: i,j' names no statement", "assign: B, C, D, E"),
        ("order B: i,k", "'order B: i,k': B has no index k", "its indices are i, j"),
        ("order B..C: i,j", "'order B..C: i,j' names no region", "regions: B..B, C..C"),
        ("fuse B..E; order B..D: i,j", "'order B..D: i,j' names no region", "regions: B..E"),
    ],
)
def test_schedules_that_do_not_fit(schedule: str, message: str, hint: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        fuse(CHAIN, Schedule.parse(schedule))
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_dead_statement_cannot_be_fused() -> None:
    program = parse(str(CHAIN).replace("output E", "output C"))
    with pytest.raises(ScheduleError, match="'D' is not fused: no output of the program needs it"):
        partition(program, Schedule.parse("fuse C..D"))


def test_a_region_order_is_checked_and_kept() -> None:
    (region,) = fuse(CHAIN, Schedule.parse("fuse B..E; order B..E: i,j"))
    assert region.chosen == region.default_order() == ("i", "j")
    with pytest.raises(OrderError, match="i must stay outside j, because A is stored"):
        fuse(CHAIN, Schedule.parse("fuse B..E; order B..E: j,i"))


def test_a_region_prints_its_views_and_constraints() -> None:
    (region,) = fuse(CHAIN, Schedule.parse("fuse B..E"))
    assert region.inputs == ("A",)
    assert str(region) == (
        "region B..E -> E\n"
        "  B[i,j] = relu(A[i,j])\n"
        "  C[i,j] = exp(B[i,j])\n"
        "  D[i,j] = B[i,j] * C[i,j]\n"
        "  E[i] = D[i,j]  over j\n"
        "  i→j (A is stored (i, j))"
    )
