"""Messages to a notebook wait until its view is shown."""

from __future__ import annotations

import panel as pn
from pyviz_comms import Comm as PanelComm

from fuseloom_workbench.base.comms import PATIENCE, SETTLED, HeldMessages, tells
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
    held.shown(one)
    held.send(one, "third")
    assert sent == []  # its output is being put up
    clock.run(SETTLED)
    assert sent == [(one, "first"), (one, "second"), (one, "third")]
    held.send(one, "fourth")
    assert sent[-1] == (one, "fourth")
    held.shown(one)  # every component of a view says so
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
    held.shown(None)  # a page that is served has no comm


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
    held.shown(view)
    early = clock.calls[-1][1]
    held.shown(view)
    early()
    assert sent == []
    clock.calls[-1][1]()
    assert sent == ["first"]
