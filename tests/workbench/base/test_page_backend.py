"""page backends: parts of one version, and requests that change them."""

from __future__ import annotations

import asyncio
import json

import panel as pn
import pytest

from fuseloom_workbench.base.page_backend import LocalBackend, backend_of
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.views import LATER, PARTS


@pytest.mark.deep  # takes seconds
def test_all_parts_are_of_one_design(session):
    backend = LocalBackend(session)
    backend.want(*PARTS, *LATER)
    seen = []

    def look(_):
        chain, table, text = (backend.part(name) for name in ("chain", "table", "schedule"))
        seen.append((tuple(r["name"] for r in chain["regions"]), table["name"], text["text"]))

    backend.param.watch(look, "version")
    for gap, to in ((4, 3), (3, 6), (6, 1)):
        backend.ask("move_boundary", gap, to)
    for names, table, text in seen:
        assert table in names
        assert all(name in text for name in names if ".." in name)


def test_components_on_a_session_share_its_backend(session):
    assert backend_of(session) is backend_of(session)
    assert backend_of(backend_of(session)) is backend_of(session)
    assert backend_of(None) is not backend_of(None)


def test_a_refusal_replaces_nothing_but_the_status(session):
    backend = LocalBackend(session)
    backend.want("chain", "status")
    before = dict(backend.parts)
    backend.ask("move_boundary", 4, 99)
    assert {k for k in before if backend.parts[k] != before[k]} == {"status"}
    assert "no gap 99" in backend.part("status")["message"]


def test_parts_are_read_once(session):
    backend = LocalBackend(session)
    backend.want("chain")
    assert backend.part("chain") is backend.part("chain")
    assert backend.part("chain") == json.loads(backend.parts["chain"])
    assert backend.part("unknown") is None


def test_a_drawing_that_is_not_wanted_any_more_is_not_begun(monkeypatch):
    begun = []
    monkeypatch.setattr(pn.state, "execute", lambda what, schedule=False: begun.append(what))
    session = Session("gcn", "karate")
    session.select_region(0)
    backend = LocalBackend(session)
    backend.want("graph")
    asyncio.run(begun.pop()())  # lays it out ...
    begun.pop()()  # ... and shows it
    drawn = backend.part("graph")

    session.select_region(1)
    second = begun.pop()
    session.select_region(0)  # whose picture is known
    asyncio.run(second())
    assert not begun
    assert backend.part("graph") == drawn


def test_what_comes_later_makes_no_other_part_anew(session, monkeypatch):
    made, begun = [], []
    chain = PARTS["chain"]
    monkeypatch.setitem(PARTS, "chain", lambda session: made.append(1) or chain(session))
    monkeypatch.setattr(pn.state, "execute", lambda what, schedule=False: begun.append(what))
    backend = LocalBackend(session)
    backend.want("chain", "orders")
    assert backend.part("later") == {"orders": True}
    version, before = backend.version, len(made)
    asyncio.run(begun.pop()())  # ranks them ...
    while begun:
        begun.pop(0)()  # ... and shows what there is
    assert backend.part("later") == {"orders": False}
    assert backend.part("orders")["ready"]
    assert backend.version > version
    assert len(made) == before
