"""Directives that change the program are carried out and leave the schedule."""

from __future__ import annotations

import pytest

from engine.dataflow.fusion.directives import Block, Global
from engine.dataflow.fusion.prepare import prepare
from engine.dataflow.fusion.schedule import Schedule
from engine.errors import ProgramError, ScheduleError
from engine.program import parse

CHAIN = "A: 4x4 csr\nB: 4x4 dense\nC: 4x4 dense\nT[i,l] = A[i,k] * B[k,l]\nY[i,j] = T[i,l] * C[l,j]"


def test_blocks_are_put_into_the_program() -> None:
    program = parse(CHAIN)
    blocked, rest = prepare(program, Schedule.parse("block 2; fuse T..Y"))
    assert blocked.tensor("A").format.blocked
    assert not program.tensor("A").format.blocked  # the one given is what it was
    assert not rest.of(Block)
    assert rest == Schedule.parse("fuse T..Y")


def test_a_global_region_becomes_one_product() -> None:
    merged, rest = prepare(parse(CHAIN), Schedule.parse("fuse T..Y; global T..Y"))
    assert not rest.of(Global)
    assert len(merged.statements) < len(parse(CHAIN).statements)


def test_without_such_directives_nothing_changes() -> None:
    program, schedule = parse(CHAIN), Schedule.parse("fuse T..Y; order T: i,k,l")
    assert prepare(program, schedule) == (program, schedule)


def test_directives_that_do_not_fit_are_refused() -> None:
    with pytest.raises((ScheduleError, ProgramError)):
        prepare(parse(CHAIN), Schedule.parse("block 3"))
