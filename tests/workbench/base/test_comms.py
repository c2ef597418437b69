"""Messages to a notebook wait until its view is shown."""

from __future__ import annotations

from fuseloom_workbench.base.comms import PATIENCE, SETTLED, HeldMessages


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
    held = HeldMessages(lambda comm, message: sent.append((comm, message)), clock.later)
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


def test_a_view_that_says_nothing_is_written_to_after_a_while():
    clock, sent = Clock(), []
    held = HeldMessages(lambda comm, message: sent.append(message), clock.later)
    silent = Comm()
    held.send(silent, "first")
    held.send(silent, "second")
    clock.run(PATIENCE)
    assert sent == ["first", "second"]
    held.send(silent, "third")
    assert sent[-1] == "third"
    held.shown(None)  # a page that is served has no comm


def test_the_last_component_of_a_view_is_waited_for():
    clock, sent = Clock(), []
    held = HeldMessages(lambda comm, message: sent.append(message), clock.later)
    view = Comm()
    held.send(view, "first")
    held.shown(view)
    early = clock.calls[-1][1]
    held.shown(view)
    early()
    assert sent == []
    clock.calls[-1][1]()
    assert sent == ["first"]
