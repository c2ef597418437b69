"""Loops that commands exchange, split and run in parallel, in the order of the commands."""

from __future__ import annotations

import pytest

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.commands import Parallelize, Reorder, ReuseOverlap, SplitLoop
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.loop_commands import reused_loops
from fuseloom.calls.schedule import schedule
from fuseloom.errors import ScheduleError

from .programs import COLUMN_SUMS, EXP

A, B, C = (DataHandle(name, Matrix()) for name in "ABC")
CHAIN = compose([EXP(A, B), COLUMN_SUMS(B, C)])


def loops(commands) -> list[str]:
    text = str(schedule(CHAIN, commands))
    return [line.strip(" {") for line in text.split("\n") if "for " in line]


@pytest.mark.parametrize(
    "commands",
    [
        [Parallelize(0), ReuseOverlap("B", 1)],
        [Parallelize(1), Reorder(0, 1), ReuseOverlap("B", 1)],
        [Reorder(0, 1), Parallelize(1), Reorder(1, 0), ReuseOverlap("B", 1)],
    ],
)
def test_levels_count_as_the_commands_before_left_them(commands) -> None:
    """Whether tiles share parts or not, the same loops run in parallel."""
    plain = [command for command in commands if not isinstance(command, ReuseOverlap)]
    assert loops(commands) == loops(plain)


def test_a_command_before_an_exchange_goes_with_its_loop() -> None:
    made = reused_loops([ReuseOverlap("B", 1), Parallelize(1), Reorder(0, 1)], ["B"], 2)
    assert made is not None
    assert (made.reused, made.order, made.parallel) == ({"B": 0}, (1, 0), frozenset({0}))
    assert reused_loops([Reorder(0, 1)], ["B"], 2) is None


@pytest.mark.parametrize("name", ["A", "tc", "tc_len", "C_rows", "B", "range"])
def test_loops_do_not_get_names_that_are_taken(name: str) -> None:
    for command in (
        SplitLoop(0, name, "ri", "big", "small"),
        SplitLoop(0, "ro", "ri", "big", name),
    ):
        with pytest.raises(ScheduleError, match="is taken, or no name"):
            schedule(CHAIN, [command])
    with pytest.raises(ScheduleError, match="is taken"):
        schedule(
            compose([EXP(DataHandle("x_len", Matrix()), C)]), [SplitLoop(0, "o", "i", "x", "y")]
        )


def test_levels_that_are_not_there() -> None:
    for command in (Parallelize(2), Reorder(0, 2), ReuseOverlap("B", 2)):
        with pytest.raises(ScheduleError, match="there is no loop at level 2") as refused:
            schedule(CHAIN, [command, ReuseOverlap("B", 1)])
        assert refused.value.hint == "levels are 0 to 1"
