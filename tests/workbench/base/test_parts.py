"""The parts of a page that come later: what is kept, what is missing, what is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

from fuseloom.frontends.files import CoordinateTensor
from fuseloom_workbench.base import parts
from fuseloom_workbench.base.parts import LaterPart, LaterResults, Pace
from fuseloom_workbench.graph import layout
from fuseloom_workbench.state import files
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.files import Upload
from fuseloom_workbench.state.session import Session
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


BARE = "fuse T1..H; order T1..H: i,k,p,n; fuse T5..Y; order T5..Y: i,k,n,m"


def upload(session: Session) -> None:
    given = np.eye(34)[::-1].nonzero()
    tensor = CoordinateTensor(np.stack(given, axis=1), np.ones(34), (34, 34), "mine")
    held = Upload("A", files.put(tensor), "mine.mtx")
    session.edit(lambda: replace(session.design, uploads=(held,)))


CHANGES = {
    "model": lambda s: s.choose("graphsage", "random"),
    "data": lambda s: s.choose("gcn", "random"),
    "seed": lambda s: s.choose("gcn", "karate", seed=3),
    "cuts": lambda s: s.move_boundary(4, 3),
    "orders": lambda s: s.set_order(0, ("i", "p", "k", "n")),
    "wishes": lambda s: s.set_schedule("fuse T1..H; fuse T5..Y; order T1: i,p,k"),
    "text": lambda s: s.set_program(str(s.built.program).replace("relu(T3", "sigmoid(T3")),
    "settings": lambda s: s.set_schedule("fuse T1..H; fuse T5..Y; parallel T1..H: i by 4"),
    "machine": lambda s: s.set_machine("hbm2"),
    "where_possible": lambda s: s.set_schedule("fuse T1..H where possible; fuse T5..Y"),
    "options": lambda s: s.set_options({"hidden": "8"}),
    "as_written": lambda s: s.set_schedule(BARE, as_written=True),
    "uploads": upload,
    "region": lambda s: s.select_region(1),
}
"""A change of each field of a design, and of the region shown."""


def test_every_field_of_a_design_is_changed():
    from fuseloom_workbench.state.design import Design

    assert {f.name for f in fields(Design)} == CHANGES.keys() - {"region"}


def asked(name: str) -> Session:
    """A session in which somebody looks at a part."""
    session = Session("gcn", "karate")
    if name == "streams":
        session.moment = (0, -1)
    return session


@pytest.mark.deep  # a session for each change of each part
@pytest.mark.parametrize("name", ["graph", "landscape", "orders", "prices", "streams", "why"])
def test_what_is_kept_is_what_would_be_made(name, tmp_path, monkeypatch):
    """Whatever changes: a part is of another key, or the result that is kept gives the same."""
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    part, base = LATER[name], asked(name)
    if name == "landscape":
        carry_out(base, "map_pairs", [True])
    key = part.key(base)
    *_, kept = part.work(base, layout.draw)
    for what, change in CHANGES.items():
        session = asked(name)
        change(session)
        assert session.ok, (what, session.message)
        if name == "landscape":
            carry_out(session, "map_pairs", [True])
        if part.key(session) == key:
            *_, fresh = part.work(session, layout.draw)
            assert part.view(session, kept) == part.view(session, fresh), what
