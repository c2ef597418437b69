"""Fusing a program: dead code, statements once and in order."""

from __future__ import annotations

import pytest

from engine.dataflow.fusion.regions import partition
from engine.dataflow.fusion.schedule import Schedule
from engine.errors import ScheduleError
from engine.program import parse
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
