"""Cutting a program into regions: who belongs where, what leaves, what is refused."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import ScheduleError
from fuseloom.program import parse
from tests.dataflow.fusion.fused import CHAIN, spans


def test_what_a_later_region_reads_leaves_a_region() -> None:
    assert spans("fuse B..C; fuse D..E") == [("B..C", ("B", "C")), ("D..E", ("E",))]
    assert spans("fuse C..D") == [("B", ("B",)), ("C..D", ("D",)), ("E", ("E",))]
    assert spans("fuse B..E") == [("B..E", ("E",))]


def test_outputs_of_the_program_leave_a_region() -> None:
    program = parse(str(CHAIN).replace("output E", "output C, E"))
    assert spans("fuse B..E", program) == [("B..E", ("C", "E"))]


def test_neighbouring_regions_stay_apart() -> None:
    assert [name for name, _ in spans("fuse B..C; fuse D..E")] == ["B..C", "D..E"]
    assert [name for name, _ in spans("fuse D..E; fuse B..C")] == ["B..C", "D..E"]


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
