"""A search by another number than cycles, or within budgets, finds what co-design finds."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine.space import MachineSpace
from fuseloom.exploration.codesign import codesign
from fuseloom_workbench.search import searching
from fuseloom_workbench.search.wishes import SearchRequest, SearchSettings
from fuseloom_workbench.state.session import Session


def answers(session: Session, **wishes) -> list[tuple]:
    sent: list[tuple] = []
    searching.answer(SearchRequest(session.design, SearchSettings(**wishes)), sent.append)
    return sent


@pytest.mark.parametrize(
    ("objective", "limits"),
    [
        ("cycles", {"area": 8_500.0}), ("energy", {}), ("time", {"energy": 1.0}), ("edp", {}),
        ("area", {}),
    ],
)  # fmt: skip
def test_designs_are_those_of_codesign(objective, limits):
    session = Session("spmm", "random")
    sent = answers(session, strategy="exhaustive", seconds=600.0, objective=objective, **limits)
    last = [message[1] for message in sent if message[0] == "searched"][-1]
    space = MachineSpace.of(session.machine)
    program, data = session.built.program, session.built.data
    expected = codesign(
        program, data, space, objective=objective, presets=session.presets, time_limit=600, **limits
    )
    best = last["bests"][0]
    assert expected.complete
    assert best["value"] == pytest.approx(expected.value)
    assert (last["unit"], best["cycles"]) == (expected.unit, expected.design.cycles)
    assert last["points"][-1][2:] == [best["value"], pytest.approx(expected.bound)]
    assert last["told"].endswith("that is proved.")
    (area,) = (message[1]["luts"] for message in sent if message[0] == "area")
    if expected.design.area:
        assert area == pytest.approx(expected.design.area), "nothing else was chosen for cycles"
    assert area <= limits.get("area", area)
    assert sent[-1][1]["cycles"] == best["cycles"]


def test_a_budget_may_leave_nothing():
    *_, (kind, told) = answers(Session("spmv", "random"), area=100.0)
    assert kind == "refused"
    assert "no schedule was found that keeps the budget" in told
    assert "LUTs of 100" in told
