"""A search by another number than cycles, within budgets or on machines: what co-design finds."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine.space import MachineSpace
from fuseloom.exploration.codesign import codesign
from fuseloom_workbench.search import searching
from fuseloom_workbench.search.parameters import machine_space
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
    area = sent[-1][1]["area"]["luts"]
    if expected.design.area:
        assert area == pytest.approx(expected.design.area), "nothing else was chosen for cycles"
    assert area <= limits.get("area", area)
    assert sent[-1][1]["cycles"] == best["cycles"]


def test_a_budget_may_leave_nothing():
    *_, (kind, told) = answers(Session("spmv", "random"), area=100.0)
    assert kind == "refused"
    assert "no schedule was found that keeps the budget" in told
    assert "LUTs of 100" in told


def last_told(sent: list[tuple]) -> dict:
    return [message[1] for message in sent if message[0] == "searched"][-1]


@pytest.mark.parametrize(
    ("objective", "every", "limits"),
    [("edp", True, {}), ("cycles", False, {}), ("time", False, {"energy": 1.0})],
)
def test_machines_are_those_of_codesign(objective, every, limits):
    session = Session("spmv", "random")
    session.set_machine("hbm2")
    values = {"lanes": (1, 2), "memory.channels": (2, 8)}
    sent = answers(
        session, strategy="exhaustive", seconds=600.0, objective=objective, parameters=values,
        every=every, **limits,
    )  # fmt: skip
    told = last_told(sent)
    expected = codesign(
        session.built.program, session.built.data, machine_space(session.machine, 1, values),
        objective=objective, presets=session.presets, time_limit=600, every=every, **limits,
    )  # fmt: skip
    assert expected.complete
    best = told["bests"][0]
    assert best["value"] == pytest.approx(expected.value)
    assert best["cycles"] == expected.design.cycles
    assert best["schedule"] == expected.design.schedule
    assert best["machine"]["settings"] == expected.design.settings
    assert told["points"][-1][2:] == [best["value"], pytest.approx(expected.bound)]
    assert told["told"].startswith("The best of 4 machines. None of those searched")
    assert told["told"].endswith("that is proved.")
    effects = [(row["value"], row["bound"]) for row in told["machines"]["effects"]]
    known = [(effect.value, effect.bound) for effect in expected.effects]
    if every:
        assert effects == [pytest.approx(pair) for pair in known]
    assert len(effects) == len(known) == 4
    assert told["machines"]["number"] == len(told["machines"]["ranked"]) == 4
    assert not [message for message in sent if message[0] == "found"], "nothing is taken unasked"
    assert sent[-1][1]["cycles"] == best["cycles"], "it is simulated on the machine found"


def test_one_machine_of_a_space_is_searched_as_it_is_alone():
    """For cycles and for energy, on a machine that is not the one shown."""
    session, there = Session("spmv", "random"), Session("spmv", "random")
    session.set_machine("hbm2")
    there.set_machine('base = "hbm2"\n[memory]\nchannels = 2')
    for objective in ("cycles", "energy"):
        wishes = {"strategy": "exhaustive", "seconds": 600.0, "objective": objective}
        one = last_told(answers(session, **wishes, parameters={"memory.channels": (2,)}))
        alone = last_told(answers(there, **wishes))
        assert one["bests"][0]["value"] == alone["bests"][0]["value"]
        assert one["points"][-1][2:] == alone["points"][-1][2:]
        assert one["bests"][0]["machine"]["problem"] == alone["problem"]


def test_no_machine_may_have_a_design():
    session = Session("spmv", "random")
    *_, (kind, told) = answers(session, area=100.0, parameters={"channel_capacity": (16, 64)})
    assert kind == "refused"
    assert "no design was found among 2 machines" in told
    *_, (kind, told) = answers(session, parameters={"alu_latency": (0,) * 60})
    assert kind == "refused"
    assert told.startswith("alu_latency: ")


def test_machines_that_copy_the_reference_have_no_bounds():
    session = Session("spmv", "random")
    session.set_machine("comal")
    told = last_told(answers(session, parameters={"channel_capacity": (64, 128)}))
    assert told["told"].endswith("is not proved here.")
    assert not any(row["bound"] for row in told["machines"]["effects"])
