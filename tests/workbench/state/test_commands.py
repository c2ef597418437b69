"""Requests: what is one, and what becomes of those that fail."""

from __future__ import annotations

import pytest

from fuseloom_workbench.state import commands
from fuseloom_workbench.state.commands import carry_out, known
from fuseloom_workbench.state.look import Window
from fuseloom_workbench.state.session import LONGEST, Session


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nothing", []),
        (None, []),
        (["undo"], []),
        ("undo", [1]),
        ("__init__", []),
        ("finish", [None, None]),
        ("move_boundary", [True, 3]),
        ("move_boundary", [1 << 40, 3]),
        ("move_boundary", ["4", "3"]),
        ("preset", ["x" * 201]),
        ("set_order", [0, ["i"] * 201]),
        ("set_order", [0, [1]]),
        ("restore", ["text"]),
        ("draw_framed", [1]),
        ("fold", [{"k:T1": 1}]),
        ("fold", [["k:T1"]]),
        ("take_kept", [7]),
        ("look_into", ["window", 1, -1, 10, 10, []]),
        ("look_into", ["window", 1, 0, 10.5, 10, []]),
        ("look_into", ["window", 1, 0, 1 << 62, 10, []]),
        ("look_into", ["window", 1, 0, 10, 10, ["0"]]),
        ("look_into", ["window", 1, 0, 10, 10, [0] * 5001]),
        ("take_kept", ["a" * 201]),
        ("apply_suggestion", [3]),
        ("apply_suggestion", ["a" * 201]),
    ],
)
def test_what_is_no_request_is_not_carried_out(session, name, arguments):
    assert not known(name, arguments)
    before = session.design, session.answers
    carry_out(session, name, arguments)
    assert (session.design, session.answers) == before


@pytest.mark.parametrize("path", ["/etc/passwd", "../../data/graph.mtx", "karate\0", "~"])
def test_a_page_opens_no_files(session, path):
    before = session.design
    carry_out(session, "choose_data", [path])
    assert "no data set is called" in session.message
    assert session.design == before


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (MemoryError(), "needs more memory than a session may use"),
        (RecursionError(), "nested too deeply, or too long"),
        (ZeroDivisionError("by 0"), "the engine failed at this (ZeroDivisionError: by 0)"),
        (KeyError("x" * 10_000), "the engine failed at this (KeyError"),
    ],
)
def test_a_failure_is_an_answer(session, monkeypatch, failure, said):
    def fail(*_):
        raise failure

    monkeypatch.setitem(commands.COMMANDS, "undo", commands.SessionCommand((), fail, "order"))
    before = session.design
    carry_out(session, "undo", [])
    assert said in session.message
    assert len(session.message) <= LONGEST
    assert (session.ok, session.topic) == (False, "order")
    assert session.design == before


def test_what_lacks_memory_once_is_tried_again(session, monkeypatch):
    tries = []

    def fail(*_):
        tries.append(1)
        if len(tries) == 1:
            raise MemoryError

    monkeypatch.setitem(commands.COMMANDS, "undo", commands.SessionCommand((), fail))
    carry_out(session, "undo", [])
    assert len(tries) == 2
    assert session.ok


@pytest.mark.parametrize("command", ["set_program", "set_schedule", "set_machine"])
@pytest.mark.parametrize(
    "text",
    [
        "[" * 30_000,
        "x = " + "[" * 30_000,
        "(" * 50_000,
        "\0" * 1000,
        "fuse " * 30_000,
        "a" * 200_000,
    ],
    ids=range(6),
)
def test_hostile_texts_are_refused_briefly(command, text):
    session = Session("spmv")
    before = session.design
    carry_out(session, command, [text])
    assert not session.ok
    assert 0 < len(session.message) <= LONGEST
    assert session.design == before


def test_long_programs_are_refused(session):
    lines = ["x: 8 dense", "T0[i] = x[i] + x[i]"]
    lines += [f"T{k + 1}[i] = T{k}[i] + x[i]" for k in range(300)]
    carry_out(session, "set_program", ["\n".join(lines)])
    assert "a program of 301 statements (hint: at most 250 here" in session.message


def test_a_window_of_the_timeline_is_asked_for_within_limits(session):
    carry_out(session, "look_into", ["window", 3, 5, 1 << 40, 1 << 20, [0, -2, 0]])
    assert session.window == Window("window", 3, 5, 1 << 40, commands.CELLS // 2, (0, -2))
    for refused in (["other", 4, 0, 10, 1, []], ["window", 4, 10, 10, 1, []]):
        carry_out(session, "look_into", refused)
        assert session.window.number == 3
