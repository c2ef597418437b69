"""The question about a module: values that are none, schedules by hand, addresses."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.schedules import BlockSchedule, SplitType
from fuseloom_workbench.kernels.asked import (
    LONGEST,
    MOST_CHOSEN,
    KernelsQuestion,
    read_schedule,
)
from fuseloom_workbench.kernels.backend import address, from_address
from fuseloom_workbench.kernels.page import asked_of


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"example": "attenton"}, "is no example"),
        ({"example": 7}, "no value of example"),
        ({"text": "x" * (LONGEST + 1)}, "1,000,001 characters, and a page takes 1,000,000"),
        ({"text": 7}, "no value of text"),
        ({"products": "some"}, "no value of products"),
        ({"products": []}, "no value of products"),
        ({"sharing": "all"}, "no value of sharing"),
        ({"call_layers": 1}, "no value of call_layers"),
        ({"shared_memory": 255}, "from 256 to 65,536 bytes, not 255"),
        ({"shared_memory": 65_537}, "from 256 to 65,536 bytes"),
        ({"shared_memory": True}, "from 256 to 65,536 bytes"),
        ({"shared_memory": 1e3}, "from 256 to 65,536 bytes"),
        ({"shared_memory": "much"}, "not much"),
        ({"schedules": [["main", "y"]]}, "no value of schedules"),
        ({"schedules": [["main", "y", 3]]}, "no value of schedules"),
        ({"schedules": [["main", "y", "row 1"]]}, "'row 1' is no schedule"),
        ({"schedules": [["m" * 401, "y", "row 0/1"]]}, "no value of schedules"),
        ({"schedules": [["main", "y", "row 0/1"]] * (MOST_CHOSEN + 1)}, "more than 64 kernels"),
        ({"colour": "red"}, "no value of colour"),
    ],
)
def test_what_is_no_value_is_refused(changes, says):
    with pytest.raises(ProgramError, match=says):
        KernelsQuestion().changed(changes)


def test_a_name_that_is_nearly_one_is_proposed():
    with pytest.raises(ProgramError) as told:
        KernelsQuestion().changed({"example": "atention"})
    assert told.value.hint == "did you mean 'attention'?"


@pytest.mark.parametrize("text", ["row 0/1", "column 12/64"])
def test_a_schedule_is_read_as_it_prints(text):
    assert str(read_schedule(text)) == text


@pytest.mark.parametrize(
    "text", ["", "row", "row 1", "row /2", "row -1/2", "rows 0/1", "row 0/1 2", f"row 0/{'9' * 13}"]
)
def test_what_is_no_schedule_is_refused(text):
    with pytest.raises(ProgramError, match="is no schedule") as told:
        read_schedule(text)
    assert "row 0/4" in told.value.hint


def test_another_module_begins_without_schedules_by_hand():
    asked = KernelsQuestion().chosen("main", "y", "row 0/4").chosen("main", "z", "column 1/2")
    assert asked.schedules == (("main", "y", "row 0/4"), ("main", "z", "column 1/2"))
    assert asked.chosen("main", "y", "row 0/8").schedules[-1] == ("main", "y", "row 0/8")
    assert asked.chosen("main", "y", None).schedules == (("main", "z", "column 1/2"),)
    assert asked.changed({"shared_memory": 4096}).schedules == asked.schedules
    assert asked.changed({"text": "HloModule m"}).schedules == ()
    own = asked.changed({"text": "HloModule m"})
    assert own.to_dict()["own"]
    assert "text" not in own.to_dict()
    assert own.changed({"example": "attention"}).text == ""
    assert read_schedule("column 1/2") == BlockSchedule(1, 2, SplitType.COLUMN)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"example": "rnn", "products": "all", "call_layers": True},
        {"shared_memory": 1024, "sharing": "none"},
        {"schedules": [["main.3", "dot_general.1", "row 1/32"], ["b", "c", "column 0/1"]]},
    ],
)
def test_an_address_asks_the_same_again(changes):
    asked = KernelsQuestion().changed(changes)
    assert from_address(dict(parse_qsl(address(asked)))) == asked


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"shared_memory": [b"many"]}, "shared memory is an integer"),
        ({"schedules": [b"main|y"]}, "no value of schedules"),
        ({"call_layers": [b"maybe"]}, "no value of call_layers"),
        ({"text": [b"HloModule"]}, "does not fit into an address"),
        ({"products": [b"\xff"]}, "no value of products"),
    ],
)
def test_an_address_that_is_none_says_why(given, says):
    asked, wrong = asked_of(given)
    assert asked == KernelsQuestion()
    assert says in wrong


def test_an_address_leaves_text_of_ones_own_out():
    asked = KernelsQuestion().changed({"text": "HloModule m", "sharing": "none"})
    assert address(asked.chosen("main", "y", "row 0/1")) == "sharing=none"
