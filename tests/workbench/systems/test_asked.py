"""The question about a program: values that are none, addresses."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from fuseloom.comparison.examples import EXAMPLES
from fuseloom.errors import ProgramError
from fuseloom.models import MODELS
from fuseloom_workbench.systems.asked import (
    EXAMPLE_TEXTS,
    LONGEST,
    LONGEST_IN_ADDRESS,
    SystemsQuestion,
    address,
    from_address,
)
from fuseloom_workbench.systems.page import asked_of

OWN = "A: 4x3 dense\nx: 3 dense\ny[i] = A[i,j] * x[j]"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": "gcn_layr"}, "is no example and no model"),
        ({"name": 3}, "no value of name"),
        ({"text": "x" * (LONGEST + 1)}, "20,001 characters, and a page takes 20,000"),
        ({"text": None}, "no value of text"),
        ({"seed": -1}, "a seed is an integer from 0"),
        ({"seed": True}, "a seed is an integer from 0"),
        ({"seed": "many"}, "not 'many'"),
        ({"seed": 2**31}, "a seed is an integer"),
        ({"data": "x" * 101}, "no value of data"),
        ({"sizes": [["hidden"]]}, "no value of sizes"),
        ({"sizes": 3}, "no value of sizes"),
        ({"schedule": "x" * (LONGEST + 1)}, "no value of schedule"),
        ({"colour": "red"}, "no value of colour"),
    ],
)
def test_what_is_no_value_is_refused(changes, says):
    with pytest.raises(ProgramError, match=says):
        SystemsQuestion().changed(changes)


def test_a_near_name_is_suggested():
    with pytest.raises(ProgramError) as told:
        SystemsQuestion().changed({"name": "gcn_layr"})
    assert told.value.hint == "did you mean 'gcn_layer'?"


def test_a_name_takes_the_place_of_a_text_and_the_other_way_round():
    own = SystemsQuestion("gcn").changed({"text": OWN})
    assert not own.is_model
    assert own.changed({"seed": 2}).text == OWN
    assert own.changed({"name": "gcn"}).is_model
    assert own.to_dict() == {"name": "gcn", "seed": 0, "own": True}


@pytest.mark.parametrize(
    "asked",
    [
        SystemsQuestion(),
        SystemsQuestion("mttkrp", seed=5),
        SystemsQuestion("attention", seed=1),
        SystemsQuestion(text=OWN, seed=2),
        SystemsQuestion(text=OWN, schedule=""),
        SystemsQuestion("gcn", data="cora", sizes=(("hidden", "8"),), schedule="fuse T1..H"),
        SystemsQuestion("gcn", OWN, data="karate", schedule="order y: j,i"),
    ],
)
def test_an_address_asks_the_same_again(asked):
    assert from_address(dict(parse_qsl(address(asked), keep_blank_values=True))) == asked


def test_a_long_text_stays_out_of_the_address():
    assert address(SystemsQuestion(text="#" * LONGEST_IN_ADDRESS))
    assert not address(SystemsQuestion(text="#" * (LONGEST_IN_ADDRESS + 1)))
    assert not address(SystemsQuestion(schedule=";" * LONGEST_IN_ADDRESS * 2))


def test_another_program_leaves_what_came_along_behind():
    carried = SystemsQuestion("gcn", OWN, 3, "karate", (("hidden", "8"),), "fuse T1..H")
    assert carried.changed({"name": "mttkrp"}) == SystemsQuestion("mttkrp", seed=3)
    edited = carried.changed({"text": OWN + "\n"})
    assert (edited.data, edited.schedule) == ("karate", "fuse T1..H")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"example": [b"mtkrp"]}, "'mtkrp' is no example (hint: did you mean 'mttkrp'?)"),
        ({"example": [b"gcn"]}, "'gcn' is no example"),
        ({"model": [b"gcn_layer"]}, "'gcn_layer' is no model"),
        ({"seed": [b"many"]}, "a seed is an integer"),
        ({"seed": [b"9" * 40]}, "a seed is an integer"),
        ({"data": [b"karate"]}, "data and sizes are those of a model"),
        ({"model": [b"gcn"], "sizes": [b"hidden"]}, "\"[['hidden']]\" is no value of sizes"),
        ({"tile": [b"4"]}, "an address has no 'tile' here"),
    ],
)
def test_an_address_that_is_none_says_why(given, says):
    asked, wrong = asked_of(given)
    assert asked == SystemsQuestion()
    assert wrong.startswith(says)


def test_every_example_is_described_and_no_model_is_called_like_one():
    assert tuple(EXAMPLE_TEXTS) == EXAMPLES
    assert not {*EXAMPLES} & {*MODELS}
