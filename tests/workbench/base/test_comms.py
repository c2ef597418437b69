"""Messages to a notebook wait until its view is shown; those from it are handled on one thread."""

from __future__ import annotations

import asyncio
import threading

import panel as pn
import pytest
from panel.io import notebook
from pyviz_comms import Comm as PanelComm

from fuseloom_workbench.base import comms as module
from fuseloom_workbench.base.comms import (
    PATIENCE,
    SETTLED,
    HeldMessages,
    handled_on,
    hold_until_shown,
    shown,
    tells,
)
from fuseloom_workbench.explorer import bench
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.table.table_grid import FusionTableGrid


class Comm:
    """Something that messages are sent to."""


class Clock:
    def __init__(self) -> None:
        self.calls = []

    def later(self, seconds, function) -> None:
        self.calls.append((seconds, function))

    def run(self, seconds) -> None:
        for wait, function in self.calls:
            if wait == seconds:
                function()


def test_messages_wait_in_order_for_their_view():
    clock, sent = Clock(), []
    held = HeldMessages(lambda *sending: sent.append(sending), clock.later, lambda comm: True)
    one, other = Comm(), Comm()
    held.send(one, "first")
    held.send(one, "second")
    held.send(other, "elsewhere")
    assert sent == []
    assert not held.shown(one, "grid")
    held.send(one, "third")
    assert sent == []  # its output is being put up
    clock.run(SETTLED)
    assert sent == [(one, "first"), (one, "second"), (one, "third")]
    held.send(one, "fourth")
    assert sent[-1] == (one, "fourth")
    assert held.shown(one, "grid")  # it says so until it hears
    clock.run(SETTLED)
    assert len(sent) == 4


def test_a_view_that_nobody_shows_is_not_kept_for_ever():
    clock, sent = Clock(), []
    held = HeldMessages(lambda comm, message: sent.append(message), clock.later, lambda comm: True)
    silent = Comm()
    held.send(silent, "first")
    held.send(silent, "second")
    clock.run(PATIENCE)
    assert sent == ["first", "second"]
    held.send(silent, "third")
    assert sent[-1] == "third"


def test_a_view_without_our_components_is_written_to_at_once():
    clock, sent = Clock(), []
    ours, other = Comm(), Comm()
    held = HeldMessages(
        lambda comm, message: sent.append(message), clock.later, lambda comm: comm is ours
    )
    held.send(other, "at once")
    held.send(ours, "later")
    assert sent == ["at once"]
    assert len(clock.calls) == 1


def test_views_with_components_are_known():
    """Wherever in the view the component is; one of Panel alone says nothing."""
    session = Session("gcn", "karate")
    views = {
        "bench": bench(session, fullscreen=False),
        "grid": FusionTableGrid(session),
        "beside": pn.Column(pn.Row(FusionTableGrid(session))),
        "panel": pn.Column(pn.widgets.Button()),
    }
    comms = {name: PanelComm() for name in views}
    for name, view in views.items():
        pn.panel(view).get_root(comm=comms[name])
    assert {name: tells(comm) for name, comm in comms.items()} == {
        "bench": True, "grid": True, "beside": True, "panel": False,
    }  # fmt: skip
    assert not tells(PanelComm())


def test_the_last_component_of_a_view_is_waited_for():
    clock, sent = Clock(), []
    held = HeldMessages(lambda comm, message: sent.append(message), clock.later, lambda comm: True)
    view = Comm()
    held.send(view, "first")
    held.shown(view, "one")
    early = clock.calls[-1][1]
    held.shown(view, "other")
    early()
    assert sent == []
    held.shown(view, "one")  # again, which delays nothing
    clock.calls[-1][1]()
    assert sent == ["first"]


def test_only_the_view_that_is_shown_is_written_to(monkeypatch: pytest.MonkeyPatch):
    """One component may be in two cells, and a browser may send anything."""
    clock, sent = Clock(), []
    held = HeldMessages(lambda comm, message: sent.append(comm), clock.later, tells)
    monkeypatch.setattr(module, "held", [held])
    grid = FusionTableGrid(Session("gcn", "karate"))
    comms = [PanelComm(), PanelComm()]
    roots = [grid.get_root(comm=comm).ref["id"] for comm in comms]
    for comm in comms:
        held.send(comm, "drawn")
    for nonsense in (None, "all", [3, None], ["nowhere"]):
        assert not shown(grid, nonsense)
    assert not shown(grid, [roots[1]])
    clock.run(SETTLED)
    assert sent == [comms[1]]
    assert shown(grid, [roots[1], "other"])
    assert not shown(grid, [roots[0]])


def test_a_script_hears_an_answer_once_messages_reach_it(monkeypatch: pytest.MonkeyPatch):
    answers = []

    class AnsweringGrid(FusionTableGrid):
        def _send_msg(self, data):
            answers.append(data)

    grid = AnsweringGrid(Session("gcn", "karate"))
    reached = iter((False, True))
    monkeypatch.setattr(
        "fuseloom_workbench.base.component.shown", lambda component, roots: next(reached)
    )
    grid.receive({"kind": "shown", "roots": ["r"]})
    assert answers == []
    grid.receive({"kind": "shown", "roots": ["r"]})
    assert answers == [{"kind": "heard"}]


def test_messages_are_handled_in_order_on_the_thread_of_the_cells():
    """Parts of what two threads send would arrive mixed."""
    handled = []

    def handle(comm, message) -> None:
        handled.append((comm, message, threading.get_ident()))

    async def kernel() -> None:
        handler = handled_on(asyncio.get_running_loop(), handle)
        thread = threading.Thread(target=lambda: [handler("view", count) for count in range(100)])
        thread.start()
        thread.join()
        assert handled == []  # a cell runs
        handler("view", "at once")

    asyncio.run(kernel())
    here = threading.get_ident()
    assert handled == [("view", count, here) for count in ("at once", *range(100))]


def test_without_a_kernel_nothing_is_held(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "held", [])
    send = notebook.send
    hold_until_shown()
    assert module.held == []
    assert notebook.send is send
