"""The messages of a server to its page."""

from __future__ import annotations

from fuseloom_workbench.base.connection import Connection
from fuseloom_workbench.base.page_backend import LocalBackend
from fuseloom_workbench.state.saving import save
from fuseloom_workbench.state.session import Session


def test_it_hands_a_design_back(session):
    line = Connection(LocalBackend(session))
    other = Session("gcn", "karate")
    other.move_boundary(4, 2)
    line.receive({"kind": "restore", "saved": save(other)})
    assert session.cuts == (2,)
    for nonsense in ({"kind": "restore"}, {"kind": "restore", "saved": []}, {"kind": "x"}):
        line.receive(nonsense)
    assert session.cuts == (2,)


def test_it_says_what_the_desk_says(session):
    backend = LocalBackend(session)
    line = Connection(backend)
    backend.notice = "yours waits"
    backend.working = True
    assert (line.notice, line.working) == ("yours waits", True)
