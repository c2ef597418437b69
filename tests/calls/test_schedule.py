"""Commands on loops and calls: what they make, and what each refuses."""

from __future__ import annotations

import pytest

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.commands import (
    BreakBefore,
    Parallelize,
    Reorder,
    ReuseOverlap,
    SplitLoop,
    Subpipeline,
    SubstituteValue,
)
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.schedule import schedule
from fuseloom.errors import ScheduleError

from .programs import EXP, ROW_SUMS

A, B, C = (DataHandle(name, Matrix()) for name in "ABC")
CHAIN = compose([ROW_SUMS(A, B), EXP(B, C)])


def loops(*commands) -> list[str]:
    text = str(schedule(CHAIN, commands))
    return [line.strip(" {") for line in text.split("\n") if "for " in line]


def test_loops_are_exchanged_and_run_at_once() -> None:
    assert loops() == ["for r in [0, C.rows, tr]", "for c in [0, C.cols, tc]"]
    assert loops(Reorder(0, 1), Parallelize(0)) == [
        "parallel for c in [0, C.cols, tc]", "for r in [0, C.rows, tr]"
    ]  # fmt: skip
    assert loops(Parallelize(0), Reorder(0, 1))[1].startswith("parallel for r")


def test_a_split_loop_has_tiles_within_tiles() -> None:
    split = SplitLoop(0, "ro", "ri", "big", "small")
    assert loops(split)[:2] == ["for ro in [0, C.rows, big]", "for ri in [ro, big_len + ro, small]"]
    made = schedule(CHAIN, [split, SubstituteValue("small", 4)])
    assert made.parameters == ("big", "tc")
    assert "small_len = min(4, big_len + ro - ri)" in str(made)


def test_room_is_within_a_parallel_loop() -> None:
    text = str(schedule(CHAIN, [Parallelize(0)]))
    assert text.index("parallel for r") < text.index("allocate B_room") < text.index("for c")
    text = str(schedule(CHAIN, [Parallelize(1)]))
    assert text.index("for c") < text.index("allocate B_room")
    assert str(schedule(CHAIN)).startswith("allocate B_room")


def test_a_break_keeps_an_intermediate_whole() -> None:
    made = schedule(CHAIN, [BreakBefore(1)])
    assert [str(room) for room in made.rooms] == [
        "allocate B {row: 0, col: 0, rows: C.rows, cols: C.cols}"
    ]
    assert made.parameters == ("B_tr", "B_tc", "tr", "tc")
    assert len(made.stages) == 2


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        ([Parallelize(2)], "there is no loop at level 2"),
        ([Reorder(0, -1)], "there is no loop at level -1"),
        ([BreakBefore(0)], "no place before call 0"),
        ([BreakBefore(2)], "no place before call 2"),
        ([SubstituteValue("q", 3)], "no stage has a variable q"),
        ([SubstituteValue("tr", 0)], "tr is 0; sizes are 1 or more"),
        ([SubstituteValue("tr", 3), SubstituteValue("tr", 4)], "no stage has a variable tr"),
        ([Subpipeline(1, 1)], "there are no calls 1 to before 1"),
        ([Subpipeline(0, 3)], "there are no calls 0 to before 3"),
        ([Subpipeline(0, 2), BreakBefore(1)], "on one side of every break"),
        ([Subpipeline(0, 1), Subpipeline(0, 2)], "two subpipelines share a call"),
        ([Subpipeline(0, 2), ReuseOverlap("B", 1)], "is reused, and computed in a subpipeline"),
        ([ReuseOverlap("A", 0)], "A is no intermediate"),
        ([ReuseOverlap("C", 0)], "C is no intermediate"),
        ([ReuseOverlap("B", 2)], "there is no loop at level 2"),
        ([ReuseOverlap("B", 0)], "depends on c, whose loop lies within"),
        ([ReuseOverlap("B", 1), Parallelize(1)], "within the loop whose tiles would share it"),
        ([ReuseOverlap("B", 1), SplitLoop(0, "o", "i", "p", "q")], "not split where tiles share"),
        ([SplitLoop(0, "ro", "c", "big", "small")], "'c' is taken"),
        ([SplitLoop(0, "ro", "ri", "2big", "small")], "no name"),
        ([SplitLoop(0, "ro", "ri", "big", "small"), Reorder(0, 1)], "stays within that loop"),
    ],
)
def test_commands_that_are_not_possible_name_the_condition(commands, says: str) -> None:
    with pytest.raises(ScheduleError, match=says):
        schedule(CHAIN, commands)
