"""The parts of a page that come later: what is kept, what is missing, what is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from fuseloom_workbench.base import parts
from fuseloom_workbench.base.parts import LaterPart, LaterResults, Pace
from fuseloom_workbench.views import LATER, PARTS


@dataclass(frozen=True)
class Guess:
    text: str
    whole: bool = True


@pytest.fixture
def guess(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A part ``guess`` that depends on the text ``asked``, instead of a session."""
    asked = {"asked": "a"}

    def shown(_, found):
        return {} if found is None else {"guess": json.dumps(found.text)}

    made = LaterPart(
        lambda s: s["asked"], lambda *_: iter(()), shown, lambda *_: Guess("late"), most=2
    )
    monkeypatch.setitem(parts.LATER, "guess", made)
    return asked


def test_what_is_whole_needs_no_work(guess):
    results = LaterResults()
    assert results.missing(guess, ["guess"]) == {"guess": "a"}
    assert results.parts(guess, ["guess"]) == {"later": '{"guess": true}'}
    results.keep("guess", "a", Guess("so far", whole=False))
    assert results.parts(guess, ["guess"]) == {"later": '{"guess": true}', "guess": '"so far"'}
    results.keep("guess", "a", Guess("all"))
    assert results.missing(guess, ["guess"]) == {}
    assert results.parts(guess, ["guess"]) == {"later": '{"guess": false}', "guess": '"all"'}
    guess["asked"] = ""
    assert results.missing(guess, ["guess"]) == {}, "there is nothing to make"


def test_the_oldest_result_goes_first(guess):
    results = LaterResults()
    for key in ("a", "b", "a", "c"):
        results.keep("guess", key, Guess(key))
    known = {}
    for key in ("a", "b", "c"):
        guess["asked"] = key
        known[key] = results.get("guess", guess)
    assert known == {"a": None, "b": Guess("b"), "c": Guess("c")}


def test_unfinished_results_are_shown_now_and_then(monkeypatch: pytest.MonkeyPatch):
    times = iter([0.0, 0.1, 0.25, 0.35, 0.36])
    monkeypatch.setattr(parts.time, "monotonic", lambda: next(times))
    pace = Pace(0.3)
    wholes = (False, False, False, False, True)
    assert [pace.lets(Guess("x", whole)) for whole in wholes] == [True, False, False, True, True]
    monkeypatch.undo()
    assert all(Pace(0.0).lets(Guess("x", whole=False)) for _ in range(3))


def test_every_view_is_registered():
    assert LATER.keys() == {
        "beside.graph", "graph", "landscape", "orders", "prices", "streams", "why",
    }  # fmt: skip
    assert {"chain", "table", "status", "selection", "run", "costs", "memory"} <= PARTS.keys()
    assert PARTS.keys().isdisjoint(LATER)
    assert LATER["streams"].most <= 3, "a recording may take tens of MB"
