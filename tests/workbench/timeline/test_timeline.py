"""The component: what it asks, and what it hands on."""

from __future__ import annotations

import json

import pytest

from fuseloom_workbench.base.page_backend import backend_of
from fuseloom_workbench.state.look import Window
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline.timeline import Timeline


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, compared: Session) -> list:
    found: list = []
    backend = backend_of(compared)
    monkeypatch.setattr(backend, "ask", lambda *request: found.append(request))
    monkeypatch.setattr(backend, "run", lambda **wishes: found.append(wishes))
    return found


def test_it_shows_the_parts_of_the_backend(compared: Session) -> None:
    shown = Timeline(compared)
    assert shown.view["runs"]["b"]["name"] == "full"
    compared.look_into(Window("window", 7, 10, 90, 8, (1,)))
    made = json.loads(shown.answered)
    assert (made["number"], made["columns"], made["rows"]) == (7, 8, [1])


def test_requests_go_to_the_backend(compared: Session, asked: list) -> None:
    shown = Timeline(compared)
    request = {"number": 7, "from": 10, "to": 90, "width": 8, "rows": [1, -2]}
    for kind in ("window", "area", "trace"):
        shown.receive({"kind": kind, **request})
    shown.receive({"kind": "select", "region": 0, "node": 4})
    shown.receive({"kind": "events"})
    assert asked == [
        *(("look_into", kind, 7, 10, 90, 8, [1, -2]) for kind in ("window", "area", "trace")),
        ("select_region", 0),
        ("select_node", 4),
        {"events": True},
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "window"},
        {"kind": "other", "number": 1, "from": 0, "to": 1, "width": 1, "rows": []},
        {"kind": "select", "region": 0},
    ],
)
def test_what_is_no_request_is_not_asked(compared: Session, asked: list, message: dict) -> None:
    Timeline(compared).receive(message)
    assert asked == []


def test_it_has_a_height_of_its_own_in_a_notebook(compared: Session) -> None:
    assert Timeline(compared).height == 420
    assert Timeline(compared, sizing_mode="stretch_both").height is None
