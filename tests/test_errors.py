"""Errors of users: one line with the place, the rule and the way out."""

from __future__ import annotations

import inspect
import pickle

import pytest

from fuseloom import errors
from fuseloom.errors import DeadlockError, FuseloomError, LoweringError, ParseError, SimulationError
from fuseloom.results.document import DocumentKind
from fuseloom.results.schemas import schema

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, FuseloomError)
]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "wrong"),
        ({"hint": "do this"}, "wrong (hint: do this)"),
        ({"line": 3}, "line 3, column 1: wrong"),
        ({"line": 3, "column": 7, "hint": "do this"}, "line 3, column 7: wrong (hint: do this)"),
        ({"source": "a.loom"}, "a.loom: wrong"),
        ({"source": "a.loom", "line": 2, "column": 5}, "a.loom: line 2, column 5: wrong"),
    ],
)
def test_the_text_names_place_rule_and_way_out(given: dict, text: str) -> None:
    error = ParseError("wrong", **given)
    assert str(error) == text
    assert error.message == "wrong"


def test_as_data_place_rule_and_way_out_are_apart() -> None:
    whole = ParseError("wrong", hint="do this", line=2, source="a.loom").to_dict()
    place = {"source": "a.loom", "line": 2, "column": 1}
    assert whole == {"error": "wrong", "place": place, "rule": "grammar", "hint": "do this"}
    assert ParseError("wrong").place is None
    assert ParseError("wrong", source="a").place == {"source": "a", "line": None, "column": None}


def test_every_kind_has_a_rule_of_its_own_that_the_schema_names() -> None:
    rules = [kind.rule for kind in KINDS]
    assert len(set(rules)) == len(rules)
    assert set(schema(DocumentKind.ERROR)["properties"]["rule"]["enum"]) == set(rules)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_caught_as_one(kind: type[FuseloomError]) -> None:
    with pytest.raises(FuseloomError, match="wrong"):
        raise kind("wrong", hint="do this")
    assert kind.__doc__


def test_a_deadlock_is_a_simulation_that_did_not_finish() -> None:
    error = DeadlockError("a waits for b", hint="give a more slots", full=(3, 4))
    assert isinstance(error, SimulationError)
    assert error.full == (3, 4)
    assert str(error) == "a waits for b (hint: give a more slots)"


def test_errors_travel_between_processes_with_their_message() -> None:
    error = pickle.loads(pickle.dumps(ParseError("wrong")))
    assert error.message == "wrong"


def test_a_message_is_one_line_that_steers_no_terminal() -> None:
    error = ParseError("a\x1b[31m\nb", hint="c\r\u202ed", line=1, source="e\x07\udcff.loom")
    assert str(error) == (r"e\x07\udcff.loom: line 1, column 1: a\x1b[31m\nb (hint: c\r\u202ed)")
    assert ParseError("μ → é").message == "μ → é"


def test_a_message_may_be_made_when_it_is_read() -> None:
    asked = []

    def tell() -> str:
        asked.append(1)
        return "none of 7 orders can be built"

    error = LoweringError("no order can be built")
    error.describe(tell)
    assert not asked
    again = pickle.loads(pickle.dumps(error))
    assert str(error) == error.message == again.message == "none of 7 orders can be built"
    assert len(asked) == 1
    error.message = "another"
    assert str(error) == "another"
