"""The question about a composition: values that are none, commands, addresses."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from fuseloom.calls.commands import Parallelize, SplitLoop, SubstituteValue
from fuseloom.calls.pipelines import PIPELINES, read_extents
from fuseloom.errors import ProgramError
from fuseloom_workbench.calls.asked import (
    COMMANDS,
    LONGEST,
    MOST_COMMANDS,
    CallsQuestion,
    read_command,
)
from fuseloom_workbench.calls.backend import address, from_address
from fuseloom_workbench.calls.page import asked_of


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"pipeline": "softmx"}, "is no pipeline"),
        ({"extents": "h"}, "is no extent"),
        ({"extents": 7}, "no value of extents"),
        ({"tile": 0}, "tile is an integer from 1"),
        ({"tile": True}, "tile is an integer"),
        ({"tile": 2.5}, "tile is an integer"),
        ({"threads": 17}, "threads is an integer from 1 to 16"),
        ({"seed": -1}, "seed is an integer from 0"),
        ({"commands": "break 1"}, "no value of commands"),
        ({"commands": ["fly"]}, "'fly' is no command"),
        ({"commands": [""]}, "no value of commands"),
        ({"commands": ["break 1"] * (MOST_COMMANDS + 1)}, "no value of commands"),
        ({"annotations": [[0]]}, "no value of annotations"),
        ({"annotations": [[64, "x"]]}, "no value of annotations"),
        ({"annotations": [[0, "x" * (LONGEST + 1)]]}, "no value of annotations"),
        ({"colour": "red"}, "no value of colour"),
    ],
)
def test_what_is_no_value_is_refused(changes, says):
    with pytest.raises(ProgramError, match=says):
        CallsQuestion().changed(changes)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_composition_begins_with_extents_that_fit_it(name):
    asked = CallsQuestion(pipeline="none", commands=("break 1",)).changed({"pipeline": name})
    assert set(read_extents(asked.extents)) == set(PIPELINES[name].extents)
    assert asked.commands == ()
    assert PIPELINES[name].make(read_extents(asked.extents)).result.size


def test_commands_are_read():
    assert read_command("parallelize  1") == Parallelize(1)
    assert read_command("split 0 a b c d") == SplitLoop(0, "a", "b", "c", "d")
    assert read_command("substitute n 4") == SubstituteValue("n", 4)
    for text in ("parallelize", "parallelize x", "reorder 1", "substitute 4 n", "break 1 2"):
        with pytest.raises(ProgramError, match="is no command") as told:
            read_command(text)
        assert told.value.hint.startswith(f"write {text.split()[0]} ")
    assert set(COMMANDS) == {
        "parallelize", "reorder", "split", "substitute", "reuse", "break", "subpipeline"
    }  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"pipeline": "blur", "tile": 7, "threads": 2},
        {"commands": ["break 2", "substitute n 4"], "extents": "h=64,w=32", "seed": 3},
    ],
)
def test_an_address_asks_the_same_again(changes):
    asked = CallsQuestion().changed(changes)
    assert from_address(dict(parse_qsl(address(asked)))) == asked


def test_an_address_that_is_none_says_why():
    asked, wrong = asked_of({"tile": [b"many"]})
    assert asked == CallsQuestion()
    assert "tile is an integer" in wrong
