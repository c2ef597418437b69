"""The state of closed pages is kept for a while, and not for ever."""

from __future__ import annotations

import pytest

from fuseloom_workbench.service import parking
from fuseloom_workbench.service.parking import KEEP, Parking, new_session_token
from fuseloom_workbench.service.spool import TextSpool


def runs(*texts: str) -> TextSpool:
    return TextSpool(10, texts)


def test_a_page_is_found_by_its_word_alone() -> None:
    lot = Parking(3)
    session_token = new_session_token()
    lot.put(session_token, "saved", runs("run"))
    found = lot.get(session_token)
    assert found is not None
    assert (found.saved, [*found.kept]) == ("saved", ["run"])
    assert lot.get(new_session_token()) is None
    assert len(session_token) >= 32


def test_the_oldest_go_first() -> None:
    lot = Parking(2)
    for session_token in "abc":
        lot.put(session_token, session_token, runs())
    assert [lot.get(session_token) is not None for session_token in "abc"] == [False, True, True]
    lot.put("b", "again", runs())
    lot.put("d", "d", runs())
    assert lot.get("c") is None
    assert lot.get("b") is not None


def test_large_pages_push_others_out() -> None:
    lot = Parking(10, most_bytes=100)
    lot.put("a", "", runs("x" * 80))
    lot.put("b", "", runs("x" * 40))
    assert lot.get("a") is None
    assert lot.get("b") is not None
    lot.put("c", "", runs("x" * 400))
    assert len(lot) == 0


def test_what_is_forgotten_is_closed() -> None:
    lot = Parking(1)
    kept = [runs("run") for _ in range(4)]
    lot.put("a", "saved", kept[0])
    lot.put("a", "saved", kept[1])
    lot.put("b", "saved", kept[2])
    lot.put("none", None, kept[3])
    assert [len(one) for one in kept] == [0, 0, 1, 0]


def test_after_a_while_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(parking.time, "monotonic", lambda: now[0])
    lot = Parking(10)
    lot.put("a", "saved", runs())
    lot.put("none", None, runs())
    assert len(lot) == 1
    now[0] = KEEP + 1
    assert lot.get("a") is None
    assert len(lot) == 0
